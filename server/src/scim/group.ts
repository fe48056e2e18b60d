// A group of SCIM: its name and its members, read from a body and changed by PATCH. Pure.
import { scimAttributes, scimList, scimText } from './body.ts'
import { ScimError } from './error.ts'
import type { PatchOperation } from './patch.ts'

export type GroupFields = { readonly display_name: string; readonly external_id: string | null }

/** Changes of the members: `replaces` removes all others. Ids of users. */
export type MemberChange = {
  readonly replaces: boolean
  readonly added: ReadonlySet<string>
  readonly removed: ReadonlySet<string>
}

const textMax = 300
const groupMembersMax = 20_000

export const isUuid = (text: unknown): text is string =>
  typeof text === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

/** Reads a whole group, of POST and PUT. Throws ScimError. */
export function parseGroup(body: unknown): { readonly fields: GroupFields; readonly members: MemberChange } {
  const attributes = scimAttributes(body)
  const fields = fieldsOf(attributes.get('displayname'), attributes.get('externalid'))
  const added = idsOf(attributes.get('members'))
  return { fields, members: { replaces: true, added, removed: new Set() } }
}

/** Names are compared byte by byte with the mappings of the provider, and stay as they are sent. */
function fieldsOf(displayName: unknown, externalId: unknown): GroupFields {
  const name = scimText(displayName, textMax)
  if (name === null || name.trim() === '') throw new ScimError('value')
  return { display_name: name, external_id: scimText(externalId, textMax) }
}

/** Okta and Entra ID send objects with `value`; a user by id only, no group in a group. */
function idsOf(value: unknown): Set<string> {
  const ids = scimList(value, groupMembersMax).map((one) => {
    const id = typeof one === 'string' ? one : scimAttributes(one).get('value')
    if (!isUuid(id)) throw new ScimError('member')
    return id.toLowerCase()
  })
  return new Set(ids)
}

type Draft = { readonly fields: GroupFields; readonly members: MemberChange }

const noChange: MemberChange = { replaces: false, added: new Set(), removed: new Set() }

/** Returns the group after the operations, and what changes in its members. Throws ScimError. */
export const patchGroup = (before: GroupFields, operations: readonly PatchOperation[]): Draft =>
  operations.reduce<Draft>(patchDraft, { fields: before, members: noChange })

function patchDraft(draft: Draft, operation: PatchOperation): Draft {
  const { attribute, op } = operation
  const { fields } = draft
  const value = op === 'remove' ? null : operation.value
  if (attribute === 'displayname') return { ...draft, fields: fieldsOf(value, fields.external_id) }
  if (attribute === 'externalid') return { ...draft, fields: fieldsOf(fields.display_name, value) }
  if (attribute === 'members') return { ...draft, members: patchedMembers(draft.members, operation) }
  return draft
}

function patchedMembers(before: MemberChange, { op, filter, sub, value }: PatchOperation): MemberChange {
  if (sub !== null && sub !== 'value') throw new ScimError('path')
  if (op === 'remove') return removedMembers(before, filter, value)
  if (filter !== null) throw new ScimError('path')
  const ids = idsOf(value)
  if (op === 'replace') return { replaces: true, added: ids, removed: new Set() }
  return { ...before, added: before.added.union(ids), removed: before.removed.difference(ids) }
}

/** By a filter, by the values that Entra ID sends with the path, or all. */
function removedMembers(
  before: MemberChange,
  filter: PatchOperation['filter'],
  value: unknown,
): MemberChange {
  if (filter === null && (value === undefined || value === null))
    return { replaces: true, added: new Set(), removed: new Set() }
  const ids = filter === null ? idsOf(value) : idsInFilter(filter)
  return { ...before, added: before.added.difference(ids), removed: before.removed.union(ids) }
}

function idsInFilter(filter: NonNullable<PatchOperation['filter']>): Set<string> {
  const [term, ...others] = filter
  if (others.length > 0 || term!.attribute !== 'value' || !isUuid(term!.value)) throw new ScimError('path')
  return new Set([term!.value.toLowerCase()])
}
