// Compares what the operator's file wants with what there is: the difference as a list of changes, in the order in
// which they can be made. Pure, and the same input gives the same plan.
import { keepAdmins } from './plan-admins.ts'
import {
  isOperatorsWord,
  kinds,
  sectionOf,
  withDefaults,
  type Current,
  type Desired,
  type Entry,
  type Fields,
  type Kind,
  type Row,
} from './platform.ts'

export type FieldChange = { readonly field: string; readonly before: unknown; readonly after: unknown }

export type Create<K extends Kind = Kind> = {
  readonly [T in K]: {
    readonly action: 'create'
    readonly kind: T
    readonly key: string
    readonly fields: Fields[T]
  }
}[K]

/** Only the fields that change; `fields` has their new values, `before` is the row as it was. */
export type Update<K extends Kind = Kind> = {
  readonly [T in K]: {
    readonly action: 'update'
    readonly kind: T
    readonly key: string
    readonly changes: readonly FieldChange[]
    readonly fields: Readonly<Partial<Fields[T]>>
    readonly before: Fields[T]
  }
}[K]

export type Delete = { readonly action: 'delete'; readonly kind: Kind; readonly key: string }

export type Change = Create | Update | Delete

export type Plan = {
  readonly changes: readonly Change[]
  /** How many of the file's things are already so. */
  readonly unchanged: Readonly<Record<Kind, number>>
  /** What was left as it is although the file says otherwise or does not name it, and why. */
  readonly notices: readonly string[]
}

export type PlanOptions = {
  /** Delete what a section of the file does not name. */
  readonly prune: boolean
  /** The file wins over what teams have switched since. */
  readonly enforce: boolean
}

/** What to do so that everything is as the file says; nothing when it is. */
export function planPlatform(desired: Desired, current: Current, options: PlanOptions): Plan {
  const changes: Change[] = []
  const notices: string[] = []
  const unchanged = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>
  for (const kind of kinds) {
    for (const entry of desired.entries.filter((one) => one.kind === kind)) {
      const row = current[kind].get(entry.key)
      if (!row && staysEnded(entry, current, options, notices)) continue
      const change = row ? planUpdate(entry, row, options, notices) : planCreate(entry)
      if (change) changes.push(change)
      else unchanged[kind]++
    }
  }
  changes.push(...endProofs(changes, current))
  if (options.prune) changes.push(...planPrune(desired, current, notices))
  return { changes: keepAdmins(changes, current, options, notices), unchanged, notices }
}

/** The operator's word for one team ends what other teams have proven of the ASN. */
function endProofs(changes: readonly Change[], current: Current): Change[] {
  const given = changes.filter(
    (change) =>
      change.kind === 'asn' && change.action !== 'delete' && isOperatorsWord(change.fields.verified),
  )
  const keys = new Set(given.map(({ key }) => key))
  const asns = new Set([...keys].map((key) => key.split(' AS')[1]))
  const revoked = new Set(
    changes.flatMap((change) =>
      change.kind === 'asn' && change.action === 'update' && change.fields.verified !== undefined
        ? [change.key]
        : [],
    ),
  )
  return [...current.asn.values()]
    .filter(({ key, fields: { asn, verified } }) => {
      const isProven = typeof verified === 'object' && verified !== null
      return isProven && asns.has(String(asn)) && !keys.has(key) && !revoked.has(key)
    })
    .map(({ key, fields: before }) => ({
      action: 'update',
      kind: 'asn',
      key,
      changes: [{ field: 'verified', before: before.verified, after: null }],
      fields: { verified: null },
      before,
    }))
}

/** Who left a team, or whom it removed, is not brought back by a file that still names him. */
function staysEnded(
  { kind, key }: Entry,
  current: Current,
  options: PlanOptions,
  notices: string[],
): boolean {
  if (kind !== 'membership' || options.enforce || !current.ended?.has(key)) return false
  notices.push(
    `membership ${key}: it was ended since, by the team or the member; left so (--enforce makes it again)`,
  )
  return true
}

function planCreate(entry: Entry): Create {
  const fields = (withDefaults[entry.kind] as (given: unknown) => Fields[Kind])(entry.fields)
  return { action: 'create', kind: entry.kind, key: entry.key, fields } as Create
}

