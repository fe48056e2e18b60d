// Mails to staff about open holds: one when a hold opens, reminders while it stays open. The due time of the next mail is
// stored in the hold, so it survives a crash of the process that opened the hold. Decisions are made elsewhere.
import type { Trx } from '../../db/postgres.ts'
import { nextAlertMinutes, queueStaffMail, type AlertDeps } from '../../hold/staff-mail.ts'
import { addHoldMessage, describeHold } from './hold.ts'
import { lockDueAlert, saveAlerted } from './hold.store.ts'

export type HoldAlert = {
  readonly id: number
  readonly region: string
  readonly isReminder: boolean
  /** Number of recipients of the mail. */
  readonly recipients: number
}

/** Queues the mails that are due. Any number of processes may run it. */
export async function sendHoldAlerts(deps: AlertDeps<HoldAlert>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const alert = await deps.db.transaction().execute((trx) => alertNext(deps, trx))
    if (!alert) return
    deps.onAlert(alert)
  }
}

async function alertNext(deps: AlertDeps<HoldAlert>, trx: Trx): Promise<HoldAlert | undefined> {
  const due = await lockDueAlert(trx)
  if (!due) return undefined
  const { id, isReminder } = due
  const hold = await describeHold(trx, id)
  const { region, detail, created, withdrawal_count: withdrawals, change_count: changes } = hold
  const content = {
    id,
    region,
    isReminder,
    at: created,
    detail,
    withdrawals,
    changes,
    teams: hold.teams.map(({ team, withdrawal_count: count }) => ({ team: team?.name ?? null, count })),
    items: hold.withdrawals.map(({ cidr, team, requested_by, requested_by_name, requested_at }) => ({
      cidr,
      team: team?.name ?? null,
      requestedBy: requested_by_name ?? requested_by,
      requestedAt: requested_at,
    })),
    link: `${deps.publicUrl}/staff/holds`,
  }
  const recipients = await queueStaffMail(deps, trx, 'hold-open', content)
  if (isReminder) await addHoldMessage(trx, 'hold.reminder', id)
  await saveAlerted(trx, id, nextAlertMinutes(isReminder))
  return { id, region, isReminder, recipients }
}
