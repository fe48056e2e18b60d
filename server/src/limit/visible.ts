// Whether the resources of a limited credential include the object of a path. One place for all operations: it runs
// before the use case, which lists and writes within the limits itself.
import type { Route } from '@pharos/contract/route'
import { sql, type RawBuilder } from 'kysely'
import type { Postgres } from '../db/postgres.ts'
import { findZoneName } from '../net/dns/unicode-name.ts'
import { isWholeZone, outsideLimit, type Limits, type ZoneLimit } from '../operation/limits.ts'
import type { AnyActor } from '../operation/operation.ts'
import { notFound } from '../runtime/error.ts'
import { findId } from '../text/id.ts'

type Params = Readonly<Record<string, string>>
type Check = (limits: Limits, teamId: number, value: string, route: Route) => Promise<void> | undefined

/** Throws `not_found` for an object outside of the limits of the actor. Returns a promise only if it has to ask the database. */
export type RequireVisible = (actor: AnyActor, route: Route, params: Params) => Promise<void> | undefined

/** Path parameters that name a resource; the others refine one, such as the name of a record set. */
const refining = new Set(['server', 'name', 'type', 'version', 'kind', 'key'])

export function createRequireVisible(postgres: Pick<Postgres, 'readInTeam'>): RequireVisible {
  const checks = createChecks(postgres)
  return (actor, route, params) => {
    if (actor.kind !== 'token' || actor.limits === null) return undefined
    const { limits, teamId } = actor
    const waits = Object.entries(params).map(([name, value]) => checks[name]?.(limits, teamId, value, route))
    const asked = waits.filter((one) => one !== undefined)
    return asked.length === 0 ? undefined : Promise.all(asked).then(() => undefined)
  }
}

/**
 * Returns the path parameters of a route without a check; routes with such parameters must not be open to limited
 * tokens.
 */
export const uncheckedParameters = (route: Route): string[] =>
  Object.keys(route.params.properties).filter(
    (name) => !refining.has(name) && !(name in createChecks(nowhere)),
  )

const nowhere = { readInTeam: () => Promise.reject(new Error('not connected')) }

function createChecks(postgres: Pick<Postgres, 'readInTeam'>): Readonly<Record<string, Check>> {
  const among =
    (noun: string, idsOf: (limits: Limits) => ReadonlySet<number>): Check =>
    (limits, _teamId, value) => {
      if (!idsOf(limits).has(parseId(noun, value))) throw notFound(noun)
      return undefined
    }
  const within =
    (
      noun: string,
      isWithin: (teamId: number, id: number, prefixes: readonly string[]) => RawBuilder<Within>,
    ): Check =>
    async (limits, teamId, value) => {
      const [row] = await postgres.readInTeam(teamId, isWithin(teamId, parseId(noun, value), limits.prefixes))
      if (row?.within !== true) throw notFound(noun)
    }
  return {
    zone: requireZone,
    port_id: among('port', ({ ports }) => ports),
    service_id: among('service', ({ services }) => services),
    announcement_id: within(
      'announcement',
      (teamId, id, prefixes) => sql<Within>`
        select a.prefix <<= any(${prefixes}::cidr[]) as within from announcements a
        where a.team_id = ${teamId} and a.id = ${id}::bigint`,
    ),
    prefix_id: within(
      'prefix',
      (teamId, id, prefixes) => sql<Within>`
        select p.prefix <<= any(${prefixes}::cidr[]) as within from prefixes p
        where p.team_id = ${teamId} and p.id = ${id}::bigint`,
    ),
    letter_id: within(
      'letter',
      (teamId, id, prefixes) => sql<Within>`
        select ${isLetterWithin(prefixes)} as within from letters l where l.team_id = ${teamId} and l.id = ${id}::bigint`,
    ),
    template_id: within(
      'template',
      (teamId, id, prefixes) => sql<Within>`
        select t.prefix <<= any(${prefixes}::cidr[]) as within from dns_ptr_templates t
        where t.team_id = ${teamId} and t.id = ${id}::bigint`,
    ),
  }
}

type Within = { readonly within: boolean | null }

/** Whether all announcements of letter `l` are within the prefixes; null without any. */
export const isLetterWithin = (prefixes: readonly string[]): RawBuilder<boolean | null> => sql`(
  select bool_and(a.prefix <<= any(${prefixes}::cidr[])) from letter_announcements la
  join announcements a on a.id = la.announcement_id where la.letter_id = l.id)`

function parseId(noun: string, text: string): number {
  const id = findId(text)
  if (id === undefined) throw notFound(noun)
  return id
}

/** Limited to names or types, a zone may only be read and its record sets changed. */
function requireZone(limits: Limits, _teamId: number, value: string, { permission, path }: Route): undefined {
  const zone = findZoneLimit(limits, path.startsWith('/api/v1/') ? decodeZoneId(value) : value)
  if (!zone) throw notFound('zone')
  requireWholeZone(zone, 'limitedBy' in permission && permission.limitedBy === 'whole_zone')
}

function requireWholeZone(zone: ZoneLimit, isNeeded: boolean): void {
  if (isNeeded && !isWholeZone(zone)) throw outsideLimit(['path', 'zone'], [zone.text])
}

/** Finds the zone of a path, an id or a name. */
function findZoneLimit({ zones }: Limits, text: string): ZoneLimit | undefined {
  const id = findId(text)
  if (id !== undefined) return zones.get(id)
  const name = findZoneName(text)
  return [...zones.values()].find((zone) => zone.name === name)
}

/** Ids of zones in the PowerDNS-compatible API: octets that are no letter, digit, dot or hyphen are `=XX`. */
function decodeZoneId(id: string): string {
  const name = id.replaceAll(/=([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  return name.endsWith('.') ? name : `${name}.`
}
