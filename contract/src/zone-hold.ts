// Holds of DNS: removals of records or zones that wait for a decision of the provider's staff.
import { Type, type Static } from 'typebox'
import { decidingHold, holdListQuery, holdStateFields, readingHold } from './hold.ts'
import { route, staffReading } from './route.ts'
import {
  Component,
  Enumeration,
  Id,
  Nullable,
  Optional,
  Page,
  Repeatable,
  Strict,
  TeamReference,
} from './scalar.ts'

/** `publish`: of a zone; `catalog`: of zones from all name servers; `shrink`: a secondary zone by its primary. */
export const zoneHoldKinds = ['publish', 'catalog', 'shrink'] as const
export type ZoneHoldKind = (typeof zoneHoldKinds)[number]

/** Reasons why removals wait for staff: codes with the sentence shown for each. */
export const zoneHoldReasons = {
  unexplained_removals: 'No version of the zone itemises these removals.',
  apex_removed: 'The SOA or NS records of the zone itself would be removed, which is never published.',
  many_removals: 'More zones than usual would leave the name servers within ten minutes.',
  catalog_empty: 'The last zones would leave the name servers.',
  transfer_shrinks: 'The primary server sends less than half of the names of the zone.',
} as const
export type ZoneHoldReason = keyof typeof zoneHoldReasons
const reasonNames = Object.keys(zoneHoldReasons) as [ZoneHoldReason, ...ZoneHoldReason[]]

/** Most removals that one answer lists. */
export const zoneHoldRemovalsMax = 1000

export const HoldEvidence = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'changes with the list of removals: a decision names what was shown',
})

export const ZoneHold = Component('ZoneHold', {
  id: { ...Id, description: 'id of the hold' },
  kind: {
    ...Enumeration('ZoneHoldKind', zoneHoldKinds),
    description:
      '`publish`: records of a zone; `catalog`: whole zones, which the name servers would stop to serve; `shrink`: names of a ' +
      'secondary zone, by a transfer from its primary',
  },
  zone: Nullable(
    Component('ZoneReference', {
      id: Id,
      name: Type.String({ description: 'name of the zone, without the trailing dot' }),
    }),
  ),
  team: Nullable(TeamReference),
  reason: { ...Enumeration('ZoneHoldReason', reasonNames), description: 'code of the reason' },
  detail: Type.String({ description: 'the reason as text' }),
  removals: Type.Array(Type.String(), {
    description: `record sets (\`www.example.com. A\`), zones or names that would no longer be served; the first ${zoneHoldRemovalsMax}`,
  }),
  removal_count: Type.Integer({ minimum: 0, description: 'number of removals' }),
  evidence: HoldEvidence,
  ...holdStateFields,
})
export type ZoneHold = Static<typeof ZoneHold>

export const listZoneHoldsRoute = route({
  name: 'listZoneHolds',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/zone-holds',
  summary: 'List zone holds',
  description:
    'Removals of records and zones that need approval, since no request explains them or too many zones are deleted at once. What they ' +
    'would remove is served meanwhile. Newest first by default.',
  permission: staffReading,
  query: Strict({
    kind: Optional(Repeatable(Enumeration('ZoneHoldKind', zoneHoldKinds))),
    ...holdListQuery,
  }),
  response: Page(ZoneHold),
  success: 200,
})

export const getZoneHoldRoute = route({
  ...readingHold,
  name: 'getZoneHold',
  path: '/v3/admin/zone-holds/{hold_id}',
  summary: 'Get zone hold',
  description: 'Returns one hold of DNS.',
  response: ZoneHold,
  conditional: true,
})

export const approveZoneHoldRoute = route({
  ...decidingHold,
  name: 'approveZoneHold',
  path: '/v3/admin/zone-holds/{hold_id}/approve',
  summary: 'Approve zone hold',
  description:
    'Allows exactly the listed removals, which are published at once. `evidence` is that of the hold as it was read: 409 if the list has ' +
    'changed since; approving the removal of the SOA or NS records of a zone is 409 too. Approving twice changes nothing.',
  query: Strict({ evidence: HoldEvidence }),
  response: ZoneHold,
})

export const rejectZoneHoldRoute = route({
  ...decidingHold,
  name: 'rejectZoneHold',
  path: '/v3/admin/zone-holds/{hold_id}/reject',
  summary: 'Reject zone hold',
  description:
    'Keeps everything listed served as it is, and does not ask about exactly these removals again. `evidence` is that of the hold as it was ' +
    'read: 409 if the list has changed since. Rejecting twice changes nothing.',
  query: Strict({ evidence: HoldEvidence }),
  response: ZoneHold,
})

export const zoneHoldRoutes = [
  listZoneHoldsRoute,
  getZoneHoldRoute,
  approveZoneHoldRoute,
  rejectZoneHoldRoute,
]
