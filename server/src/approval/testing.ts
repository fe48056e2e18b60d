// Approvals in tests: opened as their loops do, listed and decided as staff do.
import type { Approval } from '@pharos/contract/operator/approval'
import type { ApprovalAreaName, ApprovalReason } from '@pharos/contract/reason/approval-reason'
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { basicApprovalAreas as areas } from './parts.ts'
import { decideAs, listApprovals } from './approval.ts'
import type { StoredItem } from './coverage.ts'

type WithItems = Approval & { readonly items: NonNullable<Approval['items']> }

/** Returns the approvals with their items, the newest first. */
export async function approvalsOf(
  db: Db,
  query: { readonly state?: Approval['state'][]; readonly area?: ApprovalAreaName[] } = {},
): Promise<WithItems[]> {
  const { results } = await listApprovals({ db, areas }, null, {
    ...query,
    include: 'items',
    ordering: '-id',
    limit: 1000,
    offset: 0,
  })
  return results.map((one) => ({ ...one, items: one.items! }))
}

export const openApprovals = (db: Db, ...area: ApprovalAreaName[]): Promise<WithItems[]> =>
  approvalsOf(db, { state: ['open'], ...(area.length > 0 && { area }) })

/** Decides as the operator. */
export const decideApproval = (
  db: Db,
  id: number,
  decision: 'approved' | 'rejected',
  note?: string,
): Promise<Approval> => decideAs({ db, areas }, { actor: 'operator' }, id, decision, note)

export const valuesOf = ({ items }: { readonly items?: readonly { readonly value: string }[] }): string[] =>
  (items ?? []).map(({ value }) => value)

export const withdrawalsOf = (prefixes: readonly string[]): StoredItem[] =>
  prefixes.map((value) => ({ change: 'withdraw', value }))

type Row = {
  readonly area: ApprovalAreaName
  readonly kind: string
  readonly reason: ApprovalReason
  readonly attrs?: object
  readonly items?: readonly StoredItem[]
  readonly regionId?: number
  readonly zoneId?: number
  readonly scrubber?: string
  readonly state?: Approval['state']
}

let inserted = 0

/** Inserts a row unchanged, after closing the open approval of its slot, and returns its id. */
export async function insertApprovalRow(db: Db, row: Row): Promise<number> {
  const { area, kind, reason, attrs = {}, items = [], state = 'open' } = row
  const { regionId = null, zoneId = null, scrubber = null } = row
  const findings = JSON.stringify([{ reason, attrs }])
  await sql`
    update approvals set state = 'closed', decided = now() where state = 'open' and area = ${area} and kind = ${kind}
      and region_id is not distinct from ${regionId}::integer and zone_id is not distinct from ${zoneId}::integer
      and scrubber is not distinct from ${scrubber}::text`.execute(db)
  const { rows } = await sql<{ id: number }>`
    insert into approvals (area, kind, region_id, zone_id, scrubber, findings, items, item_count, evidence, state, decided)
    values (${area}, ${kind}, ${regionId}, ${zoneId}, ${scrubber}, ${findings}, ${JSON.stringify(items)}, ${items.length},
      ${`row ${inserted++}`}, ${state}, case when ${state} <> 'open' then now() end) returning id`.execute(db)
  return rows[0]!.id
}
