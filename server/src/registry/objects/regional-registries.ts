// The five regional registries, by the `source:` of their objects. Only there is an aut-num object that of the holder of the ASN; in any
// other registry anyone may register one.

/** The names of the registries in the API. */
export const regionalRegistries: Readonly<Record<string, string>> = {
  AFRINIC: 'afrinic',
  APNIC: 'apnic',
  ARIN: 'arin',
  LACNIC: 'lacnic',
  RIPE: 'ripe',
}

export const isRegional = (source: string): boolean => Object.hasOwn(regionalRegistries, source)

/** Returns the registries with the regional ones first, otherwise in their order. */
export const regionalFirst = (sources: readonly string[]): string[] =>
  sources.toSorted((a, b) => Number(isRegional(b)) - Number(isRegional(a)))
