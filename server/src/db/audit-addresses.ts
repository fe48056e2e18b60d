// Addresses and names of people in the audit log. Entries are sealed and cannot change: they contain keys of rows of audit_addresses, which are
// emptied when the account is deleted. Entries of releases before this contain the texts themselves.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Trx } from './postgres.ts'

/** Names of fields, at the top of `before` and `after`, whose text or texts are about a person. */
const personal = new Set([
  'email',
  'requested',
  'user',
  'username',
  'first_name',
  'last_name',
  'display_name',
  'invitations_withdrawn',
])

/** What an entry contains in place of a text. No user can write it: fields that users write are texts, not objects. */
type Reference = { readonly audit_address: string }

export type PersonalText = {
  readonly key: string
  readonly team_id: number | null
  readonly user_id: number | null
  readonly value: string
}

type States = { readonly target: string; readonly before?: unknown; readonly after?: unknown }
type Fields = Readonly<Record<string, unknown>>

/** Returns the entry with references in place of personal texts, and the texts. Those of an account are erased with it. */
export function takePersonalTexts<E extends States & { readonly teamId: number | null }>(
  entry: E,
): { readonly entry: E; readonly texts: readonly PersonalText[] } {
  const texts: PersonalText[] = []
  const subject = subjectOf(entry)
  const take = (value: unknown, isListed: boolean): unknown => {
    if (typeof value !== 'string' || value === '') return value
    const key = randomBytes(12).toString('base64url')
    // A list has addresses of other people.
    texts.push({ key, team_id: entry.teamId, user_id: isListed ? null : subject, value })
    return { audit_address: key } satisfies Reference
  }
  const replaced = (state: unknown): unknown => mapFields(state, take, (name) => personal.has(name))
  const [before, after] = [replaced(entry.before), replaced(entry.after)]
  return { entry: texts.length === 0 ? entry : { ...entry, before, after }, texts }
}

/** The account that an entry is about: its target, or `user_id` of what it contains. */
function subjectOf({ target, before, after }: States): number | null {
  const [, number] = /^user:(\d{1,9})$/.exec(target) ?? []
  const named = number ?? fieldsOf(after)?.['user_id'] ?? fieldsOf(before)?.['user_id']
  return Number.isSafeInteger(Number(named ?? NaN)) ? Number(named) : null
}

/** Returns the entries with their texts; null in place of an erased one. Without a team: entries of all teams, for staff and for their author. */
export async function withPersonalTexts<E extends { readonly before: unknown; readonly after: unknown }>(
  db: Db | Trx,
  teamId: number | null,
  entries: readonly E[],
): Promise<E[]> {
  const keys = entries.flatMap(({ before, after }) => [...keysIn(before), ...keysIn(after)])
  if (keys.length === 0) return [...entries]
  const ofTeam = teamId === null ? sql`true` : sql`team_id = ${teamId}`
  const { rows } = await sql<{ key: string; value: string | null }>`
    select key, value from audit_addresses where key = any(${keys}::text[]) and ${ofTeam}`.execute(db)
  const values = new Map(rows.map(({ key, value }) => [key, value]))
  const filled = (state: unknown): unknown =>
    mapFields(state, (value) => (isReference(value) ? (values.get(value.audit_address) ?? null) : value))
  return entries.map((entry) => ({ ...entry, before: filled(entry.before), after: filled(entry.after) }))
}

const keysIn = (state: unknown): string[] =>
  Object.values(fieldsOf(state) ?? {})
    .flat()
    .flatMap((value) => (isReference(value) ? [value.audit_address] : []))

const isReference = (value: unknown): value is Reference =>
  typeof fieldsOf(value)?.['audit_address'] === 'string'

/** Maps the values of the fields, and each element of a list. */
function mapFields(
  state: unknown,
  map: (value: unknown, isListed: boolean) => unknown,
  isMapped: (name: string) => boolean = () => true,
): unknown {
  const fields = fieldsOf(state)
  if (!fields) return state
  const mapped = (value: unknown) =>
    Array.isArray(value) ? value.map((one) => map(one, true)) : map(value, false)
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isMapped(name) ? mapped(value) : value]),
  )
}

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
    ? (value as Fields)
    : undefined

/** Empties the texts about an account, also those of entries that name it only by its address. */
export async function erasePersonalTexts(trx: Trx, userId: number, email: string): Promise<void> {
  await sql`
    update audit_addresses set value = null, erased = now()
    where erased is null and (user_id = ${userId} or lower(value) = lower(${email}))`.execute(trx)
}

/** For entries that the retention deletes. */
export async function deletePersonalTexts(trx: Trx, before: Date): Promise<void> {
  await sql`delete from audit_addresses where at < ${before}`.execute(trx)
}
