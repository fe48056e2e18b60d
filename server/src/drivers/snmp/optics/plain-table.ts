// Families whose tables have a row for each module: each is a list of columns and units. Lanes are further columns, or rows of a second table.
import type { OpticMetric } from '../../../inventory/collect/device-source.ts'
import {
  ethernetTypeIn,
  type LaneValues,
  type ModuleLimits,
  opticModuleOf,
  type ModuleValues,
  positiveUpTo,
  readingsOf,
} from './assemble.ts'
import type { OpticFamily, OpticTables, OpticValue, PortReference } from './family.ts'
import { type Conversion, indexesIn, integerAt, limitOf, limitsFrom, textAt } from './values.ts'

/** A value by the column and, where the table has a row for each value of a module, the end of its index. */
export type OpticCell = {
  readonly column: string
  readonly suffix?: string
  /** The text has the unit, if the device states it; `cell` is for values that are neither numbers nor texts. */
  readonly convert: (value: number | null, text: string, cell: OpticValue | undefined) => number | null
}
export type LaneCells = {
  readonly rx: OpticCell
  readonly tx: OpticCell
  readonly bias?: OpticCell
  readonly preFecBer?: OpticCell
}
/** Low alarm, low warning, high warning, high alarm: numbers of columns, with the conversion of the value. */
export type LimitCells = readonly [
  columns: readonly [LimitColumn, LimitColumn, LimitColumn, LimitColumn],
  convert: Conversion,
  suffix?: string,
]
/** Null: the table has no such column. */
type LimitColumn = number | null

export type PlainTable = {
  readonly name: string
  /** Column that has a row for each module, or for each value of it. */
  readonly probe: string
  /**
   * Number of trailing index parts in a row of the probe that do not belong to the module; by default 1 if the
   * temperature has a suffix, else 0.
   */
  readonly rowNumbers?: number
  /** Rows that are no modules. */
  readonly isPresent?: (tables: OpticTables, index: string) => boolean
  /** Whether the module measures; if it is known. */
  readonly measures?: (tables: OpticTables, index: string) => boolean
  readonly portOf: (index: string, tables: OpticTables) => PortReference
  readonly facts?: Partial<Record<'vendor' | 'part' | 'serial' | 'type', string>>
  readonly wavelength?: { readonly column: string; readonly factor: number }
  readonly temperature?: OpticCell
  readonly voltage?: OpticCell
  /** Lane 1 of a module without other lanes, if it has separate columns. */
  readonly moduleLane?: LaneCells
  /** Lane 1 and the following lanes. */
  readonly lanes: readonly LaneCells[]
  /** Rows by the index of the module and the lane, from 1. */
  readonly laneRows?: LaneCells
  readonly limits?: { readonly entry: string; readonly of: { readonly [M in OpticMetric]?: LimitCells } }
  /** Further columns that the functions read. */
  readonly others?: readonly string[]
}

export const byIfIndex = (index: string): PortReference => ({ kind: 'interface', index: Number(index) })

export function plainFamily(table: PlainTable): OpticFamily {
  const { moduleLane, laneRows } = table
  const lanes = [...table.lanes, ...[moduleLane, laneRows].filter((cells) => cells !== undefined)]
  const measured = [
    ...lanes.flatMap(({ rx, tx, bias, preFecBer }) => [rx, tx, bias, preFecBer]),
    table.temperature,
    table.voltage,
  ].flatMap((cell) => cell?.column ?? [])
  const { entry, of } = table.limits ?? { entry: '', of: {} }
  const limitColumns = Object.values(of).flatMap(([columns]) =>
    columns.filter((column) => column !== null).map((column) => `${entry}.${column}`),
  )
  const facts = Object.values(table.facts ?? {})
  const wavelength = table.wavelength ? [table.wavelength.column] : []
  const rest = [table.probe, ...facts, ...wavelength, ...limitColumns, ...(table.others ?? [])]
  return {
    name: table.name,
    probe: table.probe,
    columns: [...new Set([...measured, ...rest])],
    measured: [...new Set(measured)],
    decode(tables) {
      const modules = modulesIn(tables, table).map((index) => ({
        index,
        values: valuesAt(tables, table, index),
      }))
      return {
        transceivers: modules.map(({ index, values }) => identify(tables, table, index, values)),
        readings: modules.flatMap(({ values }) => readingsOf(values)),
      }
    },
  }
}

