// Exports what is stored about an account as one document: its lists are limited, so that it fits in an answer.
import type { AccountExport } from '@pharos/contract/session/personal-data'
import { auditOf, writeAudit, type AuditEntry } from '../db/audit.ts'
import { withPersonalTexts } from '../db/audit-addresses.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import type { Operation } from '../operation/operation.ts'
import {
  findProfile,
  listCreatedTokens,
  listLinkedIdentities,
  listMemberships,
  listNotificationSettings,
  listOwnEntries,
  listOwnViews,
  listStoredSessions,
} from './account-export.store.ts'
import { findAccountByEmail } from './account.store.ts'
import { listUserPasskeys } from './passkey.store.ts'
import { sessionOver } from './replace-sessions.ts'
import { userIdOf } from './require-user.ts'

type Deps = { readonly db: Db }

export async function exportAccount({ db }: Deps, operation: Operation): Promise<AccountExport> {
  const userId = userIdOf(operation)
  const exported = await readAccount(db, userId, auditOf(operation))
  if (!exported) throw sessionOver()
  return exported
}

/** For the operator, on request of the person. Throws `not_found`. */
export async function exportAccountOf(db: Db, email: string): Promise<AccountExport> {
  const account = await findAccountByEmail(db, email)
  const exported = account && (await readAccount(db, account.id, { teamId: null, actor: 'operator' }))
  if (!exported) throw notFound(`user ${email}`)
  return exported
}

/** All parts are of one moment, before the entry that records the export. */
function readAccount(
  db: Db,
  userId: number,
  author: Pick<AuditEntry, 'teamId' | 'actor'>,
): Promise<AccountExport | undefined> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const exported = await readParts(trx, userId)
      if (exported) await writeAudit(trx, { ...author, action: 'account.export', target: `user:${userId}` })
      return exported
    })
}

async function readParts(trx: Trx, userId: number): Promise<AccountExport | undefined> {
  const profile = await findProfile(trx, userId)
  if (!profile) return undefined
  const [sessions, entries] = [await listStoredSessions(trx, userId), await listOwnEntries(trx, userId)]
  const passkeys = await listUserPasskeys(trx, userId)
  return {
    exported: new Date().toISOString(),
    profile: withTimes(profile),
    memberships: (await listMemberships(trx, userId)).map(withTimes),
    identities: (await listLinkedIdentities(trx, userId)).map(withTimes),
    passkeys: passkeys.map(({ name, relying_party: host, created, last_used }) =>
      withTimes({ name, host, created, last_used }),
    ),
    sessions: sessions.map(({ count: _count, ...one }) => withTimes(one)),
    session_count: sessions[0]?.count ?? 0,
    api_tokens: (await listCreatedTokens(trx, userId)).map(withTimes),
    notification_settings: await listNotificationSettings(trx, userId),
    saved_views: (await listOwnViews(trx, userId)).map(withTimes),
    audit_entries: (await withPersonalTexts(trx, null, entries)).map(({ count: _count, ...one }) =>
      withTimes(one),
    ),
    audit_count: entries[0]?.count ?? 0,
  }
}

type WithTimes<Row> = {
  [Name in keyof Row]: Row[Name] extends Date
    ? string
    : Row[Name] extends Date | null
      ? string | null
      : Row[Name]
}

/** Returns the row with its times as text. */
const withTimes = <Row extends object>(row: Row): WithTimes<Row> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as WithTimes<Row>
