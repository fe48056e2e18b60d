// How NetBox's objects are selected and mapped, from the settings. Throws an Error with the problem of a setting.

export type NetboxMapping = {
  /** Parameters of the list of devices. */
  readonly deviceFilter: readonly (readonly [string, string])[]
  /** Slug of the tag of interfaces that are ports without a circuit. */
  readonly portTag: string
  /** Custom field of sites. */
  readonly countryField: string
  /** Custom field of interfaces whose circuit is not cabled directly to them. */
  readonly circuitField: string
  /** Custom field of interfaces with the circuit id of the port. */
  readonly portIdField: string
  /** Service types by the slug of a circuit type. */
  readonly serviceTypes: ReadonlyMap<string, string>
}

/** The key of a location in the platform file. */
export const isShortSlug = (slug: string): boolean => /^[a-z0-9][a-z0-9-]{0,31}$/.test(slug)

/** Parses `status=active&role=edge`. Parameters of pages are not accepted. */
export function parseDeviceFilter(text: string): NetboxMapping['deviceFilter'] {
  const pairs = [...new URLSearchParams(text)]
  const wrong = pairs.find(([name]) =>
    ['limit', 'offset', 'start', 'ordering', 'fields', 'brief', ''].includes(name),
  )
  if (wrong) throw new Error(`${wrong[0] || 'an empty name'} is not a filter of devices`)
  return pairs
}

/** Parses `ip-transit=transit`. A circuit type whose slug is a service type needs no entry. */
export function parseServiceTypes(
  entries: readonly string[],
  types: readonly string[],
): NetboxMapping['serviceTypes'] {
  const given = entries.map((entry) => {
    const [slug = '', type = '', ...rest] = entry.split('=')
    if (slug === '' || rest.length > 0 || !types.includes(type))
      throw new Error(`${entry} is not <slug of a circuit type>=<one of ${types.join(', ')}>`)
    return [slug, type] as const
  })
  return new Map([...types.map((type) => [type.replaceAll('_', '-'), type] as const), ...given])
}

/** Parses the URL of NetBox's web interface. */
export function parseNetboxUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error('must be an http or https URL')
  if (url.username || url.password || url.search || url.hash)
    throw new Error('must have no user, query and fragment: the token is a setting of its own')
  if (/\/api\/?$/.test(url.pathname)) throw new Error('must end before /api')
  return url
}
