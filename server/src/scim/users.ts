// Users of SCIM: what an identity provider creates, replaces, changes and deletes. The answer never tells whether an account exists.
import { sql } from 'kysely'
import { analyzeGrown } from '../db/analyze-grown.ts'
import { withAuditAtEnd, writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Db, Postgres, Trx } from '../db/postgres.ts'
import { domainOfEmail } from '../team/domain-name.ts'
import { lockTeamRow } from '../team/team-lock.store.ts'
import { ScimError } from './error.ts'
import { parseFilter, type FilterTerm } from './filter.ts'
import { isUuid } from './group.ts'
import { parsePatch } from './patch.ts'
import { provision, type Author, type ProvisionDeps } from './provision.ts'
import {
  readProvisioned,
  saveAccountOf,
  saveIdentityAddress,
  withdrawInvitationsTo,
} from './provision.store.ts'
import {
  deleteUserRow,
  findScimUser,
  insertUser,
  isBoundDomain,
  isTaken,
  listUserRows,
  lockUserRow,
  saveUser,
  type ScimProvider,
  type ResourceSlice,
  type UserRow,
} from './scim.store.ts'
import { parseUser, patchUser, type UserFields } from './user.ts'

export type { ResourceSlice } from './scim.store.ts'

export type ScimDeps = ProvisionDeps & { readonly db: Db; readonly postgres: Postgres }

/** One request of an identity provider. */
export type ScimCall = {
  readonly provider: ScimProvider
  readonly author: Author
  /** The `If-Match` header. */
  readonly ifMatch: string | null
}

/** Rows of users that a provider may have, as a multiple of the members that a team may have: people who left are kept by Entra ID for 30 days. */
const usersPerMember = 5
/** Users after which the plans of the statements are checked: an identity provider sends thousands in a minute. */
const usersPerAnalyze = 100

export type FoundResources<Row> = { readonly page: readonly Row[]; readonly count: number }

export const listScimUsers = (
  { postgres }: ScimDeps,
  { provider }: ScimCall,
  filter: string | null,
  slice: ResourceSlice,
): Promise<FoundResources<UserRow>> =>
  listUserRows(postgres, provider, filter === null ? [] : parseFilter(filter).map(conditionOf), slice)

/** Throws ScimError for an attribute that cannot be searched. */
function conditionOf({ attribute, value }: FilterTerm) {
  if (attribute === 'active' && typeof value === 'boolean') return sql`s.active = ${value}`
  if (typeof value !== 'string') throw new ScimError('filterAttribute')
  switch (attribute) {
    case 'id':
      return isUuid(value) ? sql`s.id = ${value}::uuid` : sql`false`
    case 'username':
      return sql`lower(s.user_name) = lower(${value})`
    case 'externalid':
      return sql`s.external_id = ${value}`
    case 'displayname':
      return sql`lower(s.display_name) = lower(${value})`
    case 'emails':
    case 'emails.value':
      return sql`lower(s.email) = lower(${value})`
    default:
      throw new ScimError('filterAttribute')
  }
}

/** Throws ScimError. */
export async function getUser({ postgres }: ScimDeps, { provider }: ScimCall, id: string): Promise<UserRow> {
  const row = isUuid(id) ? await findScimUser(postgres, provider, id) : undefined
  if (!row) throw new ScimError('unknown')
  return row
}

/** Throws ScimError. */
export function createUser(deps: ScimDeps, call: ScimCall, body: unknown): Promise<UserRow> {
  const fields = parseUser(body)
  return change(deps, call, async (trx) => {
    const domain = domainOfEmail(fields.email)
    if (domain === undefined) throw new ScimError('domain')
    const usersMax = usersPerMember * deps.membersPerTeam
    const { row, count } = await insertUser(trx, call.provider, fields, domain, usersMax)
    await record(trx, call, 'create', row.id, { after: recordedOf(fields) })
    await provision(trx, deps, call.provider, call.author, [row.id])
    if (count % usersPerAnalyze === usersPerAnalyze - 1)
      await analyzeGrown(trx, ['users', 'memberships', 'scim_users'])
    return row
  })
}

export const replaceUser = (deps: ScimDeps, call: ScimCall, id: string, body: unknown): Promise<UserRow> =>
  update(deps, call, id, (before) => parseUser(body, before))

export function changeUser(deps: ScimDeps, call: ScimCall, id: string, body: unknown): Promise<UserRow> {
  const operations = parsePatch(body)
  return update(deps, call, id, (before) => patchUser(before, operations))
}

