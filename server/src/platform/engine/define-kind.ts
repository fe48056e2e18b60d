// Completes the definition of a kind with functions that write its rows by its fields, unless it has its own.
import type { TSchema } from 'typebox'
import type { Current, Fields, Kind, KindDefinition, Reference, Row } from './kind.ts'
import type { Path } from './problem.ts'
import { deleteRow, insertRows, updateRow } from './table.store.ts'

export function defineKind<F, S extends TSchema>(definition: KindDefinition<F, S>): Kind<F> {
  const kind: Kind<F> = {
    keyOf: (fields) => definition.identity.map((field) => fields[field]).join(' '),
    create: async (trx, created, now) => void (await insertRows(trx, kind, created, now)),
    update: (trx, change, now) => updateRow(trx, kind, change, now),
    delete: (trx, row) => deleteRow(trx, kind, row),
    ...(definition as KindDefinition<F, TSchema>),
  }
  return kind
}

/** A new row: the initial values, values derived from the given fields, and the given fields. */
export function withInitials(kind: Kind, given: Fields): Fields {
  const initials = Object.entries(kind.fields).map(([name, { initial }]) => [name, initial])
  return { ...Object.fromEntries(initials), ...kind.initialOf?.(given), ...given }
}

/** The elements that fields refer to; lists may name several in one field. */
export function referencesOf(kind: Kind, fields: Fields): Reference[] {
  const declared = Object.entries(kind.fields).flatMap(([name, { reference }]) =>
    reference ? keysIn(fields[name], [name]).map((one) => ({ kind: reference.kind, ...one })) : [],
  )
  return [...declared, ...(kind.referencesOf?.(fields) ?? [])]
}

function keysIn(value: unknown, path: Path): { readonly key: string; readonly path: Path }[] {
  if (typeof value === 'string') return [{ key: value, path }]
  return Array.isArray(value) ? value.flatMap((one, at) => keysIn(one, [...path, at])) : []
}

const noRows = new Map<string, never>()

/** The rows of a kind by key. */
export function rowsByKey<F>({ rows }: Current, { name }: Kind<F>): ReadonlyMap<string, Row<F>> {
  return (rows.get(name) ?? noRows) as ReadonlyMap<string, Row<unknown>> as ReadonlyMap<string, Row<F>>
}
