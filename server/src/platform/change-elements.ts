// Changes of single elements by the portal: a document of these elements with the source `portal`, for the planner of the platform file.
// It must not change what a file or NetBox manages.
import type { changePlatformRoute, PlatformPlan } from '@pharos/contract/operator/platform'
import type { ProblemError } from '@pharos/contract/problem'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import { runOwnerChange, type ChangeAnswer } from '../db/run-change.ts'
import type { StaffOperation } from '../operation/operation.ts'
import { errorAt, fail, failWith } from '../runtime/error.ts'
import {
  applyAs,
  authorOf,
  documentFailure,
  findFields,
  noFiles,
  presentPlan,
  type ApplyDeps,
} from './apply-document.ts'
import { requireApproved } from './approved-deletions.ts'
import { lockPlatform, preparePlatform, readCurrent, type Prepared } from './engine/apply.ts'
import { rowsByKey } from './engine/define-kind.ts'
import { documentOf } from './engine/document.ts'
import { isOfMachine, elementTag } from './engine/element.ts'
import type { Current, Fields, Kind, Row } from './engine/kind.ts'
import type { Path } from './engine/problem.ts'
import { platformKinds } from './kinds/index.ts'
import { portalKinds, shownManager } from './list-elements.ts'

type Body = BodyOf<typeof changePlatformRoute>
type Change = Body['changes'][number]

/** A change whose kind is known; `key` is that of its element. */
type Wanted = {
  readonly at: number
  readonly action: Change['action']
  readonly kind: Kind
  readonly key: string
  readonly values: Fields | undefined
  readonly ifMatch: string | undefined
}

export function changeElements(
  { db, ring }: ApplyDeps,
  operation: StaffOperation,
  { changes }: Body,
  approved: QueryOf<typeof changePlatformRoute>,
): Promise<ChangeAnswer<PlatformPlan>> {
  const wanted = readChanges(changes)
  const { value, places } = documentFor(wanted)
  const explain = (error: unknown): never => {
    throw documentFailure(error, (path) => placeIn(places, path))
  }
  return runOwnerChange(db, operation, async (trx) => {
    await lockPlatform(trx)
    const current = await readCurrent({ kinds: [...new Set(wanted.map(({ kind }) => kind))] }, trx)
    refuseForeign(current, wanted)
    refuseChanged(current, wanted)
    const prepared = await preparePlatform(
      platformKinds,
      trx,
      documentOf('request', value),
      { ring, readText: noFiles },
      { source: 'portal', prune: false, enforce: false, removals: removalsIn(wanted) },
    ).catch(explain)
    const named = withFinalKeys(wanted, places, prepared)
    refuseForeign(current, named)
    requireEffects(named, prepared)
    if (!operation.dryRun) requireApproved(prepared, approved)
    await applyAs(trx, prepared, authorOf(operation)).catch(explain)
    return { body: presentPlan(prepared, !operation.dryRun) }
  })
}

const removalsIn = (wanted: readonly Wanted[]): ReadonlySet<string> =>
  new Set(wanted.filter(({ action }) => action === 'delete').map(({ kind, key }) => `${kind.name} ${key}`))

/** Throws `invalid` with each change that cannot be read, names a file or repeats an element. */
function readChanges(changes: Body['changes']): Wanted[] {
  const errors: ProblemError[] = []
  const seen = new Set<string>()
  const wanted = changes.flatMap((change, at): Wanted[] => {
    const place = ['body', 'changes', at] as const
    const kind = portalKinds.find(({ section }) => section === change.section)
    if (!kind) errors.push(errorAt([...place, 'section'], 'portalSection'))
    const { action, values, key: given, if_match: ifMatch } = change
    const missing = action === 'delete' ? given === undefined && 'key' : values === undefined && 'values'
    if (missing) errors.push(errorAt([...place, missing], 'required'))
    const files = findFields(values ?? {}, [], isOfMachine)
    for (const path of files) errors.push(errorAt([...place, 'values', ...path], 'fileInElement'))
    if (!kind || missing || files.length > 0) return []
    const key = action === 'delete' ? given! : keyIn(kind, values!)
    if (action === 'update' && given !== undefined && given !== key)
      errors.push(errorAt([...place, 'values'], 'elementKey', { key: given }))
    if (seen.has(`${kind.name} ${key}`)) errors.push(errorAt(place, 'elementTwice', { key }))
    seen.add(`${kind.name} ${key}`)
    return [{ at, action, kind, key, values: action === 'delete' ? undefined : values, ifMatch }]
  })
  if (errors.length > 0) throw failWith('invalid', errors)
  return wanted
}

