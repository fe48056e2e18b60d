// The routing registries and where their objects are edited. Each `docs` is the page of the registry that the address is from.

export type Registry = {
  /** Value of the attribute `source` of its objects. */
  readonly source: string
  /** Where route objects are edited. */
  readonly routes: { readonly name: string; readonly url: string }
  /** Where ROAs are edited; undefined for a registry that assigns no addresses. */
  readonly roas?: { readonly name: string; readonly url: string }
  readonly docs: string
}

export const registries: readonly Registry[] = [
  {
    source: 'RIPE',
    routes: { name: 'RIPE webupdates', url: 'https://apps.db.ripe.net/db-web-ui/webupdates/select' },
    roas: { name: 'RIPE RPKI dashboard', url: 'https://dashboard.rpki.ripe.net/' },
    docs: 'https://docs.db.ripe.net/Updating-Objects-in-the-RIPE-Database/Update-Methods/',
  },
  {
    source: 'ARIN',
    routes: { name: 'ARIN Online', url: 'https://account.arin.net/public/' },
    roas: { name: 'ARIN Online', url: 'https://account.arin.net/public/' },
    docs: 'https://www.arin.net/resources/manage/irr/',
  },
  {
    source: 'APNIC',
    routes: { name: 'MyAPNIC', url: 'https://myapnic.net/' },
    roas: { name: 'MyAPNIC', url: 'https://myapnic.net/' },
    docs: 'https://www.apnic.net/manage-ip/manage-resources/',
  },
  {
    source: 'LACNIC',
    routes: { name: 'MiLACNIC', url: 'https://milacnic.lacnic.net/' },
    roas: { name: 'MiLACNIC', url: 'https://milacnic.lacnic.net/' },
    docs: 'https://www.lacnic.net/',
  },
  {
    source: 'AFRINIC',
    routes: { name: 'MyAFRINIC', url: 'https://my.afrinic.net/' },
    roas: { name: 'MyAFRINIC', url: 'https://my.afrinic.net/' },
    docs: 'https://afrinic.net/internet-routing-registry',
  },
  {
    source: 'RADB',
    routes: { name: 'RADb', url: 'https://www.radb.net/' },
    docs: 'https://www.radb.net/support/',
  },
]

/** Returns the registry of that name in any case, such as `ripe` or `RIPE NCC`; undefined for an unknown registry. */
export const registryOf = (name: string | null | undefined): Registry | undefined =>
  registries.find(({ source }) => name?.toUpperCase().startsWith(source))

/** Fills the placeholders of a route object as far as their values are known; the others stay. */
export const fillObject = (
  text: string,
  known: { readonly source: string | undefined; readonly organization: string },
) =>
  text
    .replace('<your registry>', known.source ?? '<your registry>')
    .replace('<your organisation>', known.organization || '<your organization>')
