// The interface of a kind of element in the platform file, such as `region`: its schema, its fields and their columns, its
// checks, and how its rows are written. The engine (check.ts, plan.ts, apply.ts) knows kinds by this interface only.
import type { RawBuilder } from 'kysely'
import type { Static, TSchema } from 'typebox'
import type { Db, Trx } from '../../db/postgres.ts'
import type { Schema } from '../../db/schema.ts'
import type { WakeName } from '../../db/wake.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import type { Path } from './problem.ts'

export type KindDefinition<F, S extends TSchema> = {
  /** Singular, as plans and the audit log name it. */
  readonly name: string
  readonly plural: string
  /** The section of the file. */
  readonly section: string
  /** The schema of one element of the section; null for a kind that is nested in the elements of another one's section. */
  readonly element: S | null
  /** The section may be one element instead of a list. */
  readonly isSingle?: true
  readonly table: Table
  readonly fields: { readonly [N in keyof F]: Field<F[N]> }
  /** The fields that make up the key and never change. */
  readonly identity: readonly NoInfer<keyof F & string>[]
  /** Initial values that follow from the given fields. */
  initialOf?(given: Readonly<Partial<F>>): Partial<F>
  /** Checks conditions that the schema cannot express, and adds the entries. */
  check(context: CheckContext, elements: readonly Element<Static<S>>[]): void
  /** References inside other fields, such as settings. */
  referencesOf?(fields: Readonly<Partial<F>>): readonly Reference[]
  /** Returns the limits of the file's effect on a row, from its columns. */
  stateOf?(row: RowColumns): Partial<RowState>
  /** Keys of rows that their owner has removed: the file creates them again only with `enforce`. */
  readRemoved?(db: Db | Trx): Promise<readonly string[]>
  /** The fields that an import sets. On rows that the import manages, the platform file keeps them. */
  readonly imported?: Imported<NoInfer<keyof F & string>>
  /**
   * The element as the document has it, from the fields of its row: the inverse of `check`. By default the fields with the
   * names of the schema.
   */
  elementOf?(fields: Readonly<F>): Fields
  /** Why the portal does not change elements of this kind. */
  readonly outsideOfPortal?: string
  /** Fields that take an element out of use; pruning sets them if the element cannot be deleted yet. */
  readonly disabled?: Partial<NoInfer<F>>
  /** Returns the changes of the whole plan after the rules of this kind have added or removed changes. */
  adjust?(draft: PlanDraft): readonly PlatformChange[]
  /**
   * Returns why changes of this kind are impossible now, because of rows outside of the kinds. Both the plan and its
   * application call it, so that a dry run reports all reasons.
   */
  objectionsTo?(
    trx: Db | Trx,
    updates: readonly Update<F>[],
    created: readonly Create<F>[],
  ): Promise<readonly Objection[]>
  /** Runs before the first change of any kind, to release what another change claims. */
  prepare?(trx: Trx, changes: readonly PlatformChange[]): Promise<void>
  /** The loop that reads these rows. */
  readonly wakes?: WakeName
} & Partial<Defaults<F>>

/** Why the change of the element with this key is impossible; `field` is the field to change. */
export type Objection = { readonly key: string; readonly field: string; readonly message: string }

/** Without a value in the source, the `cleared` fields get their initial value, and the `kept` fields stay. */
type Imported<Name extends string> = { readonly cleared: readonly Name[]; readonly kept: readonly Name[] }

/** The parts that most kinds leave to `defineKind`. */
type Defaults<F> = {
  /** The key of an entry: the values of its identity, joined by spaces. */
  keyOf(fields: Readonly<F>): string
  create(trx: Trx, created: readonly Create<F>[], now: Date): Promise<void>
  update(trx: Trx, change: Update<F>, now: Date): Promise<void>
  delete(trx: Trx, row: Row<F>): Promise<void>
}

export type Kind<F = Fields> = Omit<KindDefinition<F, TSchema>, keyof Defaults<F>> & Defaults<F>

export type Fields = Readonly<Record<string, unknown>>

/** Values by the name of their column. */
export type RowColumns = Readonly<Record<string, unknown>>

export type Table = {
  readonly name: keyof Schema
  /** The column that identifies a row, in updates and in the audit log. */
  readonly id: string
  /** The key of a row `r` as SQL, if it is not the column of the identity. */
  readonly key?: RawBuilder<string>
  /** Further values to read for each row `t`, by name. */
  readonly select?: Readonly<Record<string, RawBuilder<unknown>>>
  /** Condition on the rows `t` that the file can name; all of them by default. */
  readonly where?: RawBuilder<unknown>
}

/** The storage of a field. field.ts has the usual ways. */
export type Field<T = unknown> = FieldOptions<T> & {
  readonly columns: readonly string[]
  read(row: RowColumns): T
  /** The columns to set, as values of JSON; times may be dates. */
  write(value: T, now: Date): RowColumns
}

export type FieldOptions<T> = {
  /** The value of a row if the file does not name the field. */
  readonly initial?: T
  /** Others set the field too, such as its team: only a new row gets the initial value. */
  readonly isShared?: true
  /** Printed when a row is created. */
  readonly isShown?: true
  readonly secret?: Secret
  readonly reference?: ReferenceTarget
}

type ReferenceTarget = {
  readonly kind: Kind
  /** The column contains the id of the row, not its key. */
  readonly isId: boolean
}

/** A reference that no field declares; `path` is relative to the element. */
export type Reference = { readonly kind: Kind; readonly key: string; readonly path: Path }

