// The traffic towards a prefix of the team, the part that its shield rules dropped, and the part that passed.
import type { QueryOf } from '@pharos/contract/route'
import type { getShieldTrafficRoute, ShieldTraffic } from '@pharos/contract/shield/shield-traffic'
import { readTrafficParts, trafficBuckets, type EventTrafficDeps } from '../events/list/event-traffic.ts'
import type { Operation } from '../operation/operation.ts'
import { invalid, parsePrefixAt } from '../runtime/error.ts'
import { windowOf } from '../timeseries/buckets.ts'
import { mayFilter } from './shield-list.store.ts'

const dayMs = 86_400_000

/** Throws `invalid` for a prefix that the team does not hold and for unusable buckets, and `query_too_expensive`. */
export async function getShieldTraffic(
  deps: EventTrafficDeps,
  { actor: { teamId } }: Pick<Operation, 'actor'>,
  { prefix: text, metric, start, end, ...query }: QueryOf<typeof getShieldTrafficRoute>,
): Promise<ShieldTraffic> {
  const prefix = parsePrefixAt(['query', 'prefix'], text)
  if (!(await deps.postgres.inTeam(teamId, (trx) => mayFilter(trx, teamId, prefix))))
    throw invalid(['query', 'prefix'], 'shieldPrefixHeld')
  const now = deps.now()
  const wanted = windowOf(start, end)
  const until = wanted.end ?? new Date(Math.max(now.getTime(), wanted.start?.getTime() ?? 0))
  const from = wanted.start ?? new Date(until.getTime() - dayMs)
  const buckets = trafficBuckets({ ...query, start: from, end: until }, now)
  const sampled = () => buckets.borders.slice(0, -1).map(() => null)
  const { hasFlows: _, ...traffic } = await readTrafficParts(deps, {
    teamId,
    networks: [prefix],
    metric,
    buckets,
    now,
    sampled,
  })
  return traffic
}
