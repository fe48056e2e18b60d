// What the checks of the operator's file share: where a problem stands, what exists, and that nothing is named twice.
import { didYouMean } from '../text/did-you-mean.ts'
import type { PlatformDocument } from './document.ts'
import type { Current, Entry } from './platform.ts'
import type { Path, PlatformProblem } from './problem.ts'
import type { Section } from './schema.ts'
import { nounOf, type Shaped } from './shape.ts'

export type CheckOptions = {
  /** What the file does not name is deleted: only what it names can then be referred to. */
  readonly prune: boolean
}

/** A password or secret that the file gives as a text or as the path of a file: what is stored follows from it. */
export type Credential = { readonly kind: 'user' | 'source'; readonly key: string; readonly path: Path } & (
  | { readonly text: string; readonly file?: undefined }
  | { readonly file: string; readonly text?: undefined }
)

/** The kinds of things that others refer to, with the field that names them. */
const nameFields = { locations: 'key', regions: 'slug', teams: 'slug' } as const
type Referred = keyof typeof nameFields
const kindOf = { locations: 'location', regions: 'region', teams: 'team' } as const

export class CheckContext {
  readonly problems: PlatformProblem[] = []
  readonly notices: PlatformProblem[] = []
  readonly entries: Entry[] = []
  readonly credentials: Credential[] = []
  /** Slugs of the regions that take announcements when the file has been applied. */
  readonly openRegions: ReadonlySet<string>
  readonly current: Current
  readonly shaped: Shaped
  readonly #document: PlatformDocument
  readonly #prune: boolean
  readonly #names = new Map<Referred, ReadonlySet<string>>()
  readonly #first = new Map<string, number>()

  constructor(document: PlatformDocument, shaped: Shaped, current: Current, options: CheckOptions) {
    this.#document = document
    this.shaped = shaped
    this.current = current
    this.#prune = options.prune
    for (const section of ['locations', 'regions', 'teams'] as const) {
      const kept = this.isPruned(section) ? [] : current[kindOf[section]].keys()
      this.#names.set(section, new Set([...kept, ...writtenNames(document.value, section)]))
    }
    this.openRegions = openRegionsOf(this.#names.get('regions')!, shaped, current)
  }

  /** Whether what the section does not name is deleted. */
  isPruned(section: Section): boolean {
    return this.#prune && this.shaped.present.has(section)
  }

  problem(path: Path, message: string): void {
    this.problems.push(this.#document.problemAt(path, message))
  }

  problemAtKey(path: Path, message: string): void {
    this.problems.push(this.#document.problemAtKey(path, message))
  }

  notice(path: Path, message: string): void {
    this.notices.push(this.#document.problemAt(path, message))
  }

  /** Adds an entry, unless the file has named the same thing before. */
  add(entry: Entry, what: string): void {
    if (this.firstTime(`${entry.kind} ${entry.key}`, entry.path, `${what} is named twice`))
      this.entries.push(entry)
  }

  /** False, with a problem, when the file has claimed the same thing before. */
  firstTime(claim: string, path: Path, message: string): boolean {
    const before = this.#first.get(claim)
    if (before !== undefined) {
      this.problem(path, `${message}, first on line ${before}`)
      return false
    }
    this.#first.set(claim, this.#document.problemAt(path, '').line)
    return true
  }

  /** Whether the thing exists, in the file or in the database; a problem when it does not. */
  refer(section: Referred, name: string, path: Path): boolean {
    const names = this.#names.get(section)!
    if (names.has(name)) return true
    const others = [...names].sort()
    const known = others.length > 0 && others.length <= 12 ? `; there are ${others.join(', ')}` : ''
    this.problem(path, `there is no ${nounOf[section]} ${name}${didYouMean(name, others) || known}`)
    return false
  }
}

/** A region whose shape is wrong counts as open: that it is wrong is said once. */
function openRegionsOf(names: ReadonlySet<string>, shaped: Shaped, current: Current): ReadonlySet<string> {
  const written = new Map(shaped.written.regions.map(({ element }) => [element.slug, element.open]))
  return new Set(
    [...names].filter((slug) => written.get(slug) ?? current.region.get(slug)?.fields.open ?? true),
  )
}

/** Names of elements whose shape may be wrong elsewhere: their own problem is not repeated at each reference. */
function writtenNames(value: unknown, section: Referred): string[] {
  const elements = (value as Record<Section, unknown> | null | undefined)?.[section]
  if (!Array.isArray(elements)) return []
  return elements
    .map((element: unknown) => (element as Record<string, unknown> | null)?.[nameFields[section]])
    .filter((name) => typeof name === 'string')
}

/** The same object without the fields that were not given. */
export function given<T extends object>(fields: T): { [F in keyof T]?: Exclude<T[F], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [F in keyof T]?: Exclude<T[F], undefined> }
}
