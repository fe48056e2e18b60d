// Decisions of staff about holds of DNS. The loops open and close them (hold.ts); a decision covers exactly the removals that the hold names.
import { zoneHoldReasons, type listZoneHoldsRoute, type ZoneHold as Wire } from '@pharos/contract/zone-hold'
import type { QueryOf } from '@pharos/contract/route'
import { holdMessageItemsMax } from '@pharos/contract/webhook-message'
import type { Trx } from '../../db/postgres.ts'
import { holdDecisions, type HoldDeps } from '../../hold/decide-hold.ts'
import type { DescribedHold } from '../../hold/hold-alerts.ts'
import { typeName } from '../../net/dns/type.ts'
import { fail } from '../../runtime/error.ts'
import { shownZoneName } from '../zone/zone-name.ts'
import { decideZoneHold, findZoneHold, listZoneHoldRows, type ZoneHoldRow } from './zone-hold.store.ts'

/** Returns a page of all holds of DNS, and the exact count. */
export async function listZoneHolds(
  { db }: HoldDeps,
  _operation: unknown,
  query: QueryOf<typeof listZoneHoldsRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listZoneHoldRows(db, query)
  return { results: page.map(present), count }
}

const zoneHolds = holdDecisions<ZoneHoldRow, Wire>({
  target: 'dns-hold',
  wakes: 'dns',
  find: findZoneHold,
  save: decideZoneHold,
  present,
  audited: (row) => {
    const { kind, zone, reason, state, removal_count, removals } = present(row)
    return { kind, zone: zone?.name ?? null, reason, state, removal_count, removals }
  },
  evidenceOf: ({ evidence }) => evidence,
  refusal: ({ reason }) => (reason === 'apex_removed' ? fail('conflict', 'apexRemoval') : undefined),
})

export const {
  get: getZoneHold,
  approveShown: approveZoneHold,
  rejectShown: rejectZoneHold,
  decideAs: decideZoneHoldAs,
} = zoneHolds

/** Returns what mails and messages say about a hold. */
export async function describeZoneHold(trx: Trx, id: number): Promise<DescribedHold> {
  const {
    zone,
    kind: _kind,
    removals,
    removal_count,
    evidence: _evidence,
    ...hold
  } = present((await findZoneHold(trx, id))!)
  const items = removals.slice(0, holdMessageItemsMax)
  return { ...hold, subject: zone?.name ?? '', items, item_count: removal_count }
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
