// Prefixes that teams hold: attacks on them concern the team.
import { parsePrefix } from '../../net/prefix.ts'
import { defineKind, rowsOf } from '../engine/define-kind.ts'
import type { PlatformChange, Create, PlanDraft } from '../engine/kind.ts'
import { column, mapped, reference, referenceById } from '../engine/field.ts'
import { Optional, PrefixText, ShortSlug, Strict, TeamSlug, Text } from '../engine/schema.ts'
import { location } from './location.ts'
import { team } from './team.ts'
import { readPrefix } from './values.ts'

export const prefix = defineKind({
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
    team: referenceById('prefixes', 'team_id', team),
    prefix: mapped('prefixes', ['prefix'], {
      read: (row) => parsePrefix(row.prefix),
      write: (value) => ({ prefix: value }),
    }),
    name: column('prefixes', 'name', { initial: '', isShown: true }),
    location: reference('prefixes', 'location_key', location, { initial: null }),
  },
  adjust: takeMoved,
  check(context, elements): void {
    for (const { path, element } of elements) {
      const place = [...path, 'prefix']
      const value = readPrefix(context, place, element.prefix)
      const fields = { ...element, prefix: value }
      if (
        value === undefined ||
        !context.claim(`prefix ${value}`, place, `prefix ${value} is listed twice`)
      ) {
        context.checkReferences(prefix, path, fields)
        continue
      }
      context.add(prefix, path, fields)
    }
  },
})

/** A prefix that the document gives to another team is taken from its current team. */
function takeMoved({ changes, current, notice }: PlanDraft): readonly PlatformChange[] {
  const isCreated = (change: PlatformChange): change is Create =>
    change.action === 'create' && change.kind === prefix.name
  const given = changes.filter(isCreated)
  const isDeleted = (key: string) =>
    changes.some((one) => one.action === 'delete' && one.kind === prefix.name && one.key === key)
  const moves = [...rowsOf(current, prefix).values()].flatMap((row): PlatformChange[] => {
    const { prefix: cidr, team: from } = row.fields
    const to = given.find(({ fields }) => fields['prefix'] === cidr && fields['team'] !== from)
    if (!to || isDeleted(row.key)) return []
    notice(`prefix ${cidr} moves from team ${from} to team ${String(to.fields['team'])}`)
    return [{ action: 'delete', kind: prefix.name, key: row.key, row }]
  })
  return [...changes, ...moves]
}
