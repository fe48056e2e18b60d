// The usual ways to store a field: its columns are named once here, for reading and for writing, and are checked against
// the schema of the database.
import type { SelectType } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import type { Field, FieldOptions, Kind } from './kind.ts'

type TableName = keyof Schema
type ColumnName<T extends TableName> = keyof Schema[T] & string
type Value<T extends TableName, C extends ColumnName<T>> = SelectType<Schema[T][C]>
type Values<T extends TableName, C extends ColumnName<T>> = { readonly [N in C]: Value<T, N> }

/** One column, with the same value. */
export function column<T extends TableName, C extends ColumnName<T>>(
  _table: T,
  name: C,
  options: FieldOptions<Value<T, C>> = {},
): Field<Value<T, C>> {
  return {
    ...options,
    columns: [name],
    read: (row) => row[name] as Value<T, C>,
    write: (value) => ({ [name]: value }),
  }
}

type Mapping<T extends TableName, C extends ColumnName<T>, V> = FieldOptions<V> & {
  readonly read: (row: Values<T, C>) => V
  readonly write: (value: V, now: Date) => { readonly [N in ColumnName<T>]?: unknown }
}

/** Columns with a mapping to the value and back. */
export function mapped<T extends TableName, C extends ColumnName<T>, V>(
  _table: T,
  columns: readonly C[],
  mapping: Mapping<T, C, V>,
): Field<V> {
  const { read, ...rest } = mapping
  return { ...rest, columns, read: (row) => read(row as Values<T, C>) }
}

/** A value that the table selects under this name and that the kind's own functions write. */
export function selected<V>(name: string, options: FieldOptions<V> = {}): Field<V> {
  return { ...options, columns: [name], read: (row) => row[name] as V, write: () => ({}) }
}

/** The key of an element of `kind`, in a column with the key. */
export function reference<T extends TableName, C extends ColumnName<T>, F>(
  table: T,
  name: C,
  kind: Kind<F>,
  options: FieldOptions<Value<T, C>> = {},
): Field<Value<T, C>> {
  return { ...column(table, name, options), reference: { kind: kind as unknown as Kind, isId: false } }
}

/** The key of an element of `kind`, in a column with the id of its row. */
export function referenceById<T extends TableName, F>(
  _table: T,
  name: ColumnName<T>,
  kind: Kind<F>,
): Field<string> {
  return {
    columns: [name],
    read: (row) => row[name] as string,
    write: (key) => ({ [name]: key }),
    reference: { kind: kind as unknown as Kind, isId: true },
  }
}