function modulesIn(
  tables: OpticTables,
  { probe, temperature, rowNumbers, isPresent = () => true }: PlainTable,
): string[] {
  const count = rowNumbers ?? (temperature?.suffix === undefined ? 0 : 1)
  const indexes = indexesIn(tables, [probe]).map((row) =>
    count === 0 ? row : row.split('.').slice(0, -count).join('.'),
  )
  return [...new Set(indexes)].filter((index) => index !== '' && isPresent(tables, index))
}

function identify(tables: OpticTables, table: PlainTable, index: string, values: ModuleValues) {
  const text = (name: keyof NonNullable<PlainTable['facts']>) => {
    const column = table.facts?.[name]
    return column === undefined ? null : textAt(tables, column, index)
  }
  const nm = table.wavelength && numberAt(tables, table.wavelength.column, index)
  return opticModuleOf(values.port, {
    vendor: text('vendor'),
    part: text('part'),
    serial: text('serial'),
    type: ethernetTypeIn(text('type')) ?? text('type'),
    wavelengthNm: positiveUpTo(2_000, nm ?? null, table.wavelength?.factor),
    lanes: Math.max(1, ...readingsOf(values).map(({ lane }) => lane)),
    hasDdm: readingsOf(values).length > 0,
  })
}

function valuesAt(tables: OpticTables, table: PlainTable, index: string): ModuleValues {
  const measures = table.measures?.(tables, index) ?? true
  const at = (cell: OpticCell | undefined) => (measures && cell ? cellAt(tables, cell, index) : null)
  return {
    port: table.portOf(index, tables),
    temperatureC: at(table.temperature),
    voltageV: at(table.voltage),
    limits: limitsOf(tables, table, index),
    lanes: measures ? lanesAt(tables, table, index) : [],
  }
}

/** Rows of a second table replace the lanes of the module's own row. */
function lanesAt(
  tables: OpticTables,
  { moduleLane, lanes, laneRows }: PlainTable,
  index: string,
): LaneValues[] {
  const own = [
    ...(moduleLane ? [laneAt(tables, moduleLane, index, 1)] : []),
    ...lanes.map((cells, at) => laneAt(tables, cells, index, at + 1)),
  ]
  if (!laneRows) return uniqueLanes(own)
  const columns = [laneRows.rx.column, laneRows.tx.column]
  const rows = indexesIn(tables, columns).filter((row) => row.startsWith(`${index}.`))
  return uniqueLanes([
    ...own,
    ...rows.map((row) => laneAt(tables, laneRows, row, Number(row.slice(index.length + 1)))),
  ])
}

/** A module with several lanes has no values in its first lane row. */
function uniqueLanes(lanes: readonly LaneValues[]): LaneValues[] {
  const known = lanes.filter(
    ({ rxDbm, txDbm, biasMa }) => rxDbm !== null || txDbm !== null || biasMa !== null,
  )
  return [...new Map(known.map((lane) => [lane.lane, lane])).values()]
}

const laneAt = (
  tables: OpticTables,
  { rx, tx, bias, preFecBer }: LaneCells,
  index: string,
  lane: number,
): LaneValues => ({
  lane,
  rxDbm: cellAt(tables, rx, index),
  txDbm: cellAt(tables, tx, index),
  biasMa: bias ? cellAt(tables, bias, index) : null,
  preFecBer: preFecBer ? cellAt(tables, preFecBer, index) : null,
})

function cellAt(tables: OpticTables, { column, suffix, convert }: OpticCell, index: string): number | null {
  const row = suffix === undefined ? index : `${index}.${suffix}`
  const text = textAt(tables, column, row) ?? ''
  return convert(numberAt(tables, column, row), text, tables.get(column)?.get(row))
}

/** An integer, or the number at the beginning of a text, such as `-002.2345 dBm: Normal`. */
export function numberAt(tables: OpticTables, column: string, index: string): number | null {
  const number = integerAt(tables, column, index)
  if (number !== null) return number
  const match = /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?/i.exec(textAt(tables, column, index) ?? '')
  return match ? Number(match[0]) : null
}

function limitsOf(tables: OpticTables, { limits }: PlainTable, index: string): ModuleLimits {
  if (!limits) return {}
  return Object.fromEntries(
    Object.entries(limits.of).map(([metric, [columns, convert, suffix]]) => {
      const row = suffix === undefined ? index : `${index}.${suffix}`
      const at = (column: LimitColumn) =>
        column === null ? null : limitOf(convert, numberAt(tables, `${limits.entry}.${column}`, row))
      return [metric, limitsFrom(at(columns[0]), at(columns[1]), at(columns[2]), at(columns[3]))]
    }),
  )
}
