// The messages that a month of a service was closed, or a bill of it corrected: to the team and to the operator. Pure.
import type { BillablePort } from '@pharos/contract/inventory/bill'
import type { MessageData } from '@pharos/contract/messages/webhook-message'
import type { NewMessage, NewOperatorMessage } from '../../outbox/outbox.ts'

type Billed = {
  readonly id: number
  readonly teamId: number
  /** Null: the team was deleted, and only the operator gets the message. */
  readonly teamName: string | null
  readonly name: string
  readonly billingRef: string
}

export function billedMessages(
  { id, teamId, teamName, name, billingRef }: Billed,
  month: string,
  bills: readonly (BillablePort & { readonly bill_id: number })[],
  { now, corrects }: { readonly now: Date; readonly corrects: number | null },
): (NewMessage | NewOperatorMessage)[] {
  const type = 'service.billed' as const
  const data: MessageData<typeof type> = {
    service_id: id,
    name,
    team: { id: teamId, name: teamName ?? '' },
    billing_ref: billingRef,
    period: month,
    ports: bills.map((bill) => ({
      bill_id: bill.bill_id,
      port_id: bill.port_id,
      name: bill.name,
      circuit_id: bill.circuit_id,
      billable_bps: bill.billable_bps,
      billable_octets: bill.billable_octets,
      overage_bps: bill.overage_bps,
      overage_octets: bill.overage_octets,
      currency: bill.price?.currency ?? null,
      amount: bill.price?.amount ?? null,
      credit_note: bill.credit_note,
    })),
    corrects,
    at: now.toISOString(),
  }
  return [...(teamName === null ? [] : [{ teamId, type, data }]), { teamId: null, type, data }]
}
