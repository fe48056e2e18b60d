// The SQL of approvals. They belong to the provider, not to teams: only loops and staff use them, as the owner of the tables.
import type { ApprovalState, listApprovalsRoute } from '@pharos/contract/operator/approval'
import type {
  ApprovalAreaName,
  ApprovalFinding,
  ApprovalReason,
} from '@pharos/contract/reason/approval-reason'
import type { QueryOf } from '@pharos/contract/route'
import { sql, type RawBuilder } from 'kysely'
import { columns, type RowOf } from '../db/columns.ts'
import { andAll, listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { storedJson } from '../db/stored-json.ts'
import { decidedOf } from './approval-sql.ts'
import {
  itemKey,
  type ApprovalSlot,
  type OpenApproval,
  type PlannedApproval,
  type StoredItem,
} from './coverage.ts'

const teamOf = sql`coalesce(a.team_id, (select z.team_id from dns_zones z where z.id = a.zone_id))`

const approvalColumns = columns(
  'approvals',
  'a',
  [
    'id',
    'kind',
    'region_id',
    'zone_id',
    'list_id',
    'scrubber',
    'item_count',
    'created',
    'decided',
    'decided_by',
    'note',
    'valid_until',
    'replaces',
  ],
  {
    area: sql<ApprovalAreaName>`a.area`,
    state: sql<ApprovalState>`a.state`,
    findings: sql<ApprovalFinding[]>`a.findings`,
    region: sql<string | null>`(select r.slug from regions r where r.id = a.region_id)`,
    zone: sql<string | null>`(select z.name from dns_zones z where z.id = a.zone_id)`,
    prefix: sql<string | null>`(select l.prefix::text from shield_lists l where l.id = a.list_id)`,
    team_id: sql<number | null>`${teamOf}`,
    team_name: sql<string | null>`(select t.name from teams t where t.id = ${teamOf})`,
  },
)
export type ApprovalRow = RowOf<typeof approvalColumns>

export async function findApproval(db: Db | Trx, id: number): Promise<ApprovalRow | undefined> {
  const { rows } = await sql<ApprovalRow>`
    select ${approvalColumns} from approvals a where a.id = ${id}::bigint`.execute(db)
  return rows[0]
}

/**
 * Whether the approval is about a team: its own team, or the team of the announcement that decides about any of its
 * routes.
 */
const isAbout = (teamIds: readonly number[]) => sql`(${teamOf} = any(${teamIds}::bigint[])
  or a.area = 'routes' and exists (
    select from jsonb_array_elements(a.items) i cross join lateral (
      select n.team_id from announcements n where n.prefix = (i ->> 'value')::cidr and n.claimed is not null
      order by n.deleted desc nulls first, n.id desc limit 1) n
    where n.team_id = any(${teamIds}::bigint[])))`

/** `zone`: canonical names, with the trailing dot. */
export const listApprovalRows = (
  db: Db,
  query: QueryOf<typeof listApprovalsRoute>,
): Promise<Page<ApprovalRow>> =>
  listAll(db, {
    matching: sql`select a.* from approvals a where true ${andAll(
      query.area && sql`a.area = any(${query.area}::text[])`,
      query.state && sql`a.state = any(${query.state}::text[])`,
      query.reason &&
        sql`exists (
        select from jsonb_array_elements(a.findings) f where f ->> 'reason' = any(${query.reason}::text[]))`,
      query.region &&
        sql`a.region_id in (select r.id from regions r where r.slug = any(${query.region}::text[]))`,
      query.zone &&
        sql`a.zone_id in (select z.id from dns_zones z where z.name = any(${query.zone}::text[]))`,
      query.team_id && isAbout(query.team_id),
    )}`,
    columns: approvalColumns,
    order: orderBy(query.ordering, { id: sql`a.id`, created: sql`a.created` }, sql`a.id`),
    slice: query,
  })

export async function listRegionSlugs(db: Db): Promise<string[]> {
  const { rows } = await sql<{ slug: string }>`select slug from regions order by slug`.execute(db)
  return rows.map(({ slug }) => slug)
}

/** Returns the first items of each approval, as stored. */
export async function listStoredItems(
  db: Db | Trx,
  ids: readonly number[],
  limit: number,
): Promise<ReadonlyMap<number, StoredItem[]>> {
  const { rows } = await sql<{ id: number; items: StoredItem[] }>`
    select a.id, jsonb_path_query_array(a.items, ${`$[0 to ${limit - 1}]`}::jsonpath) as items
    from approvals a where a.id = any(${ids as number[]}::integer[])`.execute(db)
  return new Map(rows.map(({ id, items }) => [id, items]))
}

/** Decides an open approval; returns false if it is not open or does not exist. */
export async function decideRow(
  trx: Trx,
  id: number,
  decision: {
    readonly state: 'approved' | 'rejected'
    readonly actor: string
    readonly note: string | null
    /** Null: without an end. */
    readonly minutes: number | null
  },
): Promise<boolean> {
  const { state, actor, note, minutes } = decision
  const { numAffectedRows } = await sql`
    update approvals set state = ${state}, decided = now(), decided_by = ${actor}, note = ${note},
      valid_until = now() + make_interval(mins => ${minutes})
    where id = ${id}::bigint and state = 'open'`.execute(trx)
  return numAffectedRows === 1n
}

/** The given columns of a slot, which select rows. */
export type ApprovalScope = Partial<ApprovalSlot>

type OpenRow = Required<ApprovalSlot> & Omit<OpenApproval, 'covered'> & { readonly items: StoredItem[] }
export type LockedApproval = Required<ApprovalSlot> & OpenApproval

/** Locks the open approvals of the area in the scope. */
export async function lockOpen(
  trx: Trx,
  area: ApprovalAreaName,
  scope: ApprovalScope,
): Promise<LockedApproval[]> {
  const { rows } = await sql<OpenRow>`
    select id, kind, region_id as "regionId", zone_id as "zoneId", list_id as "listId", scrubber,
      findings -> 0 ->> 'reason' as reason, evidence, items
    from approvals where area = ${area} and state = 'open' ${inScope(scope)} order by id for update`.execute(
    trx,
  )
  return rows.map(({ items, ...row }) => ({ ...row, covered: new Set(items.map(itemKey)) }))
}

const inScope = ({ kind, regionId, zoneId, listId, scrubber }: ApprovalScope): RawBuilder<unknown> =>
  andAll(
    kind !== undefined && sql`kind = ${kind}`,
    regionId !== undefined && sql`region_id is not distinct from ${regionId}::integer`,
    zoneId !== undefined && sql`zone_id is not distinct from ${zoneId}::integer`,
    listId !== undefined && sql`list_id is not distinct from ${listId}::integer`,
    scrubber !== undefined && sql`scrubber is not distinct from ${scrubber}::text`,
  )

/** Closes approvals that are open. */
export async function closeRows(trx: Trx, ids: readonly number[]): Promise<void> {
  await sql`
    update approvals set state = 'closed', decided = now()
    where id = any(${ids as number[]}::integer[]) and state = 'open'`.execute(trx)
}

/** Filters the digests: only digests with a valid decision of staff. */
export async function listDecisionRows(
  db: Db | Trx,
  area: ApprovalAreaName,
  evidence?: readonly string[],
): Promise<ReadonlyMap<string, 'approved' | 'rejected'>> {
  const { rows } = await sql<{ evidence: string; state: 'approved' | 'rejected' }>`
    select distinct on (a.evidence) a.evidence, a.state ${decidedOf(area)}
      ${evidence ? sql`and a.evidence = any(${evidence as string[]}::text[])` : sql``}
    order by a.evidence, a.id desc`.execute(db)
  return new Map(rows.map((row) => [row.evidence, row.state]))
}

/**
 * Inserts an open approval and returns its id; undefined if the slot already has an open approval. Staff get a mail
 * immediately, unless within the hour they got a mail about a closed approval of the same slot with more than half as
 * many items: then the reminder of the former approval stays due.
 */
export async function insertOpen(
  trx: Trx,
  area: ApprovalAreaName,
  planned: PlannedApproval,
  replaces: number | null,
): Promise<number | undefined> {
  const { kind, regionId = null, zoneId = null, listId = null, teamId = null, scrubber = null } = planned
  const { findings, items, itemCount = items.length, evidence, context = [] } = planned
  const { rows } = await sql<{ id: number }>`
    insert into approvals (area, kind, region_id, zone_id, list_id, team_id, scrubber, findings, items, item_count, evidence,
      context, replaces, alerted, alerted_items, alert_due)
    select ${area}, ${kind}, ${regionId}, ${zoneId}, ${listId}, ${teamId}, ${scrubber}, ${storedJson(findings)}, ${storedJson(items)},
      ${itemCount}, ${evidence}, ${storedJson(context)}, ${replaces}, o.alerted, o.alerted_items, coalesce(o.alert_due, now())
    from (select) as one left join lateral (
      select alerted, alerted_items, alert_due from approvals
      where area = ${area} and state = 'closed' and alerted > now() - interval '1 hour'
        and ${itemCount}::integer < 2 * greatest(alerted_items, 1) ${inScope({ kind, regionId, zoneId, listId, scrubber })}
      order by id desc limit 1) o on true
    on conflict do nothing returning id`.execute(trx)
  return rows[0]?.id
}

/** Inserts an approval that is decided already, by a decision that staff made elsewhere. */
export async function insertApproved(
  trx: Trx,
  area: ApprovalAreaName,
  planned: PlannedApproval,
  { actor, minutes }: { readonly actor: string; readonly minutes: number | null },
): Promise<void> {
  const { kind, regionId = null, findings, items, evidence } = planned
  await sql`
    insert into approvals (area, kind, region_id, findings, items, item_count, evidence, state, decided, decided_by, valid_until)
    values (${area}, ${kind}, ${regionId}, ${storedJson(findings)}, ${storedJson(items)}, ${items.length}, ${evidence}, 'approved',
      clock_timestamp(), ${actor}, clock_timestamp() + make_interval(mins => ${minutes}))`.execute(trx)
}

/** Ends a decision that was applied: the same changes need another one. */
export async function endDecision(trx: Trx, area: ApprovalAreaName, evidence: string): Promise<void> {
  await sql`
    update approvals set valid_until = now()
    where area = ${area} and evidence = ${evidence} and state = 'approved' and coalesce(valid_until > now(), true)`.execute(
    trx,
  )
}

export type DueAlert = {
  readonly id: number
  /** There was a mail about it before. */
  readonly isReminder: boolean
}

/** Locks open approvals with a due mail to staff, the longest due first. */
export async function lockDueAlerts(trx: Trx, limit: number): Promise<DueAlert[]> {
  const { rows } = await sql<DueAlert>`
    select id, alerted is not null as "isReminder" from approvals where state = 'open' and alert_due <= now()
    order by alert_due, id limit ${limit} for update skip locked`.execute(trx)
  return rows
}

/** Minutes until the next mail: after the first one, and after a reminder. */
export async function saveAlerted(
  trx: Trx,
  ids: readonly number[],
  [first, next]: readonly [number, number],
): Promise<void> {
  await sql`
    update approvals set alerted = now(), alerted_items = item_count,
      alert_due = now() + make_interval(mins => case when alerted is null then ${first}::integer else ${next}::integer end)
    where id = any(${ids as number[]}::integer[])`.execute(trx)
}

/** The reason by which an approval is known. */
export const reasonOf = ({ findings }: Pick<ApprovalRow, 'findings'>): ApprovalReason => findings[0]!.reason
