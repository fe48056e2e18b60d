// Evaluates the closed days of all modules by the rules of early warning, each day once, and sends the changes to the
// teams.
import type { Db, Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { listPortsOf } from '../assignment/assigned-port.store.ts'
import { compareWarnings, presentWarnings, type LaneWarnings } from './lane-warnings.ts'
import {
  closeGaugeDays,
  listLaneDays,
  lockModules,
  saveWarnings,
  type LaneDay,
  type WatchedModule,
} from './watch-optics.store.ts'
import { advanceWarnings, type LaneHistory, type WarningState } from './warnings.ts'

const dayMs = 86_400_000
/** Days are closed when the last poll of the day is certainly saved. */
const closingMs = 10 * 60_000
const batch = 200
/** Days to evaluate of a new module. */
const firstDays = 60

/** Returns the number of modules that were read. */
export async function watchOptics(db: Db, now: Date, signal: AbortSignal): Promise<number> {
  await closeGaugeDays(db)
  const day = Math.floor((now.getTime() - closingMs) / dayMs) - 1
  let read = 0
  while (!signal.aborted) {
    const count = await db.transaction().execute((trx) => watchBatch(trx, day))
    read += count
    if (count < batch) break
  }
  return read
}

async function watchBatch(trx: Trx, day: number): Promise<number> {
  const modules = await lockModules(trx, day, batch)
  if (modules.length === 0) return 0
  const ids = modules.map(({ id }) => id)
  const rows = Map.groupBy(await listLaneDays(trx, ids, day), ({ transceiverId }) => transceiverId)
  const watched = modules.map((module) => ({
    module,
    after: advanceModule(module, rows.get(module.id) ?? [], day),
  }))
  await saveWarnings(
    trx,
    day,
    watched.map(({ module, after }) => ({
      id: module.id,
      warnings: after,
      has_warning: presentWarnings(after).length > 0,
    })),
  )
  await reportWarnings(trx, watched)
  return modules.length
}

/** The states of all lanes after the day. */
function advanceModule(module: WatchedModule, rows: readonly LaneDay[], day: number): LaneWarnings[] {
  const first = Math.max((module.watchedDay ?? 0) + 1, day - firstDays + 1)
  return [...Map.groupBy(rows, ({ lane }) => lane)].map(([lane, own]) => {
    let states: readonly WarningState[] = module.warnings.find((one) => one.lane === lane)?.states ?? []
    for (let today = first; today <= day; today++)
      states = advanceWarnings(states, historyUntil(own, today), today)
    return { lane, states }
  })
}

/** The device at the other end is not known. */
function historyUntil(rows: readonly LaneDay[], today: number): LaneHistory {
  const of = (metric: LaneDay['metric']) => rows.find((one) => one.metric === metric)
  const daysOf = (metric: LaneDay['metric']) => of(metric)?.days.filter(({ day }) => day <= today) ?? []
  const limits = rows.flatMap((one) => (one.limits ? [[one.metric, one.limits] as const] : []))
  return {
    rx: daysOf('rx_power'),
    tx: daysOf('tx_power'),
    bias: daysOf('bias'),
    farTx: null,
    limits: Object.fromEntries(limits),
  }
}

/** Writes a message for each raised or cleared warning of a port, except during maintenance. */
async function reportWarnings(
  trx: Trx,
  watched: readonly { readonly module: WatchedModule; readonly after: readonly LaneWarnings[] }[],
): Promise<void> {
  const changed = watched.flatMap(({ module, after }) => {
    const changes = compareWarnings(module.warnings, after)
    return changes.length === 0 ? [] : [{ interfaceId: module.interfaceId, changes }]
  })
  if (changed.length === 0) return
  const ports = await listPortsOf(
    trx,
    changed.map(({ interfaceId }) => interfaceId),
  )
  const messages = changed.flatMap(({ interfaceId, changes }) =>
    (ports.get(interfaceId) ?? [])
      .filter(({ isInMaintenance }) => !isInMaintenance)
      .flatMap(({ teamId, port, at }) =>
        changes.map(({ state, warning }) => ({
          teamId,
          type: 'port.optic_warning' as const,
          data: { ...port, state, warning, at: at.toISOString() },
        })),
      ),
  )
  await writeMessages(trx, messages)
}
