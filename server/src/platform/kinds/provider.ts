// The provider as people see it: one element, whose section is a map instead of a list.
import { Paragraphs } from '@pharos/contract/text'
import { Type } from 'typebox'
import { logoObjection } from '../../brand/logo.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped } from '../engine/field.ts'
import type { Secret } from '../engine/kind.ts'
import { AsnNumber, FilePath, Name, Optional, Pattern, Strict } from '../engine/schema.ts'

/** Not secret, but a text of its own or of a file, like a secret. */
const logo: Secret = {
  name: 'logo',
  isImage: true,
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
    asn: Optional(AsnNumber),
    logo: Optional(
      Paragraphs({ maxLength: 65_536, expects: 'an SVG image of at most 64 kB, or empty to remove it' }),
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
    /** In drafted letters of authorization, instead of the setting `provider_asn`. */
    asn: column('provider', 'asn', { initial: null }),
    logo: mapped('provider', ['logo'], {
      read: ({ logo: text }) => text,
      write: (text) => ({ logo: text }),
      initial: null,
      secret: logo,
    }),
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { logo: text, logo_file: file, ...fields } = element
      const isRemoved = text === ''
      context.add(providerKind, path, { key, ...fields, ...(isRemoved ? { logo: null } : {}) })
      // The portal sends only a new logo; a file that does not name one has none.
      const hasLogo = text !== undefined || file !== undefined
      const isKept = context.source === 'portal' && context.rows(providerKind).get(key)?.fields.logo != null
      if (!isRemoved && (hasLogo || isKept)) context.addSecret(providerKind, 'logo', { path, element })
    }
  },
})
