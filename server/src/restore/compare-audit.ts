// The entries of a copy of the audit log that a restored database lacks: tokens that work again, members that are back.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

type CopiedEntry = {
  readonly id: number
  /** ISO 8601. */
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly target: string
}

/** Parses one JSON object on each line; throws with the number of the first line that is not an entry. */
export function parseEntries(text: string): CopiedEntry[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    try {
      const entry = JSON.parse(line) as CopiedEntry
      if (
        !Number.isInteger(entry.id) ||
        Number.isNaN(Date.parse(entry.at)) ||
        typeof entry.action !== 'string'
      )
        throw new Error('not an entry')
      return [entry]
    } catch {
      throw new Error(`Line ${at + 1} is no audit entry with id, at, actor, action and target.`)
    }
  })
}

/** Actions whose loss gives somebody access that was taken away. */
const isAccess = ({ action }: CopiedEntry): boolean =>
  /^(?:api_?token|token|staff_token|member|session|user|totp|tsig|key|invitation|second_factor)/.test(
    action,
  ) || /(?:revoke|remove|delete|rotate|disable)/.test(action)

/** Returns the entries that the database does not have, those about access first, then in the order of their ids. */
export async function listMissingEntries(db: Db, entries: readonly CopiedEntry[]): Promise<CopiedEntry[]> {
  const { rows } = await sql<{ id: number; action: string }>`
    select id, action from audit_entries where id = any(${entries.map(({ id }) => id)}::bigint[])`.execute(db)
  // The restored database gives the numbers of lost entries to new ones.
  const present = new Set(rows.map(({ id, action }) => `${id} ${action}`))
  const missing = entries.filter(({ id, action }) => !present.has(`${id} ${action}`))
  return missing.toSorted((a, b) => Number(isAccess(b)) - Number(isAccess(a)) || a.id - b.id)
}
