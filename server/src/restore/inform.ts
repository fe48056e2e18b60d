// The mail to staff about a restore: the only mail that is sent while it is open.
import type { Trx } from '../db/postgres.ts'
import { queueStaffMail, type StaffMailDeps } from '../mail/staff-mail.ts'
import { restoreReasons } from '@pharos/contract/operator/restore'
import { notFound } from '../runtime/error.ts'
import { findRestore } from './restore.store.ts'

/** Mails that are sent while a restore is open. */
export const restoreTemplates = ['restore-open'] as const

export const informStaff =
  (deps: StaffMailDeps & { readonly publicUrl: string }) =>
  async (trx: Trx, id: number): Promise<void> => {
    const row = await findRestore(trx, id)
    if (!row) throw notFound('restore')
    const content = {
      id,
      at: row.detected.toISOString(),
      detail: restoreReasons[row.reason],
      link: `${deps.publicUrl}/staff/restore`,
    }
    await queueStaffMail(deps, trx, 'restore-open', content)
  }
