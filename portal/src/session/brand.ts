// Whose portal this is, from the head of the document: the provider's name, logo and contact. Without them it is Pharos.

const contentOf = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"], meta[property="${name}"]`)?.content ||
  undefined

export const brand = {
  provider: contentOf('pharos:provider') ?? 'Pharos',
  /** An address on this server. */
  logo: contentOf('pharos:logo'),
  /** An e-mail address or a web page. */
  support: contentOf('pharos:support'),
} as const

/** Returns the address of a link to the support. */
export const supportLink = (support: string): string =>
  support.includes('://') ? support : `mailto:${support}`
