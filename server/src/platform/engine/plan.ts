// Compares the entries of a platform document with the database: the difference as a list of changes, in the order in which
// they can be made. Pure, and the same input gives the same plan.
import { referencesOf, rowsByKey, withInitials } from './define-kind.ts'
import type {
  PlatformChange,
  Create,
  Current,
  Entry,
  Fields,
  ElementFieldChange,
  Kind,
  PlanOptions,
  Row,
  ElementSource,
  Update,
} from './kind.ts'
import type { Registry } from './registry.ts'

/** The entries of a document and the sections that it has: only these are pruned. */
export type Desired = { readonly entries: readonly Entry[]; readonly present: ReadonlySet<string> }

export type ApplyPlan = {
  readonly changes: readonly PlatformChange[]
  /** How many elements of the document exist as they should, by the name of their kind. */
  readonly unchanged: Readonly<Record<string, number>>
  /** Rows and fields that were kept although the document differs or does not name them, with the reason. */
  readonly notices: readonly string[]
}

/** Returns the changes that make the database agree with the document. */
export function planPlatform(
  registry: Registry,
  named: Desired,
  current: Current,
  options: PlanOptions,
): ApplyPlan {
  const desired = {
    ...named,
    entries: named.entries.map((entry) => withDefaults(registry.get(entry.kind), entry, current, options)),
  }
  const notices: string[] = []
  const notice = (message: string) => void notices.push(message)
  const unchanged: Record<string, number> = {}
  let changes: readonly PlatformChange[] = registry.kinds.flatMap((kind) => {
    const entries = desired.entries.filter((entry) => entry.kind === kind.name)
    const wanted = entries.filter((entry) => !staysRemoved(entry, current, options, notice))
    const planned = wanted.flatMap((entry) => planEntry(kind, entry, current, options, notice))
    unchanged[kind.name] = wanted.length - planned.length
    return planned
  })
  if (options.prune || options.removals)
    changes = [...changes, ...planPrune(registry, desired, current, options, notice)]
  for (const kind of registry.kinds) changes = kind.adjust?.({ changes, current, options, notice }) ?? changes
  return { changes, unchanged, notices }
}

/**
 * A missing field of an element in a platform file means its default, as in a new element: the file alone defines the
 * configuration. Fields that others also set, and fields of an import, stay.
 */
function withDefaults(
  kind: Kind,
  entry: Entry,
  current: Current,
  { source = 'platform', enforce }: PlanOptions,
): Entry {
  const row = rowsByKey(current, kind).get(entry.key)
  if (!row || source === 'netbox') return entry
  const isForeign = (field: string): boolean => isForeignField(kind, row, field, source)
  const isTakenOver =
    enforce &&
    (managerOf(row) === 'portal' ||
      Object.entries(entry.fields).some(
        ([field, value]) => isForeign(field) && !isSame(row.fields[field], value),
      ))
  const isKept = (field: string): boolean =>
    kind.identity.includes(field) ||
    kind.fields[field]!.isShared === true ||
    row.setByOwner.includes(field) ||
    (isForeign(field) && !isTakenOver)
  const defaults = Object.entries(withInitials(kind, entry.fields)).filter(
    ([field, value]) => value !== undefined && !isKept(field),
  )
  return { ...entry, fields: { ...Object.fromEntries(defaults), ...entry.fields } }
}

type Notice = (message: string) => void

/** An element that its owner has removed is not created again by a document that still names it. */
function staysRemoved(
  { kind, key }: Entry,
  { removed }: Current,
  { enforce }: PlanOptions,
  notice: Notice,
): boolean {
  if (enforce || !removed.has(`${kind} ${key}`)) return false
  notice(`${kind} ${key}: removed by the team or the user since; not created (--enforce creates it)`)
  return true
}

/** The source that creates, changes and deletes the row. */
export const managerOf = ({ fields, owner }: Row): ElementSource =>
  fields['managed_by'] === 'netbox' ? 'netbox' : (owner?.managedBy ?? 'platform')

