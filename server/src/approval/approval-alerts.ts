// Mails to staff about open approvals: one when an approval opens, reminders while it stays open. The time of the next
// mail is in the row, so that it survives a crash of the process that opened the approval. Mails due together are
// combined. Decisions are made elsewhere.
import type { Db, Trx } from '../db/postgres.ts'
import type { MailContents } from '../mail/mail.ts'
import { queueStaffMail, type StaffMailDeps } from '../mail/staff-mail.ts'
import { describeApproval, writeApprovalMessages } from './approval.ts'
import { findApproval, lockDueAlerts, saveAlerted } from './approval.store.ts'
import type { ApprovalAreas } from './area.ts'

export type ApprovalAlert = {
  readonly ids: readonly number[]
  /** Number of recipients of the mail. */
  readonly recipients: number
}

export type AlertDeps = StaffMailDeps & {
  readonly db: Db
  readonly areas: ApprovalAreas
  /** Without a trailing path. */
  readonly publicUrl: string
  readonly onAlert: (alert: ApprovalAlert) => void
}

/** The most approvals of one mail. */
const approvalsMax = 50

/** Minutes until the next mail about an open approval: after its first one, and after a reminder. */
const reminderMinutes = [30, 240] as const

/** Queues the mails that are due. Any number of processes may run it. */
export async function sendApprovalAlerts(deps: AlertDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const due = await deps.db.transaction().execute((trx) => alertBatch(deps, trx))
    if (due < approvalsMax) return
  }
}

async function alertBatch(deps: AlertDeps, trx: Trx): Promise<number> {
  const due = await lockDueAlerts(trx, approvalsMax)
  if (due.length === 0) return 0
  const approvals: MailContents['approval-open']['approvals'][number][] = []
  for (const { id, isReminder } of due) {
    const area = deps.areas[(await findApproval(trx, id))!.area]
    approvals.push(contentOf(await describeApproval(trx, area, id)))
    if (isReminder) await writeApprovalMessages(trx, area, 'approval.reminder', [id])
  }
  const isReminder = due.every((one) => one.isReminder)
  const link = `${deps.publicUrl}/staff/inbox`
  const recipients = await queueStaffMail(deps, trx, 'approval-open', { isReminder, approvals, link })
  const ids = due.map(({ id }) => id)
  await saveAlerted(trx, ids, reminderMinutes)
  deps.onAlert({ ids, recipients })
  return due.length
}

type Described = Awaited<ReturnType<typeof describeApproval>>

const contentOf = ({
  id,
  area,
  subject,
  team,
  detail,
  created,
  item_count,
  items,
  teams,
}: Described): MailContents['approval-open']['approvals'][number] => ({
  id,
  area,
  subject: subject.name,
  team: team?.name ?? null,
  detail,
  at: created,
  itemCount: item_count,
  teams: teams.map(({ team, withdrawal_count }) => ({ team: team?.name ?? null, count: withdrawal_count })),
  items: items.map(({ change, value, router, team, requested }) => ({
    change,
    value,
    router,
    team: team?.name ?? null,
    requestedBy: requested?.by_name ?? requested?.by ?? null,
    requestedAt: requested?.at ?? null,
  })),
})
