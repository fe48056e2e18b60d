// The SQL that updates the counts and the rollup of teams' events. Only team-event.store.ts calls it, with every
// written row: no other code may write team_events. The caller has locked the teams.
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { countChanges, hourChanges, staleHours, type EventChange } from './event-rollup.ts'

/** Call it after the events are written: maxima that may have fallen are read from them. */
export async function saveRollup(trx: Trx, changes: readonly EventChange[]): Promise<void> {
  const counts = countChanges(changes)
  if (counts.length > 0)
    await sql`
      insert into team_event_counts as c (team_id, facet, measure, bucket, events)
      select team_id, facet, measure, bucket, events
      from json_populate_recordset(null::team_event_counts, ${JSON.stringify(counts)}::json)
      order by team_id, facet, measure, bucket
      on conflict (team_id, facet, measure, bucket) do update set events = c.events + excluded.events`.execute(
      trx,
    )
  const hours = hourChanges(changes)
  if (hours.length > 0)
    await sql`
      insert into team_event_hours as h
        (team_id, minutes, at, classification_key, started, ended, max_bps, max_pps)
      select team_id, minutes, at, classification_key, started, ended, max_bps, max_pps
      from json_populate_recordset(null::team_event_hours, ${JSON.stringify(hours)}::json)
      order by team_id, minutes, at, classification_key
      on conflict (team_id, minutes, at, classification_key) do update set
        started = h.started + excluded.started, ended = h.ended + excluded.ended,
        max_bps = greatest(h.max_bps, excluded.max_bps), max_pps = greatest(h.max_pps, excluded.max_pps)`.execute(
      trx,
    )
  const stale = staleHours(changes)
  if (stale.length > 0) await readMaximaAgain(trx, JSON.stringify(stale))
}

/** The longest events whose peaks are in all rows that they overlap, and their greatest `span`: 2^17 s are 36 h, 2^22 s 48 days. */
const longestKept = sql`(values (15, interval '24 hours', 17), (60, '24 hours', 17), (360, '720 hours', 22)) k (minutes, longest, span_max)`

/**
 * The maxima of events that started in a row, ended in it, or were ongoing when it began and count in it; the latter by
 * span, as in event-walk.store.ts.
 */
async function readMaximaAgain(trx: Trx, hours: string): Promise<void> {
  const peaks = sql`
    select max(affected_bps) as max_bps, max(affected_pps) as max_pps from team_events
    where team_id = n.team_id and classification_key = n.classification_key`
  await sql`
    update team_event_hours h set max_bps = m.max_bps, max_pps = m.max_pps
    from json_populate_recordset(null::team_event_hours, ${hours}::json) n
      join ${longestKept} on k.minutes = n.minutes
      cross join lateral (select n.at + make_interval(mins => n.minutes) as until) u
      cross join lateral (
        select max(max_bps) as max_bps, max(max_pps) as max_pps from (
          ${peaks} and start_at >= n.at and start_at < until and end_at is not null
          union all ${peaks} and end_at >= n.at and end_at < until
          union all
          select p.* from generate_series(0, k.span_max) s (span) cross join lateral (
            ${peaks} and (span, start_at) < (s.span, n.at)
              and (span, start_at) >= (s.span, n.at - make_interval(secs => power(2, s.span) * 1.001))
              and end_at + interval '0' >= n.at and end_at - start_at <= k.longest offset 0) p) a) m
    where (h.team_id, h.minutes, h.at, h.classification_key) = (n.team_id, n.minutes, n.at, n.classification_key)`.execute(
    trx,
  )
}
