// The message that a month of a service was closed, or a bill of it corrected. Pure.
import type { BillablePort } from '@pharos/contract/bill'

type Billed = {
  readonly id: number
  readonly teamId: number
  readonly name: string
  readonly billingRef: string
}

export const billedMessage = (
  { id, teamId, name, billingRef }: Billed,
  month: string,
  bills: readonly BillablePort[],
  { now, corrects }: { readonly now: Date; readonly corrects: number | null },
) => ({
  teamId,
  type: 'service.billed' as const,
  data: {
    service_id: id,
    name,
    billing_ref: billingRef,
    period: month,
    ports: bills.map(({ port_id, name: port, circuit_id, billable_bps, billable_octets, overage_bps }) => ({
      port_id,
      name: port,
      circuit_id,
      billable_bps,
      billable_octets,
      overage_bps,
    })),
    corrects,
    at: now.toISOString(),
  },
})