function planUpdate(entry: Entry, row: Row, options: PlanOptions, notices: string[]): Update | undefined {
  const before = row.fields as Readonly<Record<string, unknown>>
  const differing = Object.entries(entry.fields)
    .filter(([field, after]) => !isSame(before[field], after))
    .map(([field, after]) => ({ field, before: before[field], after }))
  const isTeams = ({ field }: FieldChange) => row.teamsOwn.includes(field)
  const changes = options.enforce ? differing : differing.filter((change) => !isTeams(change))
  if (!options.enforce) {
    for (const { field, before, after } of differing.filter(isTeams)) {
      notices.push(`${entry.kind} ${entry.key}: ${differenceOf(field, before, after)} (--enforce sets it)`)
    }
  }
  if (changes.length === 0) return undefined
  const fields = Object.fromEntries(changes.map(({ field, after }) => [field, after]))
  return { action: 'update', kind: entry.kind, key: entry.key, changes, fields, before: row.fields } as Update
}

/** Of a password only that it is another one. */
function differenceOf(field: string, before: unknown, after: unknown): string {
  if (field === 'password_hash') return 'the user has chosen another password since; left so'
  const says = `the file says ${field} ${shortly(after)}, since then it was set to ${shortly(before)}`
  return field === 'confirmed' ? `${says}; left so` : `${says}; left to the team`
}

function shortly(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value)
}

/** Whether the database has what the file wants. `true` for a time means "passed", whenever that was. */
function isSame(before: unknown, after: unknown): boolean {
  if (after === true && typeof before === 'string') return true
  return canonical(before) === canonical(after)
}

/** JSON with sorted names: the database keeps an object's names in an order of its own. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

/** Goes from what leans on others to what they lean on, so that whole teams and places go in one run. */
function planPrune(desired: Desired, current: Current, notices: string[]): Change[] {
  const named = new Set(desired.entries.map(({ kind, key }) => `${kind} ${key}`))
  const references = new References(desired, current)
  const changes: Change[] = []
  for (const kind of kinds.toReversed()) {
    if (!desired.present.has(sectionOf[kind])) continue
    for (const row of current[kind].values()) {
      if (named.has(`${kind} ${row.key}`) || !row.prunable) continue
      const reason = row.inUse ?? references.leaningOn(row)
      if (reason === null) references.remove(row)
      changes.push(...pruneOne(row, reason, notices))
    }
  }
  return changes
}

/** Which of the things that will be there when the file has been applied refer to which others. */
class References {
  readonly #from = new Map<string, ReadonlySet<string>>()
  readonly #to = new Map<string, Set<string>>()

  constructor(desired: Desired, current: Current) {
    const entries = new Map(desired.entries.map((entry) => [`${entry.kind} ${entry.key}`, entry.fields]))
    for (const kind of kinds) {
      for (const row of current[kind].values()) {
        const name = `${kind} ${row.key}`
        const fields = { ...row.fields, ...entries.get(name) }
        this.#add(name, [...referencesOf(kind, fields), ...row.alsoRefersTo])
      }
    }
    for (const { kind, key, fields } of desired.entries)
      this.#add(`${kind} ${key}`, referencesOf(kind, fields))
  }

  #add(name: string, targets: readonly string[]): void {
    this.#from.set(name, new Set([...(this.#from.get(name) ?? []), ...targets]))
    for (const target of targets) this.#to.set(target, (this.#to.get(target) ?? new Set()).add(name))
  }

  remove({ kind, key }: Row): void {
    const name = `${kind} ${key}`
    for (const target of this.#from.get(name) ?? []) this.#to.get(target)?.delete(name)
    this.#from.delete(name)
  }

  leaningOn({ kind, key }: Row): string | null {
    const [first, ...others] = this.#to.get(`${kind} ${key}`) ?? []
    if (first === undefined) return null
    return others.length === 0 ? `${first} refers to it` : `${first} and ${others.length} more refer to it`
  }
}

function referencesOf(kind: Kind, fields: object): string[] {
  const { team, location, settings } = fields as {
    team?: string
    location?: string | null
    settings?: { location?: unknown }
  }
  const place = kind === 'source' ? settings?.location : location
  return [
    ...(team === undefined ? [] : [`team ${team}`]),
    ...(typeof place === 'string' ? [`location ${place}`] : []),
  ]
}

function pruneOne(row: Row, reason: string | null, notices: string[]): Change[] {
  if (reason === null) return [{ action: 'delete', kind: row.kind, key: row.key }]
  notices.push(`${row.kind} ${row.key} is not named and stays: ${reason}`)
  if (row.kind === 'announcement') return setField(row, 'enabled', false)
  if (row.kind === 'region') return setField(row, 'open', false)
  return []
}

/** What is in use is not deleted but switched off; once it is at rest, a later prune deletes it. */
function setField(row: Row, field: 'enabled' | 'open', after: boolean): Change[] {
  const before = (row.fields as Readonly<Record<string, unknown>>)[field]
  if (before === after) return []
  const { kind, key } = row
  const changes = [{ field, before, after }]
  return [{ action: 'update', kind, key, changes, fields: { [field]: after }, before: row.fields } as Update]
}
