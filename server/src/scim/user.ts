// A user of SCIM: the attributes that are stored, read from a body and changed by PATCH. Pure. Others, such as those of the enterprise extension, are ignored.
import { parseEmail } from '../text/email.ts'
import { scimAttributes, scimBoolean, scimList, scimText, type ScimAttributes } from './body.ts'
import { ScimError } from './error.ts'
import { meets, type PatchOperation } from './patch.ts'

export type UserFields = {
  readonly user_name: string
  readonly external_id: string | null
  /** Canonical. */
  readonly email: string
  readonly display_name: string
  readonly given_name: string
  readonly family_name: string
  readonly active: boolean
}

const nameMax = 200
const idMax = 300
const userNameMax = 320
const emailsMax = 20

type Email = { readonly type: string; readonly value: string; readonly primary: boolean }

/** A user being changed: the addresses are chosen from at the end. */
type Draft = Omit<UserFields, 'email' | 'user_name'> & {
  readonly user_name: string | null
  readonly emails: readonly Email[]
}

/** Reads a whole user, of POST and PUT. `before`: the user that is replaced; without `active` it stays as it is. Throws ScimError. */
export function parseUser(body: unknown, before?: UserFields): UserFields {
  const attributes = scimAttributes(body)
  const name = nested(attributes, 'name')
  const active = attributes.get('active')
  const draft: Draft = {
    user_name: scimText(attributes.get('username'), userNameMax),
    external_id: scimText(attributes.get('externalid'), idMax),
    display_name: displayNameOf(attributes, name),
    given_name: scimText(name.get('givenname'), nameMax) ?? '',
    family_name: scimText(name.get('familyname'), nameMax) ?? '',
    active: active === undefined || active === null ? (before?.active ?? true) : scimBoolean(active),
    emails: emailsOf(attributes.get('emails')),
  }
  return finished(draft, before)
}

function nested(attributes: ScimAttributes, name: string): ScimAttributes {
  const value = attributes.get(name)
  return value === undefined || value === null ? new Map() : scimAttributes(value)
}

const displayNameOf = (attributes: ScimAttributes, name: ScimAttributes): string =>
  scimText(attributes.get('displayname'), nameMax) ?? scimText(name.get('formatted'), nameMax) ?? ''

function emailsOf(value: unknown): Email[] {
  return scimList(value, emailsMax).map((one) => {
    if (typeof one === 'string') return { type: 'work', value: one, primary: false }
    const attributes = scimAttributes(one)
    const primary = attributes.get('primary')
    return {
      type: (scimText(attributes.get('type'), 100) ?? 'work').toLowerCase(),
      value: scimText(attributes.get('value'), userNameMax) ?? '',
      primary: primary !== undefined && primary !== null && scimBoolean(primary),
    }
  })
}

/** The primary address, else the one for work, else the first, else the `userName`. A leaver whose mailbox is gone keeps the former ones. */
function finished({ emails, user_name: given, ...rest }: Draft, before?: UserFields): UserFields {
  const former = rest.active ? undefined : before
  const userName = given ?? former?.user_name
  if (userName === undefined) throw new ScimError('value')
  const known = emails.filter(({ value }) => value !== '')
  const chosen = known.find(({ primary }) => primary) ?? known.find(({ type }) => type === 'work') ?? known[0]
  const email = parseEmail(chosen?.value ?? userName) ?? former?.email
  if (email === undefined) throw new ScimError('address')
  return { user_name: userName, ...rest, email }
}

/** Returns the user after the operations. Throws ScimError. */
export function patchUser(before: UserFields, operations: readonly PatchOperation[]): UserFields {
  const emails = [{ type: 'work', value: before.email, primary: true }]
  return finished(operations.reduce<Draft>(patchDraft, { ...before, emails }), before)
}

function patchDraft(draft: Draft, operation: PatchOperation): Draft {
  const { attribute, sub, op } = operation
  const value = op === 'remove' ? null : operation.value
  switch (attribute) {
    case 'username':
      return { ...draft, user_name: scimText(value, userNameMax) }
    case 'externalid':
      return { ...draft, external_id: scimText(value, idMax) }
    case 'displayname':
      return { ...draft, display_name: scimText(value, nameMax) ?? '' }
    case 'active':
      return { ...draft, active: scimBoolean(value) }
    case 'name':
      return { ...draft, ...patchedName(draft, sub, value) }
    case 'emails':
      return { ...draft, emails: patchedEmails(draft.emails, operation) }
    default:
      return draft
  }
}

type Names = Pick<Draft, 'given_name' | 'family_name' | 'display_name'>

function patchedName(draft: Names, sub: string | null, value: unknown): Partial<Names> {
  if (sub === 'givenname') return { given_name: scimText(value, nameMax) ?? '' }
  if (sub === 'familyname') return { family_name: scimText(value, nameMax) ?? '' }
  if (sub === 'formatted')
    return draft.display_name === '' ? { display_name: scimText(value, nameMax) ?? '' } : {}
  if (sub !== null) return {}
  if (value === null) return { given_name: '', family_name: '' }
  const parts = scimAttributes(value)
  const known = ['givenname', 'familyname', 'formatted'].filter((name) => parts.has(name))
  const changes = known.map((name) => patchedName(draft, name, parts.get(name)))
  return Object.assign({}, ...changes) as Partial<Names>
}

function patchedEmails(
  emails: readonly Email[],
  { op, filter, sub, value }: PatchOperation,
): readonly Email[] {
  const isMeant = (email: Email) => filter === null || meets(email, filter)
  if (op === 'remove') return emails.filter((email) => !isMeant(email))
  if (filter === null && sub === null)
    return op === 'replace' ? emailsOf(value) : merged(emails, emailsOf(value))
  if (sub === null)
    return merged(
      emails.filter((email) => !isMeant(email)),
      emailsOf(value),
    )
  // A type or another part of an address that is kept by its value only.
  if (sub !== 'value') return emails
  const address = scimText(value, userNameMax) ?? ''
  if (emails.some(isMeant))
    return emails.map((email) => (isMeant(email) ? { ...email, value: address } : email))
  // RFC 7644, 3.5.2.3: without a match there is no target. Entra ID relies on it being added.
  return merged(emails, [{ type: typeIn(filter!), value: address, primary: isPrimary(filter!) }])
}

type Filter = NonNullable<PatchOperation['filter']>
const typeIn = (filter: Filter): string =>
  String(filter.find(({ attribute }) => attribute === 'type')?.value ?? 'other').toLowerCase()
const isPrimary = (filter: Filter): boolean =>
  filter.some(({ attribute, value }) => attribute === 'primary' && value === true)

/** At most one address is primary: a new one takes its place. */
function merged(emails: readonly Email[], added: readonly Email[]): readonly Email[] {
  const replacesPrimary = added.some(({ primary }) => primary)
  const others = replacesPrimary ? emails.map((email) => ({ ...email, primary: false })) : emails
  const all = [...others, ...added]
  if (all.length > emailsMax) throw new ScimError('tooMany')
  return all
}
