// The changes of record sets that are not applied yet: the new rows, the request, and the row of each error of
// the answer. Pure.
import type { RecordSet } from '@pharos/contract/dns/recordset'
import type { ProblemError } from '@pharos/contract/problem'
import { words } from './words.ts'

const { records: texts } = words

/** A row as it is edited. `original` is missing for a new set. */
export type Draft = {
  readonly key: string
  readonly original?: RecordSet
  readonly isRemoved: boolean
  readonly name: string
  readonly type: string
  /** Seconds, or `5m`, `1h`, `1d`; empty for the default of the zone. */
  readonly ttl: string
  /** One record a line. */
  readonly values: string
  readonly comment: string
}

export type Drafts = ReadonlyMap<string, Draft>
export type RowField = 'name' | 'type' | 'ttl' | 'values' | 'comment'
export type RowFieldErrors = Readonly<Partial<Record<RowField, string>>>
/** Sentences by the key of the row and the field. */
export type RowErrors = ReadonlyMap<string, RowFieldErrors>

export type WantedSet = {
  readonly name: string
  readonly type: string
  readonly ttl?: number
  readonly records: string[]
  readonly comment?: string
}

export const newDraft = (key: string): Draft => ({
  key,
  isRemoved: false,
  name: '',
  type: 'A',
  ttl: '',
  values: '',
  comment: '',
})

export const draftOf = (set: RecordSet): Draft => ({
  key: set.id,
  original: set,
  isRemoved: false,
  name: set.name,
  type: set.type,
  ttl: ttlInput(set.ttl),
  values: set.records.join('\n'),
  comment: set.comment,
})

const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Returns seconds; undefined if the text is no time. */
export function parseTtl(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,10})\s*([smhdw]?)$/i.exec(text.trim()) ?? []
  return digits === undefined ? undefined : Number(digits) * units[unit!.toLowerCase()]!
}

/** Returns a TTL as people type it: `1h` for 3600. */
export function ttlInput(seconds: number): string {
  for (const unit of ['w', 'd', 'h', 'm']) {
    const size = units[unit]!
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`
  }
  return String(seconds)
}

/** The most common TTLs, from a short one for quick changes to a long one for few queries. */
export const ttlPresets = ['1m', '5m', '15m', '1h', '4h', '12h', '1d'] as const

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Reports whether applying the draft would change something. */
export function isChanged(draft: Draft): boolean {
  const { original } = draft
  if (draft.isRemoved || !original) return true
  const before = draftOf(original)
  return (['name', 'type', 'ttl', 'values', 'comment'] as const).some(
    (field) => draft[field].trim() !== before[field].trim(),
  )
}

/** Returns whether a new row is still empty. */
export const isBlank = ({ original, name, values, ttl, comment }: Draft): boolean =>
  original === undefined && [name, values, ttl, comment].every((text) => text.trim() === '')

export const changedDrafts = (drafts: Drafts): Draft[] => [...drafts.values()].filter(isChanged)

/** Returns the mistakes found before sending. */
export function mistakesIn(drafts: Drafts): RowErrors {
  const errors = new Map<string, Partial<Record<RowField, string>>>()
  const seen = new Set<string>()
  for (const draft of changedDrafts(drafts)) {
    if (draft.isRemoved) continue
    const own: Partial<Record<RowField, string>> = {}
    const id = `${draft.name.trim().toLowerCase()}/${draft.type.trim().toUpperCase()}`
    if (draft.name.trim() === '') own.name = texts.noName
    else if (seen.has(id)) own.name = texts.repeated
    if (draft.type.trim() === '') own.type = texts.noType
    if (draft.ttl.trim() !== '' && parseTtl(draft.ttl) === undefined) own.ttl = texts.wrongTtl
    if (linesOf(draft.values).length === 0) own.values = texts.noValues
    seen.add(id)
    if (Object.keys(own).length > 0) errors.set(draft.key, own)
  }
  return errors
}

/** Returns the sets of the request, and for each the key of its row. A renamed set is deleted and created. */
export function requestOf(drafts: Drafts): { recordsets: WantedSet[]; keys: string[] } {
  const recordsets: WantedSet[] = []
  const keys: string[] = []
  const changed = changedDrafts(drafts)
  const written = new Set(
    changed.filter(({ isRemoved }) => !isRemoved).map(({ name, type }) => idOf(name, type)),
  )
  const add = (key: string, set: WantedSet) => {
    recordsets.push(set)
    keys.push(key)
  }
  for (const draft of changed) {
    const { key, original, isRemoved, name, type, ttl, values, comment } = draft
    const isGone = original && (isRemoved || idOf(name, type) !== idOf(original.name, original.type))
    // Another row may have taken its place.
    if (isGone && !written.has(idOf(original.name, original.type)))
      add(key, { name: original.name, type: original.type, records: [] })
    if (isRemoved) continue
    const seconds = parseTtl(ttl)
    add(key, {
      name: name.trim(),
      type: type.trim().toUpperCase(),
      ...(seconds === undefined ? {} : { ttl: seconds }),
      records: linesOf(values),
      ...(comment !== (original?.comment ?? '') ? { comment } : {}),
    })
  }
  return { recordsets, keys }
}

const idOf = (name: string, type: string): string =>
  `${name.trim().toLowerCase()}/${type.trim().toUpperCase()}`

const fieldOf: Readonly<Record<string, RowField>> = {
  name: 'name',
  type: 'type',
  ttl: 'ttl',
  records: 'values',
  comment: 'comment',
}

/** Places the errors of an answer, whose `loc` is `['body', 'recordsets', 3, 'records', 0]`, at the rows. */
export function placeRowErrors(
  errors: readonly ProblemError[],
  keys: readonly string[],
  sentence: (error: ProblemError) => string,
): { placed: RowErrors; rest: readonly ProblemError[] } {
  const placed = new Map<string, Partial<Record<RowField, string>>>()
  const rest: ProblemError[] = []
  for (const error of errors) {
    const at = error.loc.indexOf('recordsets')
    const key = at < 0 ? undefined : keys[Number(error.loc[at + 1])]
    if (key === undefined) {
      rest.push(error)
      continue
    }
    const field = fieldOf[String(error.loc[at + 2] ?? 'records')] ?? 'values'
    const before = placed.get(key)?.[field]
    const text = sentence(error)
    placed.set(key, {
      ...placed.get(key),
      [field]: before === undefined || before === text ? text : `${before} ${text}`,
    })
  }
  return { placed, rest }
}

/** Returns `1 h` for 3600. */
export function ttlText(seconds: number): string {
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ] as const)
    if (seconds >= size && seconds % size === 0) return `${seconds / size} ${unit}`
  return `${seconds} s`
}
