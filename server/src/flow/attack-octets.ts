// The octets of attacks that ports receive, by buckets of 5 minutes: saved while the flows are kept, so that bills can leave them out.
import type { Db } from '../db/postgres.ts'
import { attackCondition } from './attack-condition.ts'
import { listAttackWindows } from './attack-window.store.ts'
import {
  listSavedBuckets,
  listTeamsWithPorts,
  saveAttackOctets,
  type PortBucket,
  type PortOctets,
} from './attack-octets.store.ts'
import { secondsOf } from './flow-query.ts'
import type { FlowStore, Param } from './flow-store.ts'

type Deps = {
  readonly db: Db
  readonly flowStore: FlowStore
  /** Older flows may be gone in part. */
  readonly flowDays: number
}
type Window = { readonly startMs: number; readonly endMs: number }

/** A month is closed a day after its end; changes in this time count. */
const savedMs = 26 * 3_600_000
const bucketMs = 300_000
const dayMs = 86_400_000

/**
 * Saves the octets of the last 26 hours, of every team with ports in that time. Saved octets stay after the flows are
 * deleted. Repeating it has no effect. Throws if the store does not answer.
 */
export async function updateAttackOctets(deps: Deps, now: Date, signal: AbortSignal): Promise<void> {
  const endMs = now.getTime()
  const window = { startMs: Math.floor((endMs - savedMs) / dayMs) * dayMs, endMs }
  const keptMs = Math.ceil((endMs - deps.flowDays * dayMs) / bucketMs) * bucketMs
  const kept = { startMs: Math.max(window.startMs, keptMs), endMs }
  for (const teamId of await listTeamsWithPorts(deps.db, window)) {
    if (signal.aborted) break
    const days = await readDays(deps, teamId, window)
    if (days.length === 0) continue
    const covered = await readCovered(deps, teamId, kept)
    const octets = await readOctets(deps, teamId, kept)
    await saveAttackOctets(deps.db, teamId, { covered, rows: [...days, ...octets] })
  }
}

const selected =
  "where team_id = {team:UInt32} and port_id != 0 and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC')"
const bucket = `intDiv(toUInt32(time), ${bucketMs / 1000}) * ${bucketMs / 1000}`
const paramsOf = (teamId: number, { startMs, endMs }: Window): Record<string, Param> => ({
  team: teamId,
  from: secondsOf(new Date(startMs)),
  until: secondsOf(new Date(endMs)),
})

/** A row of 0 for each port and day of which flows were received. */
const readDays = ({ flowStore }: Deps, teamId: number, window: Window): Promise<PortOctets[]> =>
  flowStore.query<PortOctets>(
    `select port_id, toUnixTimestamp(toStartOfDay(time)) as at, 0 as octets from flows_by_interface_1h ${selected} group by port_id, at`,
    paramsOf(teamId, window),
  )

/** The saved buckets of which the store still has flows. */
async function readCovered({ db, flowStore }: Deps, teamId: number, window: Window): Promise<PortBucket[]> {
  const saved = await listSavedBuckets(db, teamId, window)
  if (saved.length === 0) return []
  return flowStore.query<PortBucket>(
    `select distinct port_id, ${bucket} as at from flows_by_interface_1m ${selected} and ${bucket} in {saved:Array(UInt32)}`,
    { ...paramsOf(teamId, window), saved },
  )
}

async function readOctets({ db, flowStore }: Deps, teamId: number, window: Window): Promise<PortOctets[]> {
  const attacks = await listAttackWindows(db, teamId, window)
  if (attacks.length === 0) return []
  const params = paramsOf(teamId, window)
  let bound = 0
  const bind = (type: string, value: Param): string => {
    const name = `a${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const condition = attackCondition(attacks, bind, window.endMs)
  return flowStore.query<PortOctets>(
    `select port_id, ${bucket} as at, sum(bytes * greatest(sampling_rate, 1)) as octets ` +
      `from flows ${selected} and direction = 'in' and ${condition} group by port_id, at`,
    params,
  )
}
