// Prefixes that teams hold: attacks on them concern the team.
import { parsePrefix } from '../../net/prefix.ts'
import { defineKind, rowsByKey } from '../engine/define-kind.ts'
import type { PlatformChange, Create, PlanDraft, Row } from '../engine/kind.ts'
import { managerOf } from '../engine/plan.ts'
import { column, mapped, reference, referenceById } from '../engine/field.ts'
import { Optional, PrefixText, ShortSlug, Strict, TeamSlug, Text } from '../engine/schema.ts'
import { locationKind } from './location.ts'
import { teamKind } from './team.ts'
import { parsePrefixField } from './values.ts'

export const prefixKind = defineKind({
  name: 'prefix',
  plural: 'prefixes',
  section: 'prefixes',
  element: Strict({
    team: TeamSlug,
    prefix: PrefixText,
    name: Optional(Text),
    location: Optional(ShortSlug),
  }),
  table: { name: 'prefixes', id: 'id' },
  identity: ['team', 'prefix'],
  fields: {
    team: referenceById('prefixes', 'team_id', teamKind),
    prefix: mapped('prefixes', ['prefix'], {
      read: (row) => parsePrefix(row.prefix),
      write: (value) => ({ prefix: value }),
    }),
    name: column('prefixes', 'name', { initial: '', isShown: true }),
    location: reference('prefixes', 'location_key', locationKind, { initial: null }),
  },
  adjust: takeMoved,
  check(context, elements): void {
    for (const { path, element } of elements) {
      const place = [...path, 'prefix']
      const value = parsePrefixField(context, place, element.prefix)
      const fields = { ...element, prefix: value }
      if (
        value === undefined ||
        !context.claim(`prefix ${value}`, place, `prefix ${value} is listed twice`)
      ) {
        context.checkReferences(prefixKind, path, fields)
        continue
      }
      context.add(prefixKind, path, fields)
    }
  },
})

/** A prefix that the document gives to another team is taken from its current team. */
function takeMoved({ changes, current, options, notice }: PlanDraft): readonly PlatformChange[] {
  const isCreated = (change: PlatformChange): change is Create =>
    change.action === 'create' && change.kind === prefixKind.name
  const given = changes.filter(isCreated)
  const isDeleted = (key: string) =>
    changes.some((one) => one.action === 'delete' && one.kind === prefixKind.name && one.key === key)
  const refused = new Set<PlatformChange>()
  const moves = [...rowsByKey(current, prefixKind).values()].flatMap((row): PlatformChange[] => {
    const { prefix: cidr, team: from } = row.fields
    const to = given.find(({ fields }) => fields['prefix'] === cidr && fields['team'] !== from)
    if (!to || isDeleted(row.key)) return []
    const manager = managerOf(row as unknown as Row)
    if (manager !== (options.source ?? 'platform') && !options.enforce) {
      refused.add(to)
      notice(
        `prefix ${to.key}: ${cidr} belongs to team ${from}, managed by ${manager}; not moved (--enforce moves it)`,
      )
      return []
    }
    notice(`prefix ${cidr} moves from team ${from} to team ${String(to.fields['team'])}`)
    return [{ action: 'delete', kind: prefixKind.name, key: row.key, row }]
  })
  return [...changes.filter((change) => !refused.has(change)), ...moves]
}
