// The octets of attacks that ports receive, by buckets of 5 minutes: saved while the flows are kept, so that bills can leave them out.
import type { Db } from '../../db/postgres.ts'
import { attackCondition } from './attack-condition.ts'
import { listAttackWindows } from './attack-window.store.ts'
import { listTeamsWithPorts, saveAttackOctets, type PortOctets } from './attack-octets.store.ts'
import { secondsOf } from './flow-query.ts'
import type { FlowStore, Param } from './flow-store.ts'

type Deps = { readonly db: Db; readonly flowStore: FlowStore }

/** A month is closed a day after its end; what changed in this time counts. */
const savedMs = 26 * 3_600_000
const bucketSeconds = 300

/** Saves those of the last 26 hours, of every team with ports. Repeating it changes nothing. Throws if the store does not answer. */
export async function updateAttackOctets(
  { db, flowStore }: Deps,
  now: Date,
  signal: AbortSignal,
): Promise<number> {
  const day = Math.floor((now.getTime() - savedMs) / 86_400_000) * 86_400_000
  const window = { startMs: day, endMs: now.getTime() }
  let saved = 0
  for (const teamId of await listTeamsWithPorts(db)) {
    if (signal.aborted) break
    const rows = await readOctets({ db, flowStore }, teamId, window)
    await saveAttackOctets(db, teamId, window, rows)
    saved += rows.length
  }
  return saved
}

/** With a row of 0 for each port and day of which flows were received. */
async function readOctets(
  { db, flowStore }: Deps,
  teamId: number,
  window: { readonly startMs: number; readonly endMs: number },
): Promise<PortOctets[]> {
  const attacks = await listAttackWindows(db, teamId, window)
  const params: Record<string, Param> = {
    team: teamId,
    from: secondsOf(new Date(window.startMs)),
    until: secondsOf(new Date(window.endMs)),
  }
  const selected =
    "where team_id = {team:UInt32} and port_id != 0 and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC')"
  const seen = await flowStore.query<PortOctets>(
    `select port_id, toUnixTimestamp(toStartOfDay(time)) as at, 0 as octets from flows_by_interface_1h ${selected} group by port_id, at`,
    params,
  )
  if (attacks.length === 0 || seen.length === 0) return seen
  let bound = 0
  const bind = (type: string, value: Param): string => {
    const name = `a${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const condition = attackCondition(attacks, bind, window.endMs)
  const octets = await flowStore.query<PortOctets>(
    `select port_id, intDiv(toUInt32(time), ${bucketSeconds}) * ${bucketSeconds} as at, sum(bytes * greatest(sampling_rate, 1)) as octets ` +
      `from flows ${selected} and direction = 'in' and ${condition} group by port_id, at`,
    params,
  )
  return [...seen, ...octets]
}
