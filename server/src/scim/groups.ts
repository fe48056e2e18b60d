// Groups of SCIM. A group has the roles of the mapping of the provider with its `displayName` or `externalId`; a change of its members changes their roles at once.
import { sql } from 'kysely'
import { writeAudit, type AuditEntry } from '../db/audit.ts'
import type { Trx } from '../db/postgres.ts'
import { ScimError } from './error.ts'
import { parseFilter, type FilterTerm } from './filter.ts'
import { isUuid, parseGroup, patchGroup, type GroupFields, type MemberChange } from './group.ts'
import { parsePatch } from './patch.ts'
import { provision } from './provision.ts'
import {
  addMembers,
  countGroups,
  deleteGroupRow,
  findGroup,
  insertGroup,
  listGroupRows,
  listMemberIds,
  lockGroup,
  readGroup,
  removeMembers,
  saveGroup,
  type ScimGroupRow,
  type GroupWithMembers,
  type ResourceSlice,
} from './scim.store.ts'
import { change, requireVersion, type FoundResources, type ScimCall, type ScimDeps } from './users.ts'

const groupsMax = 1_000

export const listGroups = (
  { postgres }: ScimDeps,
  { provider }: ScimCall,
  filter: string | null,
  slice: ResourceSlice,
  withMembers: boolean,
): Promise<FoundResources<GroupWithMembers>> =>
  listGroupRows(
    postgres,
    provider,
    filter === null ? [] : parseFilter(filter).map(conditionOf),
    slice,
    withMembers,
  )

/** Entra ID asks with `members eq` whether a user is in a group. Throws ScimError. */
function conditionOf({ attribute, value }: FilterTerm) {
  if (typeof value !== 'string') throw new ScimError('filterAttribute')
  switch (attribute) {
    case 'id':
      return isUuid(value) ? sql`g.id = ${value}::uuid` : sql`false`
    case 'displayname':
      return sql`g.display_name = ${value}`
    case 'externalid':
      return sql`g.external_id = ${value}`
    case 'members':
    case 'members.value':
      return isUuid(value)
        ? sql`exists (select from scim_members k where k.group_id = g.id and k.scim_user_id = ${value}::uuid)`
        : sql`false`
    default:
      throw new ScimError('filterAttribute')
  }
}

/** Throws ScimError. */
export async function getGroup(
  { postgres }: ScimDeps,
  { provider }: ScimCall,
  id: string,
  withMembers: boolean,
): Promise<GroupWithMembers> {
  const row = isUuid(id) ? await findGroup(postgres, provider, id, withMembers) : undefined
  if (!row) throw new ScimError('unknown')
  return row
}

/** Throws ScimError. */
export function createGroup(deps: ScimDeps, call: ScimCall, body: unknown): Promise<GroupWithMembers> {
  const { fields, members } = parseGroup(body)
  return change(deps, call, async (trx) => {
    if ((await countGroups(trx, call.provider)) >= groupsMax) throw new ScimError('quota')
    const id = await insertGroup(trx, call.provider, fields)
    const added = [...members.added]
    await addMembers(trx, call.provider, id, added)
    await record(trx, call, 'create', id, { after: { ...recordedOf(fields), members_added: added.length } })
    if (added.length > 0) await provision(trx, deps, call.provider, call.author, added)
    return readGroup(trx, call.provider, id)
  })
}

export const replaceGroup = (
  deps: ScimDeps,
  call: ScimCall,
  id: string,
  body: unknown,
): Promise<GroupWithMembers> => {
  const wanted = parseGroup(body)
  return update(deps, call, id, () => wanted)
}

export function changeGroup(
  deps: ScimDeps,
  call: ScimCall,
  id: string,
  body: unknown,
): Promise<GroupWithMembers> {
  const operations = parsePatch(body)
  return update(deps, call, id, (before) => patchGroup(before, operations))
}

type Wanted = { readonly fields: GroupFields; readonly members: MemberChange }

/** Throws ScimError. */
function update(
  deps: ScimDeps,
  call: ScimCall,
  id: string,
  changed: (before: ScimGroupRow) => Wanted,
): Promise<GroupWithMembers> {
  const { provider } = call
  return change(deps, call, async (trx) => {
    const before = await lock(trx, call, id)
    const { fields, members } = changed(before)
    const former = new Set(await listMemberIds(trx, id))
    const added = [...members.added].filter((one) => !former.has(one))
    const removed = members.replaces
      ? [...former].filter((one) => !members.added.has(one))
      : [...members.removed].filter((one) => former.has(one))
    const isRenamed = fields.display_name !== before.display_name || fields.external_id !== before.external_id
    if (!isRenamed && added.length + removed.length === 0) return readGroup(trx, provider, id)
    await saveGroup(trx, provider, id, fields)
    await removeMembers(trx, id, removed)
    await addMembers(trx, provider, id, added)
    await record(trx, call, 'update', id, {
      before: recordedOf(before),
      after: { ...recordedOf(fields), members_added: added.length, members_removed: removed.length },
    })
    // Another name may have another mapping.
    const affected = isRenamed ? [...former, ...added] : [...added, ...removed]
    await provision(trx, deps, provider, call.author, affected)
    return readGroup(trx, provider, id)
  })
}

const recordedOf = ({ display_name: group, external_id }: GroupFields) => ({ group, external_id })

/** Its members lose its roles. Throws ScimError. */
export async function deleteGroup(deps: ScimDeps, call: ScimCall, id: string): Promise<void> {
  await change(deps, call, async (trx) => {
    const before = await lock(trx, call, id)
    const members = await listMemberIds(trx, id)
    await deleteGroupRow(trx, call.provider, id)
    await record(trx, call, 'delete', id, {
      before: { ...recordedOf(before), members_removed: members.length },
    })
    if (members.length > 0) await provision(trx, deps, call.provider, call.author, members)
  })
}

async function lock(trx: Trx, { provider, ifMatch }: ScimCall, id: string): Promise<ScimGroupRow> {
  const row = isUuid(id) ? await lockGroup(trx, provider, id) : undefined
  if (!row) throw new ScimError('unknown')
  requireVersion(ifMatch, row.version)
  return row
}

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
    action: `scim.group.${verb}`,
    target: `scim_group:${id}`,
    ...states,
  })
