// Prefixes that teams hold: attacks on them concern the team.
import { parsePrefix } from '../../net/prefix.ts'
import { defineKind } from '../define-kind.ts'
import { column, mapped, reference, referenceById } from '../field.ts'
import { Optional, PrefixText, ShortSlug, Strict, TeamSlug, Text } from '../schema.ts'
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
  check(context, elements): void {
    const rows = context.isPruned(prefix) ? [] : [...context.rows(prefix).values()]
    const holders = new Map(rows.map(({ fields }) => [fields.prefix, fields.team]))
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
      const holder = holders.get(value)
      if (holder === undefined || holder === element.team) continue
      context.problem(place, `prefix ${value} is held by team ${holder}; remove it from that team first`)
    }
  },
})
