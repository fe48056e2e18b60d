// Mails to staff and messages to the operator's webhook about holds of DNS and shield, from their rows: what a loop opened, decided or closed
// is reported later by this one, and no crash loses a report. Holds that are due together are one mail.
import type { MessageData, StaffHoldArea } from '@pharos/contract/webhook-message'
import type { Trx } from '../db/postgres.ts'
import { writeMessages } from '../outbox/outbox.ts'
import { lockDueAlerts, saveAlerted, type DueAlert } from './hold-alerts.store.ts'
import { nextAlertMinutes, queueStaffMail, type AlertDeps } from './staff-mail.ts'

/** How staff recognise a hold. */
export type DescribedHold = Omit<MessageData<'staff_hold.opened'>, 'area'>

export type AlertedArea = {
  readonly name: StaffHoldArea
  readonly describe: (trx: Trx, id: number) => Promise<DescribedHold>
}

export type StaffHoldAlert = {
  readonly area: StaffHoldArea
  readonly ids: readonly number[]
  /** Number of recipients of the mail. */
  readonly recipients: number
}

/** The most holds of one mail. */
const holdsMax = 50

/** Sends everything that is due of the area. Any number of processes may run it. */
export async function sendStaffHoldAlerts(
  deps: AlertDeps<StaffHoldAlert>,
  area: AlertedArea,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const due = await deps.db.transaction().execute((trx) => alertBatch(deps, area, trx))
    if (due < holdsMax) return
  }
}

async function alertBatch(deps: AlertDeps<StaffHoldAlert>, area: AlertedArea, trx: Trx): Promise<number> {
  const due = await lockDueAlerts(trx, area.name, holdsMax)
  const mailed: { due: DueAlert; hold: DescribedHold }[] = []
  for (const one of due) {
    const hold = await area.describe(trx, one.id)
    const type = typeOf(one)
    if (type) await writeMessages(trx, [{ teamId: null, type, data: { area: area.name, ...hold } }])
    if (one.isOpen && one.inherited === null) mailed.push({ due: one, hold })
    await saveAlerted(trx, area.name, one, nextAlertMinutes(one.isReminder))
  }
  if (mailed.length > 0) await mail(deps, area, trx, mailed)
  return due.length
}

/** Undefined: it ended before anybody heard of it. */
function typeOf({ isOpen, isReminder }: DueAlert) {
  if (isOpen) return isReminder ? 'staff_hold.reminder' : 'staff_hold.opened'
  return isReminder ? 'staff_hold.decided' : undefined
}

async function mail(
  deps: AlertDeps<StaffHoldAlert>,
  { name: area }: AlertedArea,
  trx: Trx,
  holds: readonly { readonly due: DueAlert; readonly hold: DescribedHold }[],
): Promise<void> {
  const content = {
    area,
    isReminder: holds.every(({ due }) => due.isReminder),
    holds: holds.map(({ hold: { id, subject, team, detail, created, items, item_count } }) => ({
      id,
      subject,
      team: team?.name ?? null,
      detail,
      at: created,
      items: [...items],
      itemCount: item_count,
    })),
    link: `${deps.publicUrl}/staff/inbox`,
  }
  const recipients = await queueStaffMail(deps, trx, 'staff-holds-open', content)
  deps.onAlert({ area, ids: holds.map(({ hold }) => hold.id), recipients })
}
