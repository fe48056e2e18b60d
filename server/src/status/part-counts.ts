// Counts all parts of the installation by state. Unknown is never counted as working. What it counts of regions, routers and sessions is what the page
// of regions counts.
import {
  healthOfRegions,
  healthOfRouters,
  healthOfSessions,
  type RegionHealth,
} from '@pharos/contract/operator/region-health'
import { statusParts, type PartCounts, type StatusPart } from '@pharos/contract/operator/status'
import type { RegionStatus } from '../byoip/regions/router.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { countPartStates, type PartStateRow } from './part-states.store.ts'
import { mergeReports } from './registry-sources.ts'
import type { LiveProcess } from './status.store.ts'

type Facts = { readonly regions: readonly RegionStatus[]; readonly processes: readonly LiveProcess[] }

/** In the order of the contract, also of parts that the installation does not have. */
export async function readPartCounts(db: Db | Trx, { regions, processes }: Facts): Promise<PartCounts[]> {
  const routers = regions.flatMap((region) => region.routers)
  const drained = routers.filter((one) => one.drained !== null).length
  const stored = await countPartStates(db)
  const known: Partial<Record<StatusPart, PartCounts>> = {
    regions: fromHealth('regions', healthOfRegions(regions)),
    routers: fromHealth('routers', healthOfRouters(routers), drained),
    sessions: fromHealth('sessions', healthOfSessions(routers)),
    registries: registriesOf(processes),
  }
  return statusParts.map((part) => known[part] ?? fromStates(part, stored))
}

const fromHealth = (part: StatusPart, { ok, bad, unknown }: RegionHealth, paused = 0): PartCounts => ({
  part,
  ok,
  failing: bad,
  unknown,
  paused,
})

function fromStates(part: StatusPart, rows: readonly PartStateRow[]): PartCounts {
  const own = rows.filter((row) => row.part === part)
  const of = (state: PartStateRow['state']) => own.find((row) => row.state === state)?.count ?? 0
  return { part, ok: of('ok'), failing: of('failing'), unknown: of('unknown'), paused: of('paused') }
}

function registriesOf(processes: readonly LiveProcess[]): PartCounts {
  const reports = processes.flatMap(({ registries, seen }) => registries.map((one) => ({ ...one, seen })))
  const states = mergeReports([], reports).map(({ state }) => state)
  const count = (...some: readonly string[]) => states.filter((state) => some.includes(state)).length
  return {
    part: 'registries',
    ok: count('up'),
    failing: count('down', 'suspicious'),
    unknown: count('unknown'),
    paused: 0,
  }
}
