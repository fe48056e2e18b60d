// The provider of this portal, from the head of the document: the provider's name, logo and contact. Without them it is Pharos.
const contentOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="pharos:${name}"]`)?.content ?? ''

/** `logo`: an address on this server. `support`: an https: or mailto: address. Empty if not configured. */
export const brand = {
  name: contentOf('provider') || 'Pharos',
  logo: contentOf('logo'),
  support: contentOf('support'),
} as const