/** A password or another secret. The file has it as text or the name of a file; the field has the stored form. */
export type Secret = {
  /** The name of the element's field; `<name>_file` names a file. */
  readonly name: string
  /** It is an image and not secret: a form chooses a file for it. */
  readonly isImage?: true
  /** Other fields of the element that replace it. */
  readonly alternatives?: readonly string[]
  /** Why the text is not accepted, if so. */
  objectionTo?(text: string, fields: Fields): string | undefined
  /** Returns the stored form of the text: `stored` itself if it matches the text and the newest key. */
  store(text: string, stored: string | undefined, ring: KeyRing, key: string): string | Promise<string>
}

/** Limits of the file's effect on a row. */
type RowState = {
  /** Why the row cannot be deleted now, beside references to it; null if it can. */
  readonly inUse: string | null
  /** References beyond those in its fields, such as `region ams`. */
  readonly alsoRefersTo: readonly string[]
  /** False for a row that a team created: pruning leaves it. */
  readonly isPrunable: boolean
  /** Fields that the team or the user has set since: the file changes them only with `enforce`. */
  readonly setByOwner: readonly string[]
  /** Removing it needs approval, however few elements are removed. */
  readonly isRemovalHeld?: boolean
}

/** An element as it is in the database. */
export type Row<F = Fields> = RowState & {
  readonly kind: string
  readonly key: string
  readonly id: number | string
  readonly fields: Readonly<F>
  /** The further columns that the kind selects. */
  readonly selected: RowColumns
  /** Missing before a document has named the element. */
  readonly owner?: ElementOwner
}

/** Who manages an element: the portal, or a platform document; `file` is its name, null for a document over HTTP. */
export type ElementOwner = {
  readonly managedBy: Exclude<ElementSource, 'netbox'>
  readonly file: string | null
}

/** Everything that the file can contain. */
export type Current = {
  /** By the name of their kind, then by key. */
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, Row>>
  /** Elements that their owners have removed, such as `membership demo ada@demo.example`. */
  readonly removed: ReadonlySet<string>
}

/** An element that has the right shape. */
export type Element<E = unknown> = { readonly path: Path; readonly element: E }

/** An element as the document wants it, with the fields that the document names. */
export type Entry<F = Fields> = {
  readonly kind: string
  readonly key: string
  readonly fields: Readonly<Partial<F>>
  readonly path: Path
}

/** The fields that an element names; undefined like a missing field. */
export type Given<F> = { readonly [N in keyof F]?: F[N] | undefined }

/** The interface of the engine for the check of a kind. */
export type CheckContext = {
  readonly source: ElementSource
  problem(path: Path, message: string): void
  /** Reports an accepted value that may be a mistake. */
  notice(path: Path, message: string): void
  /** Adds an entry, without its undefined fields. A second entry with the same key is a problem. */
  add<F>(kind: Kind<F>, path: Path, fields: Given<F>): void
  /**
   * Checks that the references of the fields exist. Not needed for kinds whose every element is added: `add` checks
   * them.
   */
  checkReferences<F>(kind: Kind<F>, path: Path, fields: Given<F>): void
  /** Reads the secret of a field from the element; the field is set when the document is prepared. */
  addSecret<F>(kind: Kind<F>, field: keyof F & string, element: Element): void
  /** False, with a problem, if the document has claimed the same before. */
  claim(claim: string, path: Path, message: string): boolean
  /** Whether an element of this key exists after the document is applied. */
  exists<F>(kind: Kind<F>, key: string): boolean
  /** The keys of all elements that exist after the document is applied. */
  keys<F>(kind: Kind<F>): ReadonlySet<string>
  /** The entries so far; the kinds that others refer to come first. */
  entries<F>(kind: Kind<F>): ReadonlyMap<string, Entry<F>>
  rows<F>(kind: Kind<F>): ReadonlyMap<string, Row<F>>
  /** Whether elements that the document does not name are deleted. */
  isPruned<F>(kind: Kind<F>): boolean
}

export type ElementFieldChange = { readonly field: string; readonly before: unknown; readonly after: unknown }

export type Create<F = Fields> = {
  readonly action: 'create'
  readonly kind: string
  readonly key: string
  readonly fields: Readonly<F>
}

/** `fields` has the new values of the fields that change. */
export type Update<F = Fields> = {
  readonly action: 'update'
  readonly kind: string
  readonly key: string
  readonly changes: readonly ElementFieldChange[]
  readonly fields: Readonly<Partial<F>>
  readonly row: Row<F>
}

type Delete<F = Fields> = {
  readonly action: 'delete'
  readonly kind: string
  readonly key: string
  readonly row: Row<F>
}

export type PlatformChange = Create | Update | Delete

/** The sources of a document. Each changes and deletes only the rows that it manages. */
export type ElementSource = 'platform' | 'netbox' | 'portal'

export type PlanOptions = {
  /** Source of the document; `platform` by default. */
  readonly source?: ElementSource
  /** Deletes elements that the sections of the document do not contain. */
  readonly prune: boolean
  /** The document overrides settings that teams and users have changed since. */
  readonly enforce: boolean
  /** Elements to delete that the document does not name, such as `region ams`. */
  readonly removals?: ReadonlySet<string>
  /** The elements of the document are managed by the portal once it is applied. */
  readonly release?: boolean
  /** New keys of rows that the source has renamed, by `kind key`. */
  readonly renamed?: ReadonlyMap<string, string>
}

/** A plan before the rules of the kinds. */
export type PlanDraft = {
  readonly changes: readonly PlatformChange[]
  readonly current: Current
  readonly options: PlanOptions
  /** Adds why something was left as it is. */
  notice(message: string): void
}
