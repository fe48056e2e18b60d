// The provider as people see it: one element, whose section is a map instead of a list.
import { Type } from 'typebox'
import { logoObjection } from '../../brand/logo.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped } from '../engine/field.ts'
import type { Secret } from '../engine/kind.ts'
import { FilePath, Name, Optional, Pattern, Strict } from '../engine/schema.ts'

/** Not secret, but given by the path of a file like a secret. */
const logo: Secret = {
  name: 'logo',
  objectionTo: logoObjection,
  store: (text) => text,
}

const key = 'provider'

export const providerKind = defineKind({
  name: 'provider',
  plural: 'providers',
  section: 'provider',
  isSingle: true,
  element: Strict({
    name: Name,
    accent: Optional(Pattern('^#[0-9a-f]{6}$', { expects: 'a color such as #0f766e, in lower case' })),
    support: Optional(
      Type.String({
        pattern: '^(mailto:[^\\s@]+@[^\\s@]+|https://[^\\s]+)$',
        maxLength: 500,
        expects: 'a link that begins with mailto: or https://',
      }),
    ),
    logo_file: Optional(FilePath),
  }),
  table: { name: 'provider', id: 'key' },
  identity: ['key'],
  keyOf: () => key,
  fields: {
    key: column('provider', 'key'),
    name: column('provider', 'name', { isShown: true }),
    accent: column('provider', 'accent', { initial: null }),
    support: column('provider', 'support', { initial: null }),
    logo: mapped('provider', ['logo'], {
      read: ({ logo: text }) => text,
      write: (text) => ({ logo: text }),
      initial: null,
      secret: logo,
    }),
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { logo_file: file, ...fields } = element
      context.add(providerKind, path, { key, ...fields })
      if (file !== undefined) context.addSecret(providerKind, 'logo', { path, element })
    }
  },
})
