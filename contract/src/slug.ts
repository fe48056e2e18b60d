// Short names for the API and the platform file.

/** `Bäckerei Müller & Söhne` as `backerei-muller-sohne`; empty for a name without Latin letters and digits. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63)