/** The key of values that are not checked yet; empty if a part of it has another type, which the check reports. */
function keyIn(kind: Kind, values: Fields): string {
  const parts = kind.isSingle ? [] : kind.identity.map((name) => values[name])
  const isKey = parts.every((part) => ['string', 'number', 'undefined'].includes(typeof part))
  return isKey && (parts[0] !== undefined) === !kind.isSingle ? kind.keyOf(values) : ''
}

type Places = ReadonlyMap<string, readonly number[]>

/** The document, and for each section the change of each of its elements. */
function documentFor(wanted: readonly Wanted[]): { value: Fields; places: Places } {
  const named = wanted.filter(({ values }) => values !== undefined)
  const groups = Map.groupBy(named, ({ kind }) => kind.section)
  return {
    value: Object.fromEntries(
      [...groups].map(([section, list]) => [section, list.map(({ values }) => values)]),
    ),
    places: new Map([...groups].map(([section, list]) => [section, list.map(({ at }) => at)])),
  }
}

function placeIn(places: Places, [section, index, ...rest]: Path): Path {
  const at = places.get(String(section))?.[Number(index)]
  return at === undefined ? ['changes'] : ['changes', at, 'values', ...rest]
}

/** The changes with the keys of their entries: kinds normalise prefixes and host names. */
const withFinalKeys = (wanted: readonly Wanted[], places: Places, { desired }: Prepared): Wanted[] => {
  const keys = new Map(
    desired.entries.map(({ path: [section, index], key }) => [
      places.get(String(section))?.[Number(index)],
      key,
    ]),
  )
  return wanted.map((one) => ({ ...one, key: keys.get(one.at) ?? one.key }))
}

/** Throws `invalid` with each element that exists already, does not exist, or is managed elsewhere. */
function refuseForeign(current: Current, wanted: readonly Wanted[]): void {
  const errors = wanted.flatMap(({ at, action, kind, key }) => {
    const row = rowsByKey(current, kind).get(key)
    const place = ['body', 'changes', at] as const
    const name = `${kind.name} ${key}`
    if (action === 'create') return row ? [errorAt(place, 'elementExists', { name })] : []
    if (!row) return [errorAt(place, 'elementUnknown', { name })]
    const managed = managedElsewhere(row, action)
    return managed === undefined ? [] : [errorAt(place, 'elementManaged', { name, by: managed })]
  })
  if (errors.length > 0) throw failWith('invalid', errors)
}

/** Throws `precondition_failed` for the first element that has changed since the caller read it. */
function refuseChanged(current: Current, wanted: readonly Wanted[]): void {
  for (const { kind, key, ifMatch } of wanted) {
    const row = rowsByKey(current, kind).get(key)
    if (ifMatch === undefined || !row || elementTag(row) === ifMatch) continue
    throw fail('precondition_failed', 'element', { name: `${kind.name} ${key}`, etag: elementTag(row) })
  }
}

/** Undefined if the portal may change the row. What a team made is taken over by a change, and never deleted. */
function managedElsewhere(row: Row, action: Change['action']): string | undefined {
  const manager = shownManager(row)
  if (manager === 'netbox') return 'NetBox'
  if (manager === 'file') return row.owner?.file == null ? 'the platform file' : `the file ${row.owner.file}`
  return manager === 'team' && action === 'delete' ? 'its team' : undefined
}

/**
 * Throws `conflict` if the plan leaves out a creation or a deletion, with its reason, or changes an element that the request does not
 * name and the portal does not manage.
 */
function requireEffects(wanted: readonly Wanted[], { plan }: Prepared): void {
  const planned = new Set(plan.changes.map(({ kind, key }) => `${kind} ${key}`))
  for (const { action, kind, key } of wanted) {
    const name = `${kind.name} ${key}`
    if (action === 'update' || planned.has(name)) continue
    const reason = plan.notices.find((notice) => notice.includes(name)) ?? name
    throw fail('conflict', 'elementKept', { reason })
  }
  const named = new Set(wanted.map(({ kind, key }) => `${kind.name} ${key}`))
  const beside = plan.changes.find(
    (change) =>
      change.action !== 'create' &&
      !named.has(`${change.kind} ${change.key}`) &&
      managedElsewhere(change.row, change.action) !== undefined,
  )
  if (beside)
    throw fail('conflict', 'elementKept', { reason: `${beside.kind} ${beside.key} is managed elsewhere` })
}
