// Routes of all collectors as one JSON document, in the format of the BGP State endpoint of RIPEstat
// (https://stat.ripe.net/docs/02.data-api/bgp-state.html): `data.bgp_state` is a list of routes with `target_prefix`, `path` and
// `source_id`, the number of the route collector and the address of its neighbor, such as `00-192.0.2.1`.
import type { CollectorRoute } from '../../byoip/visibility/visibility-source.ts'
import { covers, type Prefix } from '../../net/prefix.ts'
import { addressField, fieldsOf, listField, pathOf, prefixField } from './fields.ts'

export type BgpState = {
  readonly at: Date
  /** The queried prefixes: a prefix in or below them without an entry in `routes` has no route. */
  readonly queried: readonly Prefix[]
  readonly routes: ReadonlyMap<Prefix, readonly CollectorRoute[]>
}

/** Whether the document is in this format, valid or not. */
export const isBgpState = (document: unknown): boolean =>
  fieldsOf(fieldsOf(document)?.['data'])?.['bgp_state'] !== undefined

/** Parses the document, without invalid routes. Throws a TypeError with the problem. */
export function parseBgpState(document: unknown): BgpState {
  const data = fieldsOf(fieldsOf(document)?.['data'])
  if (!data || !Array.isArray(data['bgp_state'])) throw new TypeError('data.bgp_state is not a list')
  const at = utcTime(data['query_time'])
  if (!at) throw new TypeError('data.query_time is not a time')
  const routes = new Map<Prefix, CollectorRoute[]>()
  for (const one of data['bgp_state']) {
    const found = routeOf(one)
    if (!found) continue
    const [prefix, route] = found
    const list = routes.get(prefix)
    if (list) list.push(route)
    else routes.set(prefix, [route])
  }
  return { at, queried: queriedPrefixes(data['resource']), routes }
}

/** Returns the routes of a prefix; undefined if the document does not cover it. */
export function routesIn(
  { queried, routes }: BgpState,
  prefix: Prefix,
): readonly CollectorRoute[] | undefined {
  return routes.get(prefix) ?? (queried.some((one) => covers(one, prefix)) ? [] : undefined)
}

function routeOf(value: unknown): [Prefix, CollectorRoute] | undefined {
  const fields = fieldsOf(value)
  const prefix = prefixField(fields?.['target_prefix'])
  const path = pathOf(fields?.['path'])
  const source = fields?.['source_id']
  const collector =
    typeof source === 'string' ? addressField(source.slice(source.indexOf('-') + 1)) : undefined
  return prefix && path && collector !== undefined ? [prefix, { collector, path }] : undefined
}

/** `resource` is one prefix or several, separated by commas, or a list. */
function queriedPrefixes(resource: unknown): Prefix[] {
  const texts = typeof resource === 'string' ? resource.split(',') : listField(resource)
  return texts.flatMap((text) => prefixField(typeof text === 'string' ? text.trim() : text) ?? [])
}

/** RIPEstat omits the zone of UTC. */
function utcTime(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined
  const time = new Date(/[zZ]$|[+-]\d\d:?\d\d$/.test(value) ? value : `${value}Z`)
  return Number.isNaN(time.getTime()) ? undefined : time
}
