// Black holes of a team: lists, creates and ends them. Stores the desired state; the reconciler changes the routers.
import {
  blackholeHours,
  blackholesPerRegion,
  blackholesPerTeam,
  type Blackhole,
  type BlackholeOnHost,
  type listBlackholesRoute,
  type NewBlackhole,
  type BlackholeStatus,
} from '@pharos/contract/shield/blackhole'
import type { QueryOf } from '@pharos/contract/route'
import type { ShieldWhatIf } from '@pharos/contract/shield/shield'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { runChange, runPreparedChange, type ChangeAnswer, type ChangeResult } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { networkOf, type Prefix, parsePrefix } from '../../net/prefix.ts'
import { requireMatch, etagOf } from '../../operation/etag.ts'
import type { Operation } from '../../operation/operation.ts'
import { errorAt, fail, failWith, invalid, notFound, parsePrefixAt } from '../../runtime/error.ts'
import { isHost } from '../regions/blackhole-route.ts'
import {
  countInRegions,
  countOtherHosts,
  endTeamBlackholes,
  findAttack,
  findBlackhole,
  insertBlackhole,
  isTargetOf,
  listBlackholeRows,
  listCovering,
  lockBlackhole,
  lockOfHost,
  lockRequests,
  type Covering,
  type BlackholeRow,
  type BlackholeRegionRow,
} from './blackhole.store.ts'
import { regionReasonText } from '@pharos/contract/reason/region-reason'

type ReadDeps = { readonly postgres: Postgres; readonly now: () => Date }

export type BlackholeDeps = ReadDeps & {
  /** Returns the traffic towards the host; `state` is `unavailable` if flows cannot be read. */
  readonly estimate: (request: {
    readonly teamId: number
    readonly prefix: Prefix
    readonly rules: readonly never[]
    readonly startMs: number
    readonly endMs: number
  }) => Promise<ShieldWhatIf>
  /** Returns the names of the host in reverse DNS, as the team sees them. */
  readonly readPtrNames: (teamId: number, host: Prefix) => Promise<readonly string[]>
}

const hourMs = 3_600_000

/** Returns a page of the team's black holes and the exact count. */
export async function listBlackholes(
  { postgres, now }: ReadDeps,
  { actor: { teamId } }: Operation,
  query: QueryOf<typeof listBlackholesRoute>,
): Promise<{ results: Blackhole[]; count: number }> {
  const within = query.host?.map((text) => parsePrefixAt(['query', 'host'], text))
  const { page, count } = await listBlackholeRows(postgres, teamId, query, within)
  return { results: page.map((row) => presentBlackhole(row, now())), count }
}

/** Throws `not_found`. */
export async function getBlackhole(
  { postgres, now }: ReadDeps,
  { actor: { teamId } }: Operation,
  id: number,
): Promise<ChangeAnswer<Blackhole>> {
  const row = await findBlackhole(postgres, teamId, id)
  if (!row) throw notFound('black hole')
  const body = presentBlackhole(row, now())
  return { body, etag: blackholeEtag(row, body) }
}

type OnHost = Pick<BlackholeOnHost, 'ptr' | 'traffic'>

/**
 * Throws `invalid`, `not_attacked` and `quota_exceeded`. Only a dry run reads the traffic of the host: an attack may
 * have slowed it down.
 */
export async function createBlackhole(
  deps: BlackholeDeps,
  operation: Operation,
  body: NewBlackhole,
): Promise<ChangeAnswer<Blackhole>> {
  const host = parsePrefixAt(['body', 'host'], body.host)
  if (!isHost(host)) throw invalid(['body', 'host'], 'blackholeHost')
  return runPreparedChange(
    deps.postgres,
    operation,
    async () => (operation.dryRun ? readOnHost(deps, operation.actor.teamId, host) : undefined),
    (trx, onHost) => create(deps, trx, operation, { ...body, host }, onHost),
  )
}

async function readOnHost(
  { estimate, readPtrNames, now }: BlackholeDeps,
  teamId: number,
  host: Prefix,
): Promise<OnHost> {
  const endMs = now().getTime()
  const [ptr, { state, start, end, normal, attack, sampled }] = await Promise.all([
    readPtrNames(teamId, host),
    estimate({ teamId, prefix: host, rules: [], startMs: endMs - hourMs, endMs }),
  ])
  return { ptr: [...ptr], traffic: { state, start, end, normal, attack, sampled } }
}

type Wanted = Omit<NewBlackhole, 'host'> & { readonly host: Prefix }

async function create(
  { now }: BlackholeDeps,
  trx: Trx,
  operation: Operation,
  wanted: Wanted,
  onHost: OnHost | undefined,
): Promise<ChangeResult<Blackhole>> {
  const { teamId } = operation.actor
  const { host, comment = '', force: forced = false } = wanted
  const created = now()
  const expires = endOf(wanted.expires, created)
  await lockRequests(trx)
  const covering = await listCovering(trx, teamId, host)
  if (covering.length === 0) throw invalid(['body', 'host'], 'blackholeNotAnnounced')
  const regions = regionsOf(covering, wanted.regions)
  const attack = await findAttack(trx, teamId, host)
  const eventId = wanted.event_id ?? attack ?? null
  if (wanted.event_id !== undefined && !(await isTargetOf(trx, teamId, wanted.event_id, host)))
    throw invalid(['body', 'event_id'], 'blackholeEvent')
  if (attack === undefined && !forced) throw fail('not_attacked', 'host', { host: networkOf(host) })
  await requireQuotas(trx, teamId, host, regions)
  const regionIds = regions.map(({ id }) => id)
  const replaced = await lockOfHost(trx, teamId, host)
  const id = await insertBlackhole(trx, teamId, {
    host,
    eventId,
    comment,
    forced,
    created,
    expires,
    regionIds,
  })
  await endTeamBlackholes(trx, teamId, replaced, regionIds)
  const slugs = regions.map(({ slug }) => slug)
  const after = { host: networkOf(host), expires, regions: slugs, event_id: eventId, forced, replaced }
  await writeAudit(trx, { ...auditOf(operation), ...entryOf('create', id), after })
  await wake(trx, 'announcements')
  const row = (await lockBlackhole(trx, teamId, id))!
  const shown = presentBlackhole(row, created)
  const seen = onHost && {
    ...onHost,
    attacked: attack !== undefined,
    announcements: covering.map(shownCovering),
  }
  return { body: { ...shown, ...(seen ? { on_host: seen } : {}) }, etag: blackholeEtag(row, shown) }
}

