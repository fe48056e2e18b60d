// The headers that report deprecations to a client: of an operation, or a field of its request. A deprecated field of
// an answer is only in the document, since the server does not know its readers.
import { deprecationsIn, deprecationsUsed, timeOf, type Deprecation } from '@pharos/contract/deprecation'
import { operationPath } from '@pharos/contract/group'
import type { Route } from '@pharos/contract/route'

/** Returns a function that finds the deprecations used by a request to the route. Most routes have no deprecation. */
export function createDeprecations(route: Route): (search: string, body: unknown) => readonly Deprecation[] {
  const { query, body, upload } = route
  const ofRoute = route.deprecated ? [route.deprecated] : []
  const schema = upload ? upload.fields : body
  if (deprecationsIn(query).length + deprecationsIn(schema).length === 0) return () => ofRoute
  return (search, sent) => [
    ...ofRoute,
    // Unparsed: parameters with a default are in every parsed query.
    ...deprecationsUsed(query, Object.fromEntries(new URLSearchParams(search))),
    ...deprecationsUsed(schema, sent),
  ]
}

/**
 * Returns the headers; an empty object for an empty list. If there are several deprecations, each header has the
 * earliest time. `Link` refers to a documentation page with all of them.
 */
export function deprecationHeaders(
  route: Route,
  deprecations: readonly Deprecation[],
): Readonly<Record<string, string>> {
  if (deprecations.length === 0) return {}
  const earliest = (key: 'since' | 'sunset') => Math.min(...deprecations.map((one) => timeOf(one[key])))
  return {
    // RFC 9745, a date of RFC 9651
    deprecation: `@${earliest('since') / 1000}`,
    // RFC 8594
    sunset: new Date(earliest('sunset')).toUTCString(),
    link: `<${operationPath(route)}>; rel="deprecation"; type="text/html"`,
  }
}
