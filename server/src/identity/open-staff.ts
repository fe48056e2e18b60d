// Gives staff their rights without their identity provider, for the operator on the command line.
import { writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { openStaffSignIn } from './staff-sign-in.store.ts'

/** Returns whether it was required before. */
export const openStaff = (db: Db): Promise<boolean> =>
  db.transaction().execute(async (trx) => {
    if (!(await openStaffSignIn(trx))) return false
    await writeAudit(trx, {
      teamId: null,
      actor: 'operator',
      action: 'sign_in.policy',
      target: 'staff_sign_in:staff_sign_in',
      before: { policy: 'required' },
      after: { policy: 'optional' },
    })
    return true
  })