const entryOf = (verb: string, id: number) => ({ action: `blackhole.${verb}`, target: `blackhole:${id}` })

const shownCovering = ({ regions, ...announcement }: Covering) => ({
  ...announcement,
  regions: regions.map(({ slug }) => slug),
})

function endOf(text: string | undefined, now: Date): Date {
  const end =
    text === undefined ? new Date(now.getTime() + blackholeHours.byDefault * hourMs) : new Date(text)
  const hours = (end.getTime() - now.getTime()) / hourMs
  if (hours <= 0 || hours > blackholeHours.max)
    throw invalid(['body', 'expires'], 'blackholeEnd', { hours: blackholeHours.max })
  return end
}

/** Returns the wanted regions, by default all in which the host's prefix is announced. Throws `invalid` with every other one. */
function regionsOf(covering: readonly Covering[], slugs: readonly string[] | undefined): Covering['regions'] {
  const announced = new Map(covering.flatMap(({ regions }) => regions).map((region) => [region.slug, region]))
  if (slugs === undefined) return [...announced.values()]
  const valid = [...announced.keys()].sort()
  const errors = slugs.flatMap((slug, at) =>
    announced.has(slug) ? [] : [errorAt(['body', 'regions', at], 'blackholeRegion', { valid })],
  )
  if (errors.length > 0) throw failWith('invalid', errors)
  return slugs.map((slug) => announced.get(slug)!)
}

async function requireQuotas(
  trx: Trx,
  teamId: number,
  host: Prefix,
  regions: Covering['regions'],
): Promise<void> {
  if ((await countOtherHosts(trx, teamId, host)) >= blackholesPerTeam)
    throw fail('quota_exceeded', 'blackholesOfTeam', { limit: blackholesPerTeam })
  const counts = await countInRegions(
    trx,
    teamId,
    host,
    regions.map(({ id }) => id),
  )
  const full = regions.find(({ id }) =>
    counts.some((one) => one.id === id && one.count >= blackholesPerRegion),
  )
  if (full)
    throw fail('quota_exceeded', 'blackholesOfRegion', { limit: blackholesPerRegion, region: full.slug })
}

/** Ends it now. An ended one is unchanged. Throws `not_found` and `precondition_failed`. */
export function deleteBlackhole(
  { postgres, now }: ReadDeps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<null>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    const row = await lockBlackhole(trx, teamId, id)
    if (!row) throw notFound('black hole')
    requireMatch(operation.ifMatch, blackholeEtag(row))
    const at = now()
    if (hasEnded(row, at)) return { body: null }
    await endTeamBlackholes(trx, teamId, [id])
    const before = presentBlackhole(row, at)
    const after = presentBlackhole((await lockBlackhole(trx, teamId, id))!, at)
    await writeAudit(trx, {
      ...auditOf(operation),
      ...entryOf('end', id),
      before: { host: before.host, expires: row.expires },
      after: { ended: after.ended },
    })
    await wake(trx, 'announcements')
    return { body: null, beside: { before, after } }
  })
}

/** `now` decides with `expires`, as the routes do: an end does not wait for the loop that stores it. */
function presentBlackhole({ host, regions, ...row }: BlackholeRow, now: Date): Blackhole {
  return {
    ...row,
    host: networkOf(parsePrefix(host)),
    status: statusOf(hasEnded(row, now), regions),
    regions: regions.map(presentRegion),
    created: row.created.toISOString(),
    expires: row.expires.toISOString(),
    ended: (hasEnded(row, now) ? (row.ended ?? row.expires) : row.ended)?.toISOString() ?? null,
  }
}

const hasEnded = ({ ended, expires }: Pick<BlackholeRow, 'ended' | 'expires'>, now: Date): boolean =>
  ended !== null || expires <= now

function statusOf(isOver: boolean, regions: readonly BlackholeRegionRow[]): BlackholeStatus {
  if (isOver) return regions.every(({ state }) => state === 'withdrawn') ? 'ended' : 'ending'
  const announced = regions.filter(({ state }) => state === 'announced').length
  const desired = regions.filter((region) => region.desired)
  if (announced === 0) return 'pending'
  return desired.every(({ state }) => state === 'announced') ? 'active' : 'partial'
}

const presentRegion = ({ attrs, since, reason, ...region }: BlackholeRegionRow) => ({
  ...region,
  since: new Date(since).toISOString(),
  reason,
  message: reason && regionReasonText(reason, attrs),
})

/** The observed states change often, and are no version. */
const blackholeEtag = ({ expires, ended }: BlackholeRow, shown?: Blackhole): string =>
  etagOf({ expires, ended }, shown?.regions)
