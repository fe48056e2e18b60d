// How the staff of the provider sign in: one element, whose section is a map instead of a list.
import { staffRoles, type StaffRole } from '@pharos/contract/staff-role'
import { Type } from 'typebox'
import { isUpgradeFinished } from '../../db/release.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped } from '../engine/field.ts'
import { FilePath, Flag, Name, Optional, Pattern, SecretText, Strict } from '../engine/schema.ts'
import { sealedSecret } from '../engine/sealed-secret.ts'

const Email = Pattern('^[^\\s@]+@[^\\s@]+$', { expects: 'an e-mail address' })
const Domain = Pattern('^[a-z0-9-]+(\\.[a-z0-9-]+)+$', {
  expects: 'a domain such as example.net, in lower case',
})
const Roles = Type.Array(Type.Enum([...staffRoles]), {
  minItems: 1,
  maxItems: staffRoles.length,
  uniqueItems: true,
  expects: `a list of staff roles: ${staffRoles.join(', ')}`,
})
const none: Readonly<Record<string, readonly StaffRole[]>> = {}
const nobody: readonly string[] = []
const rules = ['claim', 'trust'] as const

const key = 'staff_sign_in'
const secret = sealedSecret('client_secret', 'identity-provider')

export const staffSignInKind = defineKind({
  name: 'staff_sign_in',
  plural: 'staff_sign_ins',
  section: 'staff_sign_in',
  isSingle: true,
  element: Strict({
    issuer: Pattern('^https?://[^\\s?#]+$', { expects: 'the issuer of OpenID Connect, an https:// URL' }),
    client_id: Name,
    client_secret: Optional(SecretText),
    client_secret_file: Optional(FilePath),
    domains: Type.Array(Domain, {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      expects: 'a list of domains',
    }),
    groups: Optional(Type.Record(Type.String(), Roles, { expects: 'a map of group: [staff roles]' })),
    groups_claim: Optional(Name),
    acr: Optional(Name),
    second_factor: Optional(Type.Enum([...rules], { expects: `one of ${rules.join(', ')}` })),
    required: Optional(Flag),
    break_glass: Optional(
      Type.Array(Email, { maxItems: 20, uniqueItems: true, expects: 'a list of e-mail addresses' }),
    ),
  }),
  table: { name: 'staff_sign_in', id: 'key' },
  identity: ['key'],
  keyOf: () => key,
  outsideOfPortal: 'only the operator decides who has the rights of staff',
  fields: {
    key: column('staff_sign_in', 'key'),
    issuer: column('staff_sign_in', 'issuer', { isShown: true }),
    client_id: column('staff_sign_in', 'client_id', { isShown: true }),
    domains: column('staff_sign_in', 'domains', { isShown: true }),
    groups: mapped('staff_sign_in', ['groups'], {
      read: ({ groups }) => groups as typeof none,
      write: (groups) => ({ groups }),
      initial: none,
    }),
    groups_claim: column('staff_sign_in', 'groups_claim', { initial: 'groups' }),
    acr: column('staff_sign_in', 'acr', { initial: null }),
    second_factor: column('staff_sign_in', 'second_factor', { initial: 'claim' }),
    required: column('staff_sign_in', 'required', { initial: false, isShown: true }),
    break_glass: column('staff_sign_in', 'break_glass', { initial: [...nobody] }),
    secret_sealed: mapped('staff_sign_in', ['secret_sealed'], {
      read: ({ secret_sealed: sealed }) => sealed.toString('hex'),
      write: (hex) => ({ secret_sealed: `\\x${hex}` }),
      secret,
    }),
  },
  // A process of the release before would give all staff their rights without it.
  async objectionsTo(trx, updates, created) {
    const requiring = [...updates, ...created].filter(({ fields }) => fields.required === true)
    if (requiring.length === 0 || (await isUpgradeFinished(trx))) return []
    const message =
      'staff_sign_in: required is possible once the upgrade of the installation is finished; run pharos migrate --finish first'
    return [{ key, field: 'required', message }]
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { client_secret: _text, client_secret_file: _file, break_glass: addresses, ...fields } = element
      context.add(staffSignInKind, path, {
        key,
        ...fields,
        ...(addresses === undefined ? {} : { break_glass: addresses.map((one) => one.toLowerCase()) }),
      })
      context.addSecret(staffSignInKind, 'secret_sealed', { path, element })
    }
  },
})
