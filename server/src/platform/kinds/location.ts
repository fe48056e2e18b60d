// Locations: places with a country and a time zone, which regions, prefixes and sources refer to.
import { isTimezone } from '../../text/time.ts'
import { Type } from 'typebox'
import { defineKind } from '../engine/define-kind.ts'
import { column } from '../engine/field.ts'
import { Country, Name, ShortSlug, Strict } from '../engine/schema.ts'

const Timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  expects: 'an IANA time zone such as Europe/Amsterdam',
})

export const locationKind = defineKind({
  name: 'location',
  plural: 'locations',
  section: 'locations',
  element: Strict({ key: ShortSlug, name: Name, country: Country, timezone: Timezone }),
  table: { name: 'locations', id: 'key' },
  identity: ['key'],
  fields: {
    key: column('locations', 'key'),
    name: column('locations', 'name', { isShown: true }),
    country: column('locations', 'country'),
    timezone: column('locations', 'timezone'),
    managed_by: column('locations', 'managed_by', { initial: 'platform', isShared: true }),
  },
  imported: { cleared: [], kept: ['name', 'country', 'timezone'] },
  check(context, elements): void {
    for (const { path, element } of elements) {
      if (!isTimezone(element.timezone)) {
        const expected = 'use an IANA name such as Europe/Amsterdam'
        context.problem([...path, 'timezone'], `unknown time zone ${element.timezone}; ${expected}`)
      }
      context.add(locationKind, path, element)
    }
  },
})
