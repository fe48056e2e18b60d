// Checks conditions that schemas cannot express, against the document itself and against the database, and makes
// entries to plan with. Pure: secrets.ts reads the files named in the document.
import { didYouMean } from '../../text/did-you-mean.ts'
import { referencesOf, rowsByKey } from './define-kind.ts'
import type { PlatformDocument } from './document.ts'
import type {
  CheckContext,
  Current,
  Element,
  Entry,
  Fields,
  Given,
  Kind,
  PlanOptions,
  Row,
  ElementSource,
} from './kind.ts'
import { managerOf, type Desired } from './plan.ts'
import type { Path, Problem } from './problem.ts'
import type { Registry } from './registry.ts'
import { readShape, type Shaped } from './shape.ts'

/** A password or secret that the document has as text or as the path of a file. */
export type WrittenSecret = {
  readonly kind: string
  readonly key: string
  readonly field: string
  readonly path: Path
} & ({ readonly text: string } | { readonly file: string })

export type CheckedDocument = {
  readonly desired: Desired
  /** Not yet fields of their entries: see resolveSecrets(). */
  readonly secrets: readonly WrittenSecret[]
  readonly problems: readonly Problem[]
  /** Accepted values that may be mistakes, such as a reserved ASN. */
  readonly notices: readonly Problem[]
}

type CheckOptions = Pick<PlanOptions, 'prune' | 'source' | 'removals'>

/** Returns the entries of the document, which may be used only if there are no problems. Never throws for a bad document. */
export function checkPlatform(
  registry: Registry,
  document: PlatformDocument,
  current: Current,
  options: CheckOptions,
): CheckedDocument {
  const shaped = readShape(registry, document.value)
  const context = new Context(document, shaped, current, options)
  for (const kind of registry.kinds) kind.check(context, shaped.elements.get(kind.section) ?? [])
  const locate = (problem: Problem) => document.locate(problem)
  return {
    desired: {
      entries: registry.kinds.flatMap((kind) => [...context.entries(kind).values()]),
      present: shaped.present,
    },
    secrets: context.secrets,
    problems: [...document.problems, ...[...shaped.problems, ...context.problems].map(locate)],
    notices: context.notices.map(locate),
  }
}

/** Names that are suggested or listed for a wrong one: comparing it with more would take too long. */
const suggestedMax = 1000
const listedMax = 12

class Context implements CheckContext {
  readonly problems: Problem[] = []
  readonly notices: Problem[] = []
  readonly secrets: WrittenSecret[] = []
  readonly #document: PlatformDocument
  readonly #shaped: Shaped
  readonly #current: Current
  readonly #prune: boolean
  readonly source: ElementSource
  readonly #removals: ReadonlySet<string>
  readonly #entries = new Map<string, Map<string, Entry>>()
  readonly #keys = new Map<string, ReadonlySet<string>>()
  readonly #claims = new Map<string, Path>()

  constructor(
    document: PlatformDocument,
    shaped: Shaped,
    current: Current,
    { prune, source = 'platform', removals }: CheckOptions,
  ) {
    this.#document = document
    this.#shaped = shaped
    this.#current = current
    this.#prune = prune
    this.source = source
    this.#removals = removals ?? new Set()
  }

  problem(path: Path, message: string): void {
    this.problems.push({ path, message })
  }

  notice(path: Path, message: string): void {
    this.notices.push({ path, message })
  }

  add<F>(kind: Kind<F>, path: Path, given: Given<F>): void {
    const imported = this.source === 'netbox' ? importedFields(kind as Kind, this.source) : {}
    const written = Object.entries(given).filter(([, value]) => value !== undefined)
    const named = Object.entries({ ...imported, ...Object.fromEntries(written) })
    const fields = Object.fromEntries(named) as Partial<F>
    const key = kind.keyOf(fields as F)
    this.checkReferences(kind, path, fields)
    if (!this.claim(`${kind.name} ${key}`, path, `${kind.name} ${key} is listed twice`)) return
    const entries = this.#entries.get(kind.name) ?? new Map<string, Entry>()
    entries.set(key, { kind: kind.name, key, fields: fields as Fields, path })
    this.#entries.set(kind.name, entries)
  }

