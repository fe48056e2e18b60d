// Service accounts: programs of a team, with their own roles. Their API tokens are in session/api-token.ts.
import { orderedRoles } from '@pharos/contract/role'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import type {
  createServiceAccountRoute,
  listServiceAccountsRoute,
  ServiceAccount,
  updateServiceAccountRoute,
} from '@pharos/contract/team/service-account'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import { fieldsOf } from '../operation/fields.ts'
import { actorName, type Operation } from '../operation/operation.ts'
import { fail, notFound } from '../runtime/error.ts'
import {
  countServiceAccounts,
  deleteServiceAccountRow,
  findServiceAccount,
  findServiceAccountNamed,
  insertServiceAccount,
  listServiceAccountRows,
  lockServiceAccountRow,
  saveServiceAccountSettings,
  serviceAccountFields,
  type ServiceAccountRow,
  type ServiceAccountSettings,
} from './service-account.store.ts'
import { requireStillGranted } from './team-lock.ts'

export type ServiceAccountDeps = { readonly postgres: Postgres }

/** Most service accounts of a team. */
const accountsMax = 100

export async function listServiceAccounts(
  { postgres }: ServiceAccountDeps,
  { actor }: Operation,
  query: QueryOf<typeof listServiceAccountsRoute>,
): Promise<{ results: ServiceAccount[]; count: number }> {
  const { page, count } = await listServiceAccountRows(postgres, actor.teamId, query)
  return { results: page.map(present), count }
}

/** Throws `not_found`. */
export async function getServiceAccount(
  { postgres }: ServiceAccountDeps,
  { actor }: Operation,
  id: number,
): Promise<ChangeAnswer<ServiceAccount>> {
  const row = await findServiceAccount(postgres, actor.teamId, id)
  if (!row) throw notFound('service account')
  return answerWith(row)
}

/** Throws `exists` for a name that another account has, and `quota_exceeded`. */
export function createServiceAccount(
  { postgres }: ServiceAccountDeps,
  operation: Operation,
  { name, description = '', roles, disabled = false }: BodyOf<typeof createServiceAccountRoute>,
): Promise<ChangeAnswer<ServiceAccount>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    await requireStillGranted(trx, operation, 'tokens.manage')
    if ((await countServiceAccounts(trx, teamId)) >= accountsMax)
      throw fail('quota_exceeded', 'serviceAccounts', { limit: accountsMax })
    await requireFreeName(trx, teamId, name)
    const settings = { name, description, roles: orderedRoles(roles), disabled }
    const row = await insertServiceAccount(trx, teamId, settings, actorName(operation.actor))
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('create', row.id), after: recordedOf(row) })
    return answerWith(row)
  })
}

/** Throws `not_found`, `precondition_failed`, and `exists` for a name that another account has. */
export function updateServiceAccount(
  { postgres }: ServiceAccountDeps,
  operation: Operation,
  id: number,
  changes: BodyOf<typeof updateServiceAccountRoute>,
): Promise<ChangeAnswer<ServiceAccount>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    await requireStillGranted(trx, operation, 'tokens.manage')
    const before = await lockForChange(trx, operation, id)
    const roles = changes.roles ? orderedRoles(changes.roles) : before.roles
    const wanted = { ...recordedOf(before), ...changes, roles }
    if (JSON.stringify(wanted) === JSON.stringify(recordedOf(before))) return answerWith(before)
    if (wanted.name.toLowerCase() !== before.name.toLowerCase())
      await requireFreeName(trx, teamId, wanted.name)
    const after = await saveServiceAccountSettings(trx, teamId, id, wanted)
    const recorded = { before: recordedOf(before), after: recordedOf(after) }
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('update', id), ...recorded })
    return answerWith(after)
  })
}

export function deleteServiceAccount(
  { postgres }: ServiceAccountDeps,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<null>> {
  return runChange(postgres, operation, async (trx) => {
    await requireStillGranted(trx, operation, 'tokens.manage')
    const before = await lockForChange(trx, operation, id)
    const revoked = await deleteServiceAccountRow(trx, operation.actor.teamId, id)
    await writeAudit(trx, {
      ...auditOf(operation),
      ...entryOf('delete', id),
      before: recordedOf(before),
      after: { api_tokens_revoked: revoked },
    })
    return { body: null }
  })
}

/** Returns a service account of the team, locked until the end of the transaction. Throws `not_found`. */
export async function lockServiceAccount(trx: Trx, teamId: number, id: number): Promise<ServiceAccountRow> {
  const row = await lockServiceAccountRow(trx, teamId, id)
  if (!row) throw notFound('service account')
  return row
}

async function lockForChange(
  trx: Trx,
  { actor, ifMatch }: Operation,
  id: number,
): Promise<ServiceAccountRow> {
  const row = await lockServiceAccount(trx, actor.teamId, id)
  requireMatch(ifMatch, etagOf(row.version))
  return row
}

async function requireFreeName(trx: Trx, teamId: number, name: string): Promise<void> {
  const id = await findServiceAccountNamed(trx, teamId, name)
  if (id !== undefined) throw fail('exists', 'serviceAccount', { name, id })
}

const entryOf = (verb: string, id: number) => ({
  action: `service_account.${verb}`,
  target: `service_account:${id}`,
})

const recordedOf = (row: ServiceAccountRow): ServiceAccountSettings => fieldsOf(row, serviceAccountFields)

/** Tokens are counted beside the version: a new one changes no precondition. */
const answerWith = (row: ServiceAccountRow) => ({
  body: present(row),
  etag: etagOf(row.version, [row.token_count]),
})

const present = (row: ServiceAccountRow): ServiceAccount => ({
  id: row.id,
  name: row.name,
  description: row.description,
  roles: row.roles,
  disabled: row.disabled,
  token_count: row.token_count,
  created: row.created.toISOString(),
  created_by: row.creator,
})
