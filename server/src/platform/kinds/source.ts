// Sources: the detectors that deliver events, each with a secret and the settings of its kind.
import { sql } from 'kysely'
import { sourceOfKind, sources } from '../../events/sources/index.ts'
import { NormaliseError } from '../../events/sources/source.ts'
import { didYouMean } from '../../text/did-you-mean.ts'
import { equalBytes, mac } from '../../runtime/secrets.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped } from '../engine/field.ts'
import type { CheckContext, Secret } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { FilePath, Name, Optional, Pattern, SecretText, SettingsMap, Strict } from '../engine/schema.ts'
import { locationKind } from './location.ts'

const SourceKey = Pattern('^[a-z0-9][a-z0-9_-]{0,62}$', {
  expects: 'lower-case letters, digits, hyphens and underscores, at most 63',
})
const SourceKind = Pattern('^[a-z][a-z0-9_-]{0,62}$', {
  expects: 'the kind of a detector, such as fastnetmon',
})

const secret: Secret = {
  name: 'secret',
  store(text, stored, ring) {
    const fresh = mac(ring, 'source-secret', text)
    const isFresh = stored !== undefined && equalBytes(Buffer.from(stored, 'hex'), fresh)
    return isFresh ? stored : fresh.toString('hex')
  },
}

export const sourceKind = defineKind({
  name: 'source',
  plural: 'sources',
  section: 'sources',
  element: Strict({
    key: SourceKey,
    kind: SourceKind,
    name: Name,
    secret: Optional(SecretText),
    secret_file: Optional(FilePath),
    settings: Optional(SettingsMap),
  }),
  table: {
    name: 'sources',
    id: 'key',
    select: {
      is_used: sql`exists (select from delivery_ids d where d.source_key = t.key)
        or exists (select from deliveries d where d.source_key = t.key)`,
    },
  },
  identity: ['key'],
  fields: {
    key: column('sources', 'key'),
    kind: column('sources', 'kind', { isShown: true }),
    name: column('sources', 'name', { isShown: true }),
    secret_mac: mapped('sources', ['secret_mac'], {
      read: ({ secret_mac }) => secret_mac.toString('hex'),
      write: (hex) => ({ secret_mac: `\\x${hex}` }),
      secret,
    }),
    settings: mapped('sources', ['settings'], {
      read: ({ settings }) => settings as Readonly<Record<string, unknown>>,
      write: (settings) => ({ settings }),
      initial: {},
    }),
  },
  referencesOf({ settings }) {
    const key = settings?.['location']
    return typeof key === 'string' ? [{ kind: locationKind, key, path: ['settings', 'location'] }] : []
  },
  stateOf: ({ is_used }) => ({ inUse: is_used ? 'its deliveries are kept' : null }),
  wakes: 'flows',
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { secret: _text, secret_file: _file, ...fields } = element
      checkSettings(context, path, fields.kind, fields.settings ?? {})
      context.add(sourceKind, path, fields)
      context.addSecret(sourceKind, 'secret_mac', { path, element })
    }
  },
})

/** Has the normaliser of the kind read the settings: the first mistake is that for which its deliveries would fail. */
function checkSettings(
  context: CheckContext,
  path: Path,
  kind: string,
  settings: Readonly<Record<string, unknown>>,
): void {
  const found = sourceOfKind(kind)
  if (!found) {
    const names = Object.keys(sources)
    const hint = didYouMean(kind, names) || `; available: ${names.join(', ')}`
    context.problem([...path, 'kind'], `unknown kind ${kind}${hint}`)
    return
  }
  try {
    found.createNormaliser(settings)
  } catch (error) {
    if (!(error instanceof NormaliseError)) throw error
    context.problem([...path, ...error.place.split('.')], error.message.replace(/^settings\./, ''))
  }
}
