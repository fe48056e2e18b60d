// States of an interface (RFC 2863: ifAdminStatus and ifOperStatus), in the words of the API.
export const interfaceStates = [
  'up',
  'down',
  'testing',
  'unknown',
  'dormant',
  'not_present',
  'lower_layer_down',
] as const
export type InterfaceState = (typeof interfaceStates)[number]