/** A row that a team has made, and that no document has named since. */
export const isOfTeam = (row: Row): boolean =>
  managerOf(row) === 'platform' && row.owner === undefined && !row.isPrunable

/** Returns whether another source sets the field of the row. The platform file sets what an import does not. */
function isForeignField(kind: Kind, row: Row, field: string, source: ElementSource): boolean {
  const manager = managerOf(row)
  if (manager === source || (source === 'portal' && isOfTeam(row))) return false
  return source === 'netbox' || manager !== 'netbox' || isImported(kind, field)
}

const isImported = ({ imported }: Kind, field: string): boolean =>
  imported !== undefined && [...imported.cleared, ...imported.kept].includes(field)

function planEntry(
  kind: Kind,
  entry: Entry,
  current: Current,
  { enforce, source = 'platform' }: PlanOptions,
  notice: Notice,
): PlatformChange[] {
  const row = rowsByKey(current, kind).get(entry.key)
  if (!row) return [createOf(kind, entry)]
  const differing = Object.entries(entry.fields)
    .map(([field, after]) => ({ field, before: row.fields[field], after }))
    .filter(({ before, after }) => !isSame(before, after))
  const manager = managerOf(row)
  const isForeign = ({ field }: ElementFieldChange) => isForeignField(kind, row, field, source)
  // A person has seen what the team set.
  const isSetByOwner = ({ field }: ElementFieldChange) =>
    source !== 'portal' && row.setByOwner.includes(field)
  const foreign = differing.filter(isForeign)
  if (enforce) return updatesOf(row, [...differing, ...takeover(foreign, manager, source)])
  if (foreign.length > 0) {
    const names = foreign.map(({ field }) => field).filter((field) => field !== 'managed_by')
    const kept = names.length > 0 ? `; ${names.join(', ')} kept` : ''
    notice(`${kind.name} ${row.key}: managed by ${manager}${kept} (--enforce changes that)`)
  }
  for (const change of differing.filter((one) => isSetByOwner(one) && !isForeign(one)))
    notice(`${kind.name} ${row.key}: ${describeKept(kind, change)}; kept (--enforce sets it)`)
  return updatesOf(
    row,
    differing.filter((one) => !isForeign(one) && !isSetByOwner(one)),
  )
}

const updatesOf = (row: Row, changes: readonly ElementFieldChange[]): PlatformChange[] =>
  changes.length > 0 ? [updateOf(row, changes)] : []

/** The entries of an import contain `managed_by`; others do not. A file takes an element of the portal over even if no field differs. */
function takeover(
  foreign: readonly ElementFieldChange[],
  manager: ElementSource,
  source: ElementSource,
): ElementFieldChange[] {
  if (source === 'netbox' || (foreign.length === 0 && manager !== 'portal')) return []
  return [{ field: 'managed_by', before: manager, after: source }]
}

function createOf(kind: Kind, { key, fields }: Entry): Create {
  return { action: 'create', kind: kind.name, key, fields: withInitials(kind, fields) }
}

function updateOf(row: Row, changes: readonly ElementFieldChange[]): Update {
  const fields = Object.fromEntries(changes.map(({ field, after }) => [field, after]))
  return { action: 'update', kind: row.kind, key: row.key, changes, fields, row }
}

function describeKept({ fields }: Kind, { field, before, after }: ElementFieldChange): string {
  const { secret } = fields[field]!
  if (secret) return `the ${secret.name} was changed since`
  return `${field} is ${printValue(after)} in the file and was set to ${printValue(before)} since`
}

/** A value in one line. */
export function printValue(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value
  return Array.isArray(value) ? `[${value.map(printValue).join(', ')}]` : JSON.stringify(value)
}

/** Returns whether the row has the value of the document; `true` for a time accepts any time. */
function isSame(before: unknown, after: unknown): boolean {
  if (after === true && typeof before === 'string') return true
  return canonical(before) === canonical(after)
}