  addSecret<F>(kind: Kind<F>, field: keyof F & string, { path, element }: Element): void {
    const { name, alternatives = [], objectionTo } = kind.fields[field].secret!
    const values = element as Fields
    const key = kind.keyOf(values as F)
    const ways = [name, ...alternatives, `${name}_file`]
    const [first, second] = ways.filter((way) => values[way] !== undefined)
    const whole = { kind: kind.name, key, field }
    if (second !== undefined) {
      const message = `${first} and ${second} exclude each other; remove one`
      this.problems.push({ path: [...path, second], message, atKey: true })
    }
    const row = this.rows(kind).get(key)
    const stored = row?.fields[field] ?? null
    if (first === undefined && stored === null) {
      const reason = row ? '' : 'is new and '
      this.problem(path, `${kind.name} ${key} ${reason}needs one of ${ways.join(', ')}`)
    }
    if (first === undefined && stored !== null) this.#keepSecret(kind as unknown as Kind, key, field, stored)
    const [text, file] = [values[name], values[`${name}_file`]]
    if (typeof text === 'string') {
      const objection = objectionTo?.(text, values)
      if (objection !== undefined) this.problem([...path, name], objection)
      else this.secrets.push({ ...whole, path: [...path, name], text })
    } else if (typeof file === 'string') {
      this.secrets.push({ ...whole, path: [...path, `${name}_file`], file })
    }
  }

  /** A secret that the element still has, but the document does not repeat, must not get its default. */
  #keepSecret(kind: Kind, key: string, field: string, stored: unknown): void {
    const entries = this.#entries.get(kind.name)
    const entry = entries?.get(key)
    if (entry && kind.fields[field]!.initial !== undefined)
      entries!.set(key, { ...entry, fields: { ...entry.fields, [field]: stored } })
  }

  claim(claim: string, path: Path, message: string): boolean {
    const first = this.#claims.get(claim)
    if (first === undefined) {
      this.#claims.set(claim, path)
      return true
    }
    this.problem(path, `${message}, first ${this.#document.describePlace(first)}`)
    return false
  }

  checkReferences<F>(kind: Kind<F>, path: Path, fields: Given<F>): void {
    for (const reference of referencesOf(kind as unknown as Kind, fields as Fields)) {
      if (this.exists(reference.kind, reference.key)) continue
      const hint = hintFor(reference.key, [...this.keys(reference.kind)])
      this.problem([...path, ...reference.path], `unknown ${reference.kind.name} ${reference.key}${hint}`)
    }
  }

  exists<F>(kind: Kind<F>, key: string): boolean {
    return this.keys(kind).has(key)
  }

  keys<F>(kind: Kind<F>): ReadonlySet<string> {
    const known = this.#keys.get(kind.name)
    if (known) return known
    const kept = [...this.rows(kind as Kind).values()].filter(
      (row) =>
        !this.#removals.has(`${kind.name} ${row.key}`) &&
        (!this.isPruned(kind) || managerOf(row) !== this.source),
    )
    const entries = this.entries(kind).keys()
    const keys = new Set([...kept.map(({ key }) => key), ...entries, ...this.#writtenKeys(kind)])
    this.#keys.set(kind.name, keys)
    return keys
  }

  /** As written, including elements of a wrong shape: references to them are not reported as well. */
  #writtenKeys<F>({ section, identity, keyOf }: Kind<F>): string[] {
    const elements = (this.#document.value as Fields | null | undefined)?.[section]
    if (!Array.isArray(elements)) return []
    return elements
      .filter((element: unknown) => identity.every((field) => isKeyPart((element as Fields | null)?.[field])))
      .map((element: unknown) => keyOf(element as F))
  }

  entries<F>(kind: Kind<F>): ReadonlyMap<string, Entry<F>> {
    return (this.#entries.get(kind.name) ?? new Map()) as ReadonlyMap<string, Entry<F>>
  }

  rows<F>(kind: Kind<F>): ReadonlyMap<string, Row<F>> {
    return rowsByKey(this.#current, kind)
  }

  isPruned<F>(kind: Kind<F>): boolean {
    return this.#prune && this.#shaped.present.has(kind.section)
  }
}

/** The manager of the row, and the initial values of fields without a value in the source. */
const importedFields = ({ imported, fields }: Kind, source: ElementSource): Fields =>
  'managed_by' in fields
    ? {
        ...Object.fromEntries((imported?.cleared ?? []).map((name) => [name, fields[name]!.initial])),
        managed_by: source,
      }
    : {}

const isKeyPart = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'

function hintFor(key: string, keys: readonly string[]): string {
  const similar = didYouMean(key, keys.slice(0, suggestedMax))
  if (similar !== '' || keys.length === 0 || keys.length > listedMax) return similar
  return `; existing: ${keys.toSorted().join(', ')}`
}
