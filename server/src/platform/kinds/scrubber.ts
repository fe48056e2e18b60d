// Scrubbers: the routers and hosts that apply the rules of shield.
import { Type } from 'typebox'
import type { ScrubberSettings } from '../../shield/scrubber-driver.ts'
import { scrubberDrivers } from '../../drivers/scrubbers.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped } from '../engine/field.ts'
import type { CheckContext, Element } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { Optional, SettingsOf, ShortSlug, Strict } from '../engine/schema.ts'

export const scrubberKind = defineKind({
  name: 'scrubber',
  plural: 'scrubbers',
  section: 'scrubbers',
  element: Strict({
    name: ShortSlug,
    driver: SettingsOf(scrubberDrivers.schemas, 'kind'),
    prefixes: Optional(
      Type.Array(Type.String({ minLength: 4, maxLength: 50 }), {
        minItems: 1,
        maxItems: 1_000,
        uniqueItems: true,
        expects: "a list of prefixes such as ['203.0.113.0/24']",
      }),
    ),
    rules_max: Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, expects: 'a number of rules, such as 1000' }),
    ),
  }),
  table: { name: 'scrubbers', id: 'id' },
  identity: ['name'],
  fields: {
    name: column('scrubbers', 'name'),
    driver: mapped('scrubbers', ['driver'], {
      read: ({ driver }) => driver as ScrubberSettings,
      write: (driver) => ({ driver }),
    }),
    prefixes: column('scrubbers', 'prefixes', { initial: [], isShown: true }),
    rules_max: column('scrubbers', 'rules_max', { initial: 1_000, isShown: true }),
  },
  wakes: 'shield',
  check(context, elements): void {
    const takenBy = programsBeside(context, elements)
    for (const { path, element } of elements) {
      for (const problem of scrubberDrivers.check(element.driver))
        context.problem([...path, 'driver', ...problem.path], problem.message)
      const driver = element.driver as ScrubberSettings
      // Two scrubbers on one program with one owner would remove each other's rules.
      const owner = ownerOf(driver)
      if (owner !== undefined)
        context.claim(`scrubber ${owner}`, [...path, 'driver'], 'two scrubbers share a program and an owner')
      const other = takenBy.get(owner ?? '')
      if (other !== undefined)
        context.problem([...path, 'driver'], `scrubber ${other} has the same program and owner`)
      const prefixes = readPrefixes(context, [...path, 'prefixes'], element.prefixes)
      context.add(scrubberKind, path, { ...element, driver, prefixes })
    }
  },
})

const ownerOf = (driver: ScrubberSettings): string | undefined =>
  scrubberDrivers.find(driver.kind)?.ownerOf(driver)

/** The programs of the scrubbers that the document neither names nor deletes, with their names. */
function programsBeside(
  context: CheckContext,
  elements: readonly Element<{ readonly name: string }>[],
): ReadonlyMap<string, string> {
  const named = new Set(elements.map(({ element }) => element.name))
  return new Map(
    [...context.rows(scrubberKind).values()]
      .filter(({ key }) => !named.has(key) && context.exists(scrubberKind, key))
      .flatMap(({ key, fields }) => {
        const owner = ownerOf(fields.driver)
        return owner === undefined ? [] : [[owner, key] as const]
      }),
  )
}

function readPrefixes(context: CheckContext, path: Path, texts: readonly string[] | undefined) {
  return texts?.map((text, at) => {
    try {
      return parsePrefix(text)
    } catch (error) {
      if (!(error instanceof PrefixError)) throw error
      context.problem([...path, at], error.message)
      return text
    }
  })
}
