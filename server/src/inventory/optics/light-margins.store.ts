// The SQL of the margins of received light of several ports, through the assignment of each.
import { sql } from 'kysely'
import type { ReadStatement } from '../../db/postgres.ts'
import { unnestRows } from '../../db/unnest.ts'

/** A port of a team, and the time to read. Keys are unique. */
export type MarginPort = {
  readonly key: number
  readonly teamId: number
  readonly portId: number
  readonly start: Date
  readonly end: Date
}

/** `n` with the port `p` and its assignment `a`, if the team has the port now. */
const heldNow = (ports: readonly MarginPort[]) => sql`
  ${unnestRows(
    ports.map(({ key, teamId, portId, start, end }) => ({ key, teamId, portId, start, end })),
    { key: 'bigint', teamId: 'integer', portId: 'bigint', start: 'timestamptz', end: 'timestamptz' },
  )} join port_assignments a on a.team_id = n."teamId" and a.port_id = n."portId" and a.valid @> now() join ports p on p.id = a.port_id`

/** The low alarm limit, or else the low warning limit: the margin of a lane is above it. */
const lowLimit = sql`coalesce((g.limits ->> 'alarmLow')::double precision, (g.limits ->> 'warnLow')::double precision)`

/** The ports that the teams have now. */
export const listMarginPorts = (
  read: ReadStatement,
  ports: readonly MarginPort[],
): Promise<{ readonly key: number; readonly has_limit: boolean }[]> =>
  read(sql`
    select n.key, exists (
      select from transceivers t join gauges g on g.transceiver_id = t.id and g.metric = 'rx_power'
      where t.interface_id = p.interface_id and t.is_present and ${lowLimit} is not null) as has_limit
    from ${heldNow(ports)}`)

/** The margin of the weakest lane in each 5 minutes, of all modules that the port has had. */
export const listMargins = (
  read: ReadStatement,
  ports: readonly MarginPort[],
): Promise<{ readonly key: number; readonly start_ms: number; readonly margin: number }[]> =>
  read(sql`
    with v as (
      select n.key, (d.day::timestamp at time zone 'UTC') + make_interval(mins => 5 * (u.n::integer - 1)) as at,
        u.value - ${lowLimit} as margin, greatest(lower(a.valid), p.interface_since, n.start) as since, n."end" as until
      from ${heldNow(ports)}
        join transceivers t on t.interface_id = p.interface_id
        join gauges g on g.transceiver_id = t.id and g.metric = 'rx_power'
        join gauge_days d on d.gauge_id = g.id and d.day between (n.start at time zone 'UTC')::date and (n."end" at time zone 'UTC')::date
        cross join lateral unnest(d.slots) with ordinality u (value, n)
      where u.value is not null and ${lowLimit} is not null)
    select key, (extract(epoch from at) * 1000)::bigint as start_ms, min(margin) as margin
    from v where at >= since and at < until group by 1, 2`)
