// Writes the TypeScript types of the tables for Kysely from the catalogs. Pure.
import type { Catalog, CatalogColumn, CatalogTable } from './catalog.ts'

const LINE_MAX = 110

const HEADER = `// The tables, as Kysely knows them. Generated from the migrations by \`npm run generate\`; never edited by hand.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** Written as text, by JSON.stringify(): the driver would write an array as an array of PostgreSQL. */
export type Json = ColumnType<JsonValue, string, string>
export type NullableJson = ColumnType<JsonValue, string | null, string | null>
export type GeneratedJson = ColumnType<JsonValue, string | undefined, string>
`

/** Returns the text of schema.ts. Partitions have no type: no statement may name them. */
export function generateTypes({ tables }: Catalog): string {
  const named = tables.filter(({ partitionOf }) => partitionOf === null)
  const members = named.map(({ name }) => `  ${name}: ${typeName(name)}Table`)
  const schema = `export interface Schema {\n${members.join('\n')}\n}\n`
  return [HEADER, ...named.flatMap((table) => unions(table).concat(tableType(table))), schema].join('\n')
}

function tableType(table: CatalogTable): string {
  const members = table.columns.map(
    (column) => `${docstring(column.comment, '  ')}  ${column.name}: ${typeOf(table, column)}`,
  )
  return `${docstring(table.comment, '')}export interface ${typeName(table.name)}Table {\n${members.join('\n')}\n}\n`
}

function docstring(comment: string | null, indent: string): string {
  return comment === null ? '' : `${indent}/** ${comment} */\n`
}

function typeOf(table: CatalogTable, column: CatalogColumn): string {
  if (column.type === 'jsonb' || column.type === 'json') return jsonType(column)
  const base = valuesOf(table, column) === undefined ? scalarType(column.type) : unionName(table, column)
  const type = column.notNull ? base : `${base} | null`
  if (column.identity === 'always') return `GeneratedAlways<${type}>`
  return column.identity !== null || column.default !== null ? `Generated<${type}>` : type
}

function jsonType({ notNull, default: value }: CatalogColumn): string {
  if (!notNull) return 'NullableJson'
  return value === null ? 'Json' : 'GeneratedJson'
}

const SCALARS: Record<string, string> = {
  boolean: 'boolean',
  smallint: 'number',
  integer: 'number',
  bigint: 'number',
  real: 'number',
  'double precision': 'number',
  numeric: 'string',
  text: 'string',
  uuid: 'string',
  cidr: 'string',
  inet: 'string',
  date: 'string',
  interval: 'string',
  tstzrange: 'string',
  tstzmultirange: 'string',
  xid8: 'string',
  bytea: 'Buffer',
  'timestamp with time zone': 'Date',
}

function scalarType(type: string): string {
  if (type.endsWith('[]')) return `${scalarType(type.slice(0, -2))}[]`
  const scalar = SCALARS[type]
  if (scalar === undefined)
    throw new Error(`no TypeScript type for ${type}: add it to ${import.meta.filename}`)
  return scalar
}

/** A check of the form \`status in ('a', 'b')\` is a union in TypeScript. */
function unions(table: CatalogTable): string[] {
  return table.columns.flatMap((column) => {
    const values = valuesOf(table, column)
    if (values === undefined) return []
    const name = `export type ${unionName(table, column)} =`
    const line = `${name} ${values.join(' | ')}`
    return [
      line.length <= LINE_MAX
        ? `${line}\n`
        : `${name}\n${values.map((value) => `  | ${value}`).join('\n')}\n`,
    ]
  })
}

function valuesOf({ constraints }: CatalogTable, { name }: CatalogColumn): string[] | undefined {
  for (const { definition } of constraints) {
    const [, column, list] = /^CHECK \(\((\w+) = ANY \(ARRAY\[(.*)\]\)\)\)$/.exec(definition) ?? []
    if (column === name && list !== undefined)
      return [...list.matchAll(/'([^']+)'::text/g)].map(([, value]) => `'${value}'`)
  }
  return undefined
}

function unionName(table: CatalogTable, column: CatalogColumn): string {
  return typeName(table.name) + typeName(column.name)
}

function typeName(name: string): string {
  return name.replaceAll(/(^|_)([a-z])/g, (_, _start, letter: string) => letter.toUpperCase())
}
