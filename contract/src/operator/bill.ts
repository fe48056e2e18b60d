// The closed bills of all teams for staff: as a list and as a file.
import { Type, type Static } from 'typebox'
import { BillingPeriod, Month } from '../inventory/bill.ts'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Id,
  Limit,
  Nullable,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
} from '../scalar.ts'

export const StaffBill = Component('StaffBill', {
  team_id: { ...Id, description: 'id of the team' },
  team: Nullable(Type.String({ description: 'slug of the team; null if it was deleted' })),
  service_id: { ...Id, description: 'id of the service, which may have been deleted' },
  service: Type.String({ description: 'name of the service when the month was closed' }),
  billing_ref: Type.String({ description: 'the reference on invoices; empty if it has none' }),
  ...BillingPeriod.properties,
})
export type StaffBill = Static<typeof StaffBill>

const staffFilters = {
  team_id: Optional(Repeatable({ ...Id, description: 'id of the team' })),
  service_id: Optional(Repeatable({ ...Id, description: 'id of the service' })),
  current: Optional(
    Type.Boolean({ description: 'true: without bills that were corrected; false: only these' }),
  ),
  needs_decision: Optional(
    Type.Boolean({ description: 'true: only bills that need a decision of the provider; false: all others' }),
  ),
}

const ofAll =
  'The closed bills of all teams, also of services and teams that were deleted. A correction is a bill that names the one that it replaces; its ' +
  '`credit_note` has the difference in figures and money. '

export const listStaffBillsRoute = route({
  name: 'listBillsOfAll',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/inventory/bills',
  summary: 'List bills of all teams',
  description: `${ofAll}The operator webhook gets \`service.billed\` for each month of a service that is closed and for each correction.`,
  permission: staffReading('customers.see'),
  query: Strict({
    period: Optional(Month('a month such as 2026-03; by default all months')),
    ...staffFilters,
    ordering: Ordering(['period', 'team', 'service', 'closed'], '-period,team,service'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(StaffBill),
  success: 200,
})

/** Columns of the bills file. Columns that are not fields of the bill are derived from its price and credit note. */
export const billFileColumns = [
  'period',
  'bill_id',
  'team_id',
  'team',
  'service_id',
  'service',
  'billing_ref',
  'port_id',
  'name',
  'circuit_id',
  'billing_method',
  'direction',
  'scope',
  'commit_scope',
  'commit_bps',
  'included_octets',
  'billable_bps',
  'billable_octets',
  'overage_bps',
  'overage_octets',
  'currency',
  'amount',
  'samples',
  'missing_samples',
  'problem',
  'review',
  'period_start',
  'period_end',
  'timezone',
  'closed',
  'corrects',
  'corrected_by',
  'correction_reason',
  'credit_bps',
  'credit_octets',
  'credit_amount',
  'samples_sha256',
] as const

export const exportStaffBillsRoute = route({
  name: 'exportBillsOfAll',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/inventory/bills/csv',
  summary: 'Download bills of all teams as CSV',
  description:
    `${ofAll}All bills of a month that match, as CSV (RFC 4180), one line each, with the columns ${billFileColumns.map((name) => `\`${name}\``).join(', ')}. ` +
    'Values that are not known are empty. `credit_` columns are the differences of the credit note. The lines of a price are in listBillsOfAll.',
  permission: staffReading('customers.see'),
  query: Strict({ period: Month('a month such as 2026-03'), ...staffFilters }),
  success: 200,
  download: ['text/csv'],
})

export const adminBillRoutes = [listStaffBillsRoute, exportStaffBillsRoute]
