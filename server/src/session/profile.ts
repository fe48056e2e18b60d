// The profile of the user's own account.
import type { User } from '@pharos/contract/session/session'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import { fail } from '../runtime/error.ts'
import { requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { userEtag } from './tokens.ts'
import { findUser, lockProfile, saveProfile, type Profile } from './account.store.ts'
import { requireUser } from './require-user.ts'

/** Omitted fields are unchanged. A patch without a change is not audited. */
export async function updateUser(
  { db }: { readonly db: Db },
  operation: Operation,
  patch: Partial<Profile>,
): Promise<ChangeAnswer<User>> {
  const { userId, teamId } = requireUser(operation)
  return runOwnerChange(db, operation, async (trx) => {
    const before = await lockProfile(trx, userId)
    const seen = before && (await findUser(trx, userId, teamId))
    if (!seen) throw sessionOver()
    requireMatch(operation.ifMatch, `"${userEtag(seen)}"`)
    const after = { ...before, ...patch }
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      await saveProfile(trx, userId, after)
      const entry = { ...auditOf(operation), action: 'user.update', target: `user:${userId}` }
      await writeAudit(trx, { ...entry, before, after })
    }
    const user = await findUser(trx, userId, teamId)
    if (!user) throw sessionOver()
    return { body: user, etag: `"${userEtag(user)}"` }
  })
}

const sessionOver = () => fail('unauthenticated', 'sessionEnded')
