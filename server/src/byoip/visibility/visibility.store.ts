// The SQL of visibility: the announcements to follow, the summaries, and the state of the sources. The monitor works for all
// teams, as the owner of the tables; reading for a team filters by the team.
import type { SeenOrigin, SeenRoute, VisibilityReason } from '@pharos/contract/byoip/visibility'
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { storedJson } from '../../db/stored-json.ts'
import { writeRows, type RefusedRow } from '../../db/write-rows.ts'
import type { RpkiState } from '../../registry/rpki.ts'
import { parseAsn, type Asn } from '../../net/asn.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { writeMessages, type NewMessage } from '../../outbox/outbox.ts'
import type { Notified } from './visibility-message.ts'
import type { ObservedRegion, RouterChange, Summary } from './visibility.ts'

/** An announcement to follow, with its stored summary. */
export type VisibilityTarget = {
  readonly id: number
  readonly teamId: number
  readonly prefix: Prefix
  readonly originAsn: Asn
  readonly regions: readonly ObservedRegion[]
  readonly change: RouterChange | null
  readonly settledSeconds: number | null
  readonly notified: Notified
}

type TargetRow = {
  id: number
  team_id: number
  prefix: string
  origin_asn: number
  /** State, milliseconds and whether it was ever requested, of each region: `announced 1772359200000 t,...`. */
  regions: string | null
  change_at: Date | null
  change_kind: RouterChange['kind'] | null
  seconds_to_80pct: number | null
  notified_zombie: boolean | null
  notified_routes: SeenRoute[] | null
  not_visible: boolean | null
  other_path: boolean | null
}

/** Returns every announcement that has passed its checks, of all teams. Text instead of JSON for the regions halves its time. */
export async function listTargets(db: Db): Promise<VisibilityTarget[]> {
  const { rows } = await sql<TargetRow>`
    select a.id, a.team_id, a.prefix, a.origin_asn, v.change_at, v.change_kind, v.seconds_to_80pct, v.notified_zombie,
      v.notified_routes, v.not_visible, v.other_path, r.regions
    from announcements a
      left join (
        select announcement_id, string_agg(
          concat(state, ' ', floor(extract(epoch from since) * 1000)::bigint, ' ', changes <> '{}'), ',') as regions
        from announcement_regions group by announcement_id) r on r.announcement_id = a.id
      left join announcement_visibility v on v.announcement_id = a.id
    where a.deleted is null and a.claimed is not null
    order by a.id`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    teamId: row.team_id,
    prefix: parsePrefix(row.prefix),
    originAsn: parseAsn(row.origin_asn),
    regions: row.regions?.split(',').map(regionOf) ?? [],
    change: row.change_at && row.change_kind && { kind: row.change_kind, at: row.change_at },
    settledSeconds: row.seconds_to_80pct,
    notified: {
      zombie: row.notified_zombie ?? false,
      routes: row.notified_routes ?? [],
      notVisible: row.not_visible ?? false,
      otherPath: row.other_path ?? false,
    },
  }))
}

function regionOf(text: string): ObservedRegion {
  const [state, ms, wasUsed] = text.split(' ')
  return { state: state as ObservedRegion['state'], since: new Date(Number(ms)), wasUsed: wasUsed === 't' }
}

export type SavedSummary = Pick<VisibilityTarget, 'id' | 'teamId'> & {
  readonly summary: Summary
  readonly rpki: RpkiState
  readonly notified: Notified
  /** About it. */
  readonly messages: readonly NewMessage[]
}

/**
 * Saves the summaries and writes the messages about them; returns the refused ones. Skips announcements that were
 * removed in the meantime.
 */
export function saveSummaries(db: Db, saved: readonly SavedSummary[]): Promise<RefusedRow<SavedSummary>[]> {
  return db.transaction().execute(async (trx) => {
    const left = await writeRows(trx, saved, (some) => upsertSummaries(trx, some))
    const without = new Set(left.map(({ row }) => row))
    await writeMessages(
      trx,
      saved.flatMap((one) => (without.has(one) ? [] : one.messages)),
    )
    return left
  })
}

async function upsertSummaries(trx: Trx, saved: readonly SavedSummary[]): Promise<void> {
  const rows = saved.map(({ id, summary, rpki, notified }) => ({
    announcement_id: id,
    state: summary.state,
    reason: summary.reason,
    collectors_total: summary.collectorsTotal,
    collectors_seeing: summary.collectorsSeeing,
    origins: summary.origins,
    more_specifics: summary.moreSpecifics,
    rpki,
    change_at: summary.change?.at ?? null,
    change_kind: summary.change?.kind ?? null,
    seconds_to_80pct: summary.secondsTo80pct,
    stuck: summary.stuck,
    zombie: summary.zombie,
    notified_zombie: notified.zombie,
    notified_routes: notified.routes,
    ours: summary.ours,
    not_visible: notified.notVisible,
    other_path: notified.otherPath,
  }))
  await sql`
      insert into announcement_visibility (announcement_id, team_id, state, reason, collectors_total, collectors_seeing,
        origins, more_specifics, rpki, change_at, change_kind, seconds_to_80pct, stuck, zombie, notified_zombie,
        notified_routes, ours, not_visible, other_path)
      select n.announcement_id, a.team_id, n.state, n.reason, n.collectors_total, n.collectors_seeing, n.origins,
        n.more_specifics, n.rpki, n.change_at, n.change_kind, n.seconds_to_80pct, n.stuck, n.zombie, n.notified_zombie,
        n.notified_routes, n.ours, n.not_visible, n.other_path
      from jsonb_to_recordset(${storedJson(rows)}::jsonb) as n (announcement_id integer, state text, reason text,
          collectors_total integer, collectors_seeing integer, origins jsonb, more_specifics jsonb, rpki text,
          change_at timestamptz, change_kind text, seconds_to_80pct integer, stuck integer, zombie boolean,
          notified_zombie boolean, notified_routes jsonb, ours integer, not_visible boolean, other_path boolean)
        join announcements a on a.id = n.announcement_id
      on conflict (announcement_id) do update
      set state = excluded.state, reason = excluded.reason, collectors_total = excluded.collectors_total,
        collectors_seeing = excluded.collectors_seeing, origins = excluded.origins,
        more_specifics = excluded.more_specifics, rpki = excluded.rpki, change_at = excluded.change_at,
        change_kind = excluded.change_kind, seconds_to_80pct = excluded.seconds_to_80pct, stuck = excluded.stuck,
        zombie = excluded.zombie, notified_zombie = excluded.notified_zombie,
        notified_routes = excluded.notified_routes, ours = excluded.ours, not_visible = excluded.not_visible,
        other_path = excluded.other_path`.execute(trx)
}

