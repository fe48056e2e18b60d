// Decisions of staff about holds of DNS. The loops open and close them (hold.ts); a decision covers exactly the removals that the hold names.
import { zoneHoldReasons, type listZoneHoldsRoute, type ZoneHold as Wire } from '@pharos/contract/zone-hold'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit, type AuditEntry } from '../../db/audit.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { runOwnerChange, type Answer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { typeName } from '../../net/dns/type.ts'
import type { StaffOperation } from '../../operation/operation.ts'
import { fail, notFound } from '../../runtime/error.ts'
import { shownZoneName } from '../zone/zone-name.ts'
import { decideZoneHold, findZoneHold, listZoneHoldRows, type ZoneHoldRow } from './zone-hold.store.ts'

export type ZoneHoldDeps = { readonly db: Db }

/** Returns a page of all holds of DNS, and the exact count. */
export async function listZoneHolds(
  { db }: ZoneHoldDeps,
  _operation: unknown,
  query: QueryOf<typeof listZoneHoldsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listZoneHoldRows(db, query)
  return { results: page.map(present), count }
}

export async function getZoneHold({ db }: ZoneHoldDeps, _operation: unknown, id: number): Promise<Wire> {
  const hold = await findZoneHold(db, id)
  if (!hold) throw notFound('hold')
  return present(hold)
}

/** Approves an open hold for the caller of an operation. */
export const approveZoneHold = (
  { db }: ZoneHoldDeps,
  operation: StaffOperation,
  id: number,
): Promise<Answer<Wire>> =>
  runOwnerChange(db, operation, (trx) => decide(trx, auditOf(operation), id, 'approved'))

/** Rejects an open hold for the caller of an operation. */
export const rejectZoneHold = (
  { db }: ZoneHoldDeps,
  operation: StaffOperation,
  id: number,
): Promise<Answer<Wire>> =>
  runOwnerChange(db, operation, (trx) => decide(trx, auditOf(operation), id, 'rejected'))

type Decision = 'approved' | 'rejected'
/** The author of a decision, as in the audit entry. */
type Author = Pick<AuditEntry, 'actor'> & Partial<AuditEntry>

/**
 * Approves or rejects an open hold, and wakes the loops. Repeating the same decision changes nothing. Throws `conflict` if the hold was decided
 * otherwise or was closed because the plan has changed, and for the approval of a removal that is never published.
 */
export const decideZoneHoldAs = (
  { db }: ZoneHoldDeps,
  by: Author,
  id: number,
  decision: Decision,
): Promise<Wire> => db.transaction().execute(async (trx) => (await decide(trx, by, id, decision)).body)

async function decide(
  trx: Trx,
  by: Author,
  id: number,
  decision: Decision,
): Promise<{ body: Wire; before: Wire }> {
  const before = await findZoneHold(trx, id)
  if (!before) throw notFound('hold')
  if (before.reason === 'apex_removed' && decision === 'approved') throw fail('conflict', 'apexRemoval')
  const isDecided = await decideZoneHold(trx, id, decision, by.actor)
  const hold = (await findZoneHold(trx, id))!
  if (!isDecided && hold.state === 'closed') throw fail('conflict', 'holdClosed')
  if (!isDecided && hold.state !== decision) throw fail('conflict', 'holdDecided', { state: hold.state })
  const body = present(hold)
  if (isDecided) {
    const { kind, zone, reason, state, removal_count, removals } = body
    const after = { kind, zone: zone?.name ?? null, reason, state, removal_count, removals }
    await writeAudit(trx, { ...by, teamId: null, action: 'hold.decide', target: `dns-hold:${id}`, after })
    await wake(trx, 'dns')
  }
  return { body, before: present(before) }
}

function present({ zone, zone_id, team_id, team_name, ...hold }: ZoneHoldRow): Wire {
  return {
    ...hold,
    zone: zone_id === null || zone === null ? null : { id: zone_id, name: shownZoneName(zone) },
    team: team_id === null ? null : { id: team_id, name: team_name ?? '' },
    detail: zoneHoldReasons[hold.reason],
    removals: hold.removals.map((one) =>
      typeof one === 'string' ? one : `${one.name} ${typeName(one.type)}`,
    ),
    created: hold.created.toISOString(),
    decided: hold.decided?.toISOString() ?? null,
  }
}
