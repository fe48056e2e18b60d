// The elements of the platform for staff, as the platform file would have them. It only reads.
import type {
  listPlatformElementsRoute,
  PlatformElement,
  PlatformKind,
} from '@pharos/contract/operator/platform'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { readCurrent } from './engine/apply.ts'
import { rowsByKey } from './engine/define-kind.ts'
import { elementOf, formFieldsOf, storedSecrets, elementTag } from './engine/element.ts'
import type { Kind, Row } from './engine/kind.ts'
import { isOfTeam, managerOf } from './engine/plan.ts'
import { platformKinds } from './kinds/index.ts'

type Deps = { readonly db: Db }

/** The kinds that the portal changes. */
export const portalKinds: readonly Kind[] = platformKinds.kinds.filter(
  ({ element, outsideOfPortal }) => element !== null && outsideOfPortal === undefined,
)

export const listPlatformKinds = (): { kinds: PlatformKind[] } => ({
  kinds: portalKinds.map((kind) => ({
    section: kind.section,
    kind: kind.name,
    is_single: kind.isSingle ?? false,
    identity: kind.element && kind.isSingle ? [] : [...kind.identity],
    fields: formFieldsOf(kind),
  })),
})

/** Throws `not_found` for a section that the portal does not change. */
export async function listPlatformElements(
  { db }: Deps,
  _operation: unknown,
  section: string,
  query: QueryOf<typeof listPlatformElementsRoute>,
): Promise<{ results: PlatformElement[]; count: number }> {
  const kind = portalKinds.find((one) => one.section === section)
  if (!kind) throw notFound('section')
  const rows = rowsByKey(await readCurrent({ kinds: [kind] }, db), kind)
  const found = [...rows.values()].map((row) => presentElement(kind, row)).filter(matches(query))
  const { offset = 0, limit = 100, ordering = 'key' } = query
  const page = found.toSorted(orderOf(ordering)).slice(offset, offset + limit)
  return { results: page, count: found.length }
}

const presentElement = (kind: Kind, row: Row): PlatformElement => ({
  key: row.key,
  managed_by: shownManager(row),
  file: row.owner?.file ?? null,
  values: elementOf(kind, row),
  secrets: storedSecrets(kind, row),
  etag: elementTag(row),
})

export function shownManager(row: Row): PlatformElement['managed_by'] {
  const manager = managerOf(row)
  if (manager !== 'platform') return manager
  return isOfTeam(row) ? 'team' : 'file'
}

type Query = QueryOf<typeof listPlatformElementsRoute>

function matches({ search, key, team, managed_by: manager }: Query): (element: PlatformElement) => boolean {
  const wanted = search?.toLowerCase()
  return (element) =>
    (key === undefined || element.key === key) &&
    (manager === undefined || element.managed_by === manager) &&
    (team === undefined || element.values['team'] === team) &&
    (wanted === undefined || textOf(element).includes(wanted))
}

const textOf = ({ key, values }: PlatformElement): string =>
  [key, ...Object.values(values).filter((value) => typeof value === 'string')].join('\n').toLowerCase()

const collator = new Intl.Collator('en', { numeric: true })

function orderOf(ordering: string): (a: PlatformElement, b: PlatformElement) => number {
  const keys = ordering
    .split(',')
    .map((key) => ({ name: key.replace(/^-/, ''), sign: key.startsWith('-') ? -1 : 1 }))
  return (a, b) => {
    for (const { name, sign } of keys) {
      const result =
        name === 'managed_by' ? collator.compare(a.managed_by, b.managed_by) : collator.compare(a.key, b.key)
      if (result !== 0) return sign * result
    }
    return collator.compare(a.key, b.key)
  }
}