/** JSON with sorted names: the database does not keep the order of names in an object. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

const noRemovals: ReadonlySet<string> = new Set()

/** Goes from the last kind to the first, so that a team or a place is deleted in one run with all that refers to it. */
function planPrune(
  { kinds }: Registry,
  desired: Desired,
  current: Current,
  { source = 'platform', prune, removals = noRemovals }: PlanOptions,
  notice: Notice,
): PlatformChange[] {
  const named = new Set(desired.entries.map(({ kind, key }) => `${kind} ${key}`))
  const references = new References(kinds, desired, current)
  return kinds.toReversed().flatMap((kind) =>
    [...rowsByKey(current, kind).values()]
      .filter((row) => row.isPrunable && managerOf(row) === source)
      .filter(({ key }) => isUnwanted(kind, key, named.has(`${kind.name} ${key}`)))
      .flatMap((row) => pruneRow(kind, row, references, keptNotice(removals, notice))),
  )

  function isUnwanted({ name, section }: Kind, key: string, isNamed: boolean): boolean {
    return removals.has(`${name} ${key}`) || (prune && desired.present.has(section) && !isNamed)
  }
}

const keptNotice =
  (removals: ReadonlySet<string>, notice: Notice) =>
  (name: string, reason: string): void =>
    notice(
      removals.has(name) ? `${name} is kept: ${reason}` : `${name} is not in the file and is kept: ${reason}`,
    )

function pruneRow(
  kind: Kind,
  row: Row,
  references: References,
  noticeKept: ReturnType<typeof keptNotice>,
): PlatformChange[] {
  const reason = row.inUse ?? references.describe(row)
  if (reason === null) {
    references.remove(row)
    return [{ action: 'delete', kind: kind.name, key: row.key, row }]
  }
  noticeKept(`${kind.name} ${row.key}`, reason)
  const changes = Object.entries(kind.disabled ?? {})
    .map(([field, after]) => ({ field, before: row.fields[field], after }))
    .filter(({ before, after }) => !isSame(before, after))
  return changes.length > 0 ? [updateOf(row, changes)] : []
}

/** The references between elements once the document is applied. */
class References {
  readonly #targets = new Map<string, ReadonlySet<string>>()
  readonly #sources = new Map<string, Set<string>>()

  constructor(kinds: readonly Kind[], desired: Desired, current: Current) {
    const entries = new Map(desired.entries.map((entry) => [`${entry.kind} ${entry.key}`, entry.fields]))
    for (const kind of kinds) {
      for (const row of rowsByKey(current, kind).values()) {
        const name = `${kind.name} ${row.key}`
        this.#add(kind, name, { ...row.fields, ...entries.get(name) }, row.alsoRefersTo)
      }
      for (const entry of desired.entries.filter((one) => one.kind === kind.name)) {
        const name = `${kind.name} ${entry.key}`
        if (!this.#targets.has(name)) this.#add(kind, name, entry.fields, [])
      }
    }
  }

  #add(kind: Kind, name: string, fields: Fields, more: readonly string[]): void {
    const targets = referencesOf(kind, fields).map((one) => `${one.kind.name} ${one.key}`)
    this.#targets.set(name, new Set([...targets, ...more]))
    for (const target of [...targets, ...more])
      this.#sources.set(target, (this.#sources.get(target) ?? new Set()).add(name))
  }

  remove({ kind, key }: Row): void {
    const name = `${kind} ${key}`
    for (const target of this.#targets.get(name) ?? []) this.#sources.get(target)?.delete(name)
    this.#targets.delete(name)
  }

  /** Returns why the row cannot be deleted; null without references to it. */
  describe({ kind, key }: Row): string | null {
    const [first, ...others] = this.#sources.get(`${kind} ${key}`) ?? []
    if (first === undefined) return null
    return others.length === 0 ? `${first} refers to it` : `${first} and ${others.length} more refer to it`
  }
}