/** Throws ScimError. */
function update(
  deps: ScimDeps,
  call: ScimCall,
  id: string,
  changed: (before: UserFields) => UserFields,
): Promise<UserRow> {
  return change(deps, call, async (trx) => {
    const before = await lockUser(trx, call, id)
    const fields = await fittingFields(trx, call, before, changed(before))
    const isMoved = isOtherAddress(before, fields)
    if (isSame(before, fields)) {
      await provision(trx, deps, call.provider, call.author, [id])
      return before
    }
    const row = await saveUser(trx, call.provider, id, fields)
    await record(trx, call, 'update', id, { before: recordedOf(before), after: recordedOf(fields) })
    await provision(trx, deps, call.provider, call.author, [id])
    if (!fields.active && isMoved) await withdrawInvitationsTo(trx, call.provider.teamId, [before.email])
    await saveAccount(trx, call, id, fields, isMoved)
    return row
  })
}

const isOtherAddress = (a: UserFields, b: UserFields): boolean =>
  a.email.toLowerCase() !== b.email.toLowerCase()

/**
 * Whoever leaves is let go whatever has become of the domain and of the name, and keeps the former ones instead of an address elsewhere or what
 * another user has. Throws ScimError.
 */
async function fittingFields(
  trx: Trx,
  call: ScimCall,
  before: UserRow,
  fields: UserFields,
): Promise<UserFields> {
  if (fields.active) {
    const isChecked = isOtherAddress(before, fields) || !before.active
    if (isChecked && !(await isBound(trx, call, fields.email))) throw new ScimError('domain')
    return fields
  }
  const { user_name, email } = before
  const isElsewhere = isOtherAddress(before, fields) && !(await isBound(trx, call, fields.email))
  const leaving = isElsewhere ? { ...fields, email } : fields
  return (await isTaken(trx, call.provider, before.id, leaving)) ? { ...leaving, user_name, email } : leaving
}

const names = [
  'user_name',
  'external_id',
  'email',
  'display_name',
  'given_name',
  'family_name',
  'active',
] as const
const isSame = (a: UserFields, b: UserFields): boolean => names.every((name) => a[name] === b[name])

/** Only of accounts that nobody else decides on: without a password, a passkey and another team. */
async function saveAccount(
  trx: Trx,
  { provider }: ScimCall,
  id: string,
  { active }: UserFields,
  isMoved: boolean,
): Promise<void> {
  const [row] = await readProvisioned(trx, provider, [id])
  if (!active || !row || !row.is_linked || row.user_id === null || row.is_owned || !row.is_own) return
  await saveAccountOf(trx, provider, { ...row, user_id: row.user_id })
  if (isMoved) await saveIdentityAddress(trx, provider, row.user_id)
}

/** Ends the membership with everything that it holds, and forgets the user. Throws ScimError. */
export async function deleteScimUser(deps: ScimDeps, call: ScimCall, id: string): Promise<void> {
  await change(deps, call, async (trx) => {
    const before = await lockUser(trx, call, id)
    if (before.active) await saveUser(trx, call.provider, id, { ...before, active: false })
    await provision(trx, deps, call.provider, call.author, [id])
    await deleteUserRow(trx, call.provider, id)
    await record(trx, call, 'delete', id, { before: recordedOf(before) })
  })
}

/** The team is locked first, as by all changes of members. */
export const change = <T>(
  { db }: ScimDeps,
  { provider }: ScimCall,
  work: (trx: Trx) => Promise<T>,
): Promise<T> =>
  db.transaction().execute(async (trx) => {
    await lockTeamRow(trx, provider.teamId)
    return withAuditAtEnd(trx, () => work(trx))
  })

async function lockUser(trx: Trx, { provider, ifMatch }: ScimCall, id: string): Promise<UserRow> {
  const row = isUuid(id) ? await lockUserRow(trx, provider, id) : undefined
  if (!row) throw new ScimError('unknown')
  requireVersion(ifMatch, row.version)
  return row
}

export const versionOf = (version: number): string => `W/"${version}"`

/** Tags are compared as weak ones, since SCIM defines them so (RFC 7644, 3.14). Throws ScimError. */
export function requireVersion(ifMatch: string | null, version: number): void {
  if (ifMatch === null || ifMatch.trim() === '*') return
  const tags = ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (!tags.includes(`"${version}"`)) throw new ScimError('version')
}

async function isBound(trx: Trx, { provider }: ScimCall, email: string): Promise<boolean> {
  const domain = domainOfEmail(email)
  return domain !== undefined && isBoundDomain(trx, provider, domain)
}

const recordedOf = ({ email, active }: UserFields) => ({ email, active })

const record = (
  trx: Trx,
  { provider, author }: ScimCall,
  verb: string,
  id: string,
  states: Pick<AuditEntry, 'before' | 'after'>,
): Promise<void> =>
  writeAudit(trx, {
    ...author,
    teamId: provider.teamId,
    action: `scim.user.${verb}`,
    target: `scim_user:${id}`,
    ...states,
  })