/** Announcements with a warning about their visibility, while there are current data. */
export type UnseenCounts = { readonly not_visible: number; readonly other_path: number }

export async function countUnseen(db: Db | Trx): Promise<UnseenCounts> {
  const { rows } = await sql<UnseenCounts>`
    select count(*) filter (where v.not_visible) as not_visible, count(*) filter (where v.other_path) as other_path
    from announcement_visibility v join announcements a on a.id = v.announcement_id
    where (v.not_visible or v.other_path) and a.deleted is null and a.claimed is not null
      and exists (select from visibility_sources where is_used and checked > now() - ${followedWithin})`.execute(
    db,
  )
  return rows[0]!
}

export type SourceReport = {
  readonly name: string
  readonly label: string
  readonly is_used: boolean
  readonly as_of: Date | null
  readonly problem: string | null
}

/**
 * Saves the state of the sources in their order, and removes the rows of sources that are no longer configured. A source that has no
 * data yet keeps the time of its last data.
 */
export async function saveSources(db: Db, sources: readonly SourceReport[]): Promise<void> {
  const rows = sources.map((source, position) => ({ ...source, position }))
  await sql`
    with n as (
      select * from jsonb_to_recordset(${storedJson(rows)}::jsonb)
        as n (name text, label text, position integer, is_used boolean, as_of timestamptz, problem text)),
    gone as (delete from visibility_sources where name not in (select name from n))
    insert into visibility_sources as s (name, label, position, is_used, as_of, problem, checked)
    select name, label, position, is_used, as_of, problem, now() from n
    on conflict (name) do update
    set label = excluded.label, position = excluded.position, is_used = excluded.is_used,
      as_of = coalesce(excluded.as_of, s.as_of),
      problem = excluded.problem, checked = excluded.checked`.execute(db)
}

/** A process that follows the sources writes their rows far more often; after this time no process follows them. */
export const followedWithin = sql`interval '2 minutes'`

export type SourceStatus = SourceReport & { readonly is_followed: boolean }

/** Returns the state of the sources in their order, for `pharos status`. */
export async function listVisibilitySources(db: Db | Trx): Promise<SourceStatus[]> {
  const { rows } = await sql<SourceStatus>`
    select name, label, is_used, as_of, problem, checked > now() - ${followedWithin} as is_followed
    from visibility_sources order by position`.execute(db)
  return rows
}

/** The stored summary of an announcement. */
export type StoredSummary = {
  readonly announcement_id: number
  readonly state: Summary['state']
  readonly reason: VisibilityReason | null
  readonly collectors_total: number
  readonly collectors_seeing: number
  readonly origins: readonly SeenOrigin[]
  readonly more_specifics: readonly SeenRoute[]
  readonly rpki: RpkiState
  readonly change_at: string | null
  readonly change_kind: RouterChange['kind'] | null
  readonly seconds_to_80pct: number | null
  readonly stuck: number
  readonly zombie: boolean | null
  readonly not_visible: boolean
  readonly other_path: boolean
}

export type StoredVisibility = {
  readonly summaries: readonly StoredSummary[]
  /** Whether any source is configured. */
  readonly has_source: boolean
  /** Time of the data; null if there are no current data. */
  readonly current_as_of: string | null
  /** Time of the last data, current or not. */
  readonly last_as_of: string | null
}

/** The query of a team's summaries and of the state of the sources, from one snapshot. */
export const visibilityQuery = (teamId: number, ids: readonly number[]) => sql<StoredVisibility>`
  select coalesce((
      select json_agg(json_build_object('announcement_id', v.announcement_id, 'state', v.state, 'reason', v.reason,
        'collectors_total', v.collectors_total, 'collectors_seeing', v.collectors_seeing, 'origins', v.origins,
        'more_specifics', v.more_specifics, 'rpki', v.rpki, 'change_at', v.change_at, 'change_kind', v.change_kind,
        'seconds_to_80pct', v.seconds_to_80pct, 'stuck', v.stuck, 'zombie', v.zombie,
        'not_visible', v.not_visible, 'other_path', v.other_path))
      from announcement_visibility v
      where v.team_id = ${teamId} and v.announcement_id = any(${ids}::integer[])), '[]') as summaries,
    exists (select from visibility_sources) as has_source,
    (select to_json(as_of) #>> '{}' from visibility_sources
      where is_used and checked > now() - ${followedWithin}) as current_as_of,
    (select to_json(max(as_of)) #>> '{}' from visibility_sources) as last_as_of`
