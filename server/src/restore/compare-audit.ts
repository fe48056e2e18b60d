// The entries of a copy of the audit log that a restored database lacks: tokens that work again, members that are back.
import { sql } from 'kysely'
import { findEntryIds, findExpiry } from '../audit/seal.store.ts'
import type { Db } from '../db/postgres.ts'

export type CopiedEntry = {
  readonly id: number
  /** ISO 8601. */
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Parses one JSON object on each line; throws with the number of the first line that is not an entry. */
export function parseEntries(text: string): CopiedEntry[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    const entry = parseEntry(line)
    if (entry) return [entry]
    throw new Error(`Line ${at + 1} is no audit entry with id, at, actor, action and target.`)
  })
}

function parseEntry(line: string): CopiedEntry | undefined {
  try {
    const entry = JSON.parse(line) as CopiedEntry
    const { id, at, actor, action, target } = entry
    const isEntry =
      Number.isSafeInteger(id) && [at, actor, action, target].every((one) => typeof one === 'string')
    return isEntry && !Number.isNaN(Date.parse(at)) ? entry : undefined
  } catch {
    return undefined
  }
}

/** Actions whose loss restores revoked access or a replaced secret, with the action to repeat. */
export const accessEffects: Readonly<Record<string, string>> = {
  'api_token.revoke': 'the token works again: revoke it',
  'staff_token.revoke': 'the token works again: revoke it',
  'member.remove': 'the user is a member again: remove them',
  'member.update': 'the user has the former role again: change it',
  'invitation.withdraw': 'the invitation can be accepted again: withdraw it',
  'password.change': 'the former password works again: the user must change it',
  'password.reset': 'the former password works again: the user must reset it',
  'email.change': 'the former address signs in and gets mails again: the user must change it',
  'totp.enable': 'the user signs in without a second factor again',
  'totp.reset': 'the former second factor works again: reset it',
  'totp.disable': 'the former second factor is required again',
  'passkey.add': 'the passkey no longer signs in: the user must add it again',
  'passkey.delete': 'the passkey signs in again: the user must remove it',
  'recovery_codes.renew': 'the former recovery codes work again: the user must renew them',
  'account.delete': 'the account and its addresses are back: delete it again with pharos user delete',
  'identity.unlink': 'the identity signs in again: the user must remove it',
  'provider.update': 'the former settings are back: change them again',
  'provider.delete': 'the identity provider signs in again: delete it',
  'session.recover': 'the recovery code works again: create new ones',
  'sign_in.policy': 'the team is opened as before the change: set the policy again',
  'sign_in.recovery_codes': 'the former recovery codes of the team work again: create new ones',
  'webhook.rotate_secret': 'the former secret signs again: rotate it',
  'membership.delete': 'the user is a member again: run pharos apply',
  'membership.update': 'the user has the former role again: run pharos apply',
  'user.delete': 'the account is back: run pharos apply',
  'source.update': 'the former secret and settings are back: run pharos apply',
  'source.delete': 'its deliveries are accepted again: run pharos apply',
  'staff_sign_in.update': 'staff sign in as before the change: run pharos apply',
  'staff_sign_in.delete': 'staff sign in as before the change: run pharos apply',
  'tsig_key.update': 'the former secret works again: run pharos apply',
  'tsig_key.delete': 'the key works again: run pharos apply',
  'credential.update': 'the former SNMP secrets are used again: run pharos apply',
}

type MissingEntry = CopiedEntry & {
  /** A name or an address from the entry, for people. */
  readonly label: string | undefined
  readonly effect: string | undefined
}

export type MissingEntries = {
  readonly missing: readonly MissingEntry[]
  /** Entries of the copy that the retention has deleted from the database. */
  readonly expired: number
}

/** Returns the entries that the database lacks, entries about access first, then in the order of their ids. */
export async function listMissingEntries(db: Db, entries: readonly CopiedEntry[]): Promise<MissingEntries> {
  const { rows } = await sql<Stored>`
    select id, at, action, target from audit_entries where id = any(${entries.map(({ id }) => id)}::bigint[])`.execute(
    db,
  )
  // The restored database gives the numbers of lost entries to new ones, which may be about the same action.
  const present = new Set(rows.map(keyOf))
  const absent = entries.filter((entry) => !present.has(keyOf({ ...entry, at: new Date(entry.at) })))
  const firstKept = (await findExpiry(db)) ? ((await findEntryIds(db))?.first ?? 0) : 0
  const missing = absent
    .filter(({ id }) => id >= firstKept)
    .map((entry) => ({ ...entry, label: labelOf(entry), effect: accessEffects[entry.action] }))
    .toSorted((a, b) => Number(b.effect !== undefined) - Number(a.effect !== undefined) || a.id - b.id)
  return { missing, expired: absent.length - missing.length }
}

type Stored = Pick<CopiedEntry, 'id' | 'action' | 'target'> & { readonly at: Date }

/** Copies have milliseconds or microseconds. */
const keyOf = ({ id, at, action, target }: Stored): string => `${id} ${at.getTime()} ${action} ${target}`

function labelOf({ before, after }: CopiedEntry): string | undefined {
  const found = [before, after].flatMap((state) => {
    const { email, name, slug } = Object(state) as Record<string, unknown>
    return [email, name, slug].filter((one) => typeof one === 'string')
  })
  return found[0]
}
