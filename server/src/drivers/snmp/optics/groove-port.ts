// The ports of Infinera Groove, which has no IF-MIB: portTable of CORIANT-GROOVE-MIB.

/** Index of shelf, slot, subslot (0 if missing) and port. */
export const groovePort = '1.3.6.1.4.1.42229.1.2.3.6.1.1'

/** Returns the name that the device gives a port by default, such as `port-1/3/1`: its alias is often empty. */
export function groovePortName(index: string): string {
  const [shelf = '', slot = '', inner = '0', port = ''] = index.split('.')
  return `port-${shelf}/${slot}${inner === '0' ? '' : `.${inner}`}/${port}`
}
