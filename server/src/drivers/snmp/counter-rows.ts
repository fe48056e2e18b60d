// Reads rows of counters so that all values of a row, and the clock of the device, are of one message. Columns of one table may have
// different sets of rows, and an answer may end within a row: a row is complete when every column has been read beyond it.
import type { Varbind } from 'net-snmp'
import { DriverError } from '../../runtime/driver-error.ts'
import { withProtocol } from './walk.ts'
import { system } from './oids.ts'
import { TooBigError, type SnmpResponse, type SnmpSession } from './session.ts'
import { isAbsentValue, toNumber } from './value.ts'
import { indexBelow } from './walk.ts'

/** Values in the order of the columns; undefined: the row lacks it. */
export type RawRow<Index extends number | string = number> = {
  readonly index: Index
  readonly at: number
  readonly uptimeCs: number
  readonly values: readonly (Varbind | undefined)[]
}

/** Values in one answer, so that it has at most about 1,400 octets. */
const valuesPerAnswer = 56
const rowsMax = 100_000
/** GETBULK answers with the object after this one. */
const beforeUpTime = system.sysUpTime.slice(0, -2)

/** Passes every row of the columns to `onRow`, by rising index. Throws DriverError, after the rows before the failure were passed. */
export async function walkRows(
  session: SnmpSession,
  columns: readonly string[],
  signal: AbortSignal,
  onRow: (row: RawRow) => void,
): Promise<void> {
  let open = columns.map((_, column) => column)
  let [after, count, perAnswer] = [-1, 0, valuesPerAnswer]
  while (open.length > 0) {
    const oids = open.map((column) => (after < 0 ? columns[column]! : `${columns[column]}.${after}`))
    const repetitions = Math.max(1, Math.floor(perAnswer / open.length))
    const answer = await session
      .getBulk([beforeUpTime, ...oids], 1, repetitions, signal)
      .catch((error: unknown) =>
        error instanceof TooBigError && repetitions > 1 ? undefined : rethrow(error),
      )
    if (answer === undefined) {
      perAnswer = perAnswer >> 1
      continue
    }
    const { scalars, columns: values } = answer.value
    const part = readPart(columns, open, after, values)
    if (part.end <= after)
      throw new DriverError('protocol', 'The device cannot answer a whole row, or repeats OIDs.')
    const [uptimeCs, at] = [uptimeOf(scalars[0]), middleOf(answer)]
    const indexes = [...part.rows.keys()]
      .filter((index) => index <= part.end)
      .sort((one, other) => one - other)
    count += indexes.length
    if (count > rowsMax) throw new DriverError('protocol', `The device has more than ${rowsMax} interfaces.`)
    for (const index of indexes) onRow({ index, at, uptimeCs, values: part.rows.get(index)! })
    open = part.open
    after = part.end
  }
}

type Part = {
  readonly rows: ReadonlyMap<number, (Varbind | undefined)[]>
  /** Columns with more rows. */
  readonly open: number[]
  /** Rows up to this index are complete. */
  readonly end: number
}

function readPart(
  columns: readonly string[],
  open: readonly number[],
  after: number,
  values: readonly (readonly Varbind[])[],
): Part {
  const rows = new Map<number, (Varbind | undefined)[]>()
  const [lastOf, ended] = [new Map<number, number>(), new Set<number>()]
  let end = Infinity
  open.forEach((column, position) => {
    let last = after
    for (const varbind of values[position] ?? []) {
      const text = indexBelow(columns[column]!, varbind.oid)
      if (text === undefined || isAbsentValue(varbind)) {
        ended.add(column)
        break
      }
      const index = Number(text)
      if (!(index > last)) throw new DriverError('protocol', `The device repeats OIDs in ${columns[column]}.`)
      last = index
      const row = rows.get(index)
      if (row) row[column] = varbind
      else rows.set(index, rowWith(columns.length, column, varbind))
    }
    lastOf.set(column, last)
    if (!ended.has(column)) end = Math.min(end, last)
  })
  // Values beyond the complete rows are read again.
  return { rows, end, open: open.filter((column) => !ended.has(column) || lastOf.get(column)! > end) }
}

function rowWith(length: number, column: number, varbind: Varbind): (Varbind | undefined)[] {
  const row = Array.from<Varbind | undefined>({ length })
  row[column] = varbind
  return row
}

const rowsPerGet = 4

/** Reads the rows with these indexes, in order, without rows that the device lacks. */
export async function getRows<Index extends number | string>(
  session: SnmpSession,
  columns: readonly string[],
  indexes: readonly Index[],
  signal: AbortSignal,
  onRow: (row: RawRow<Index>) => void,
): Promise<void> {
  let size = rowsPerGet
  for (let at = 0; at < indexes.length;) {
    const some = indexes.slice(at, at + size)
    const oids = some.flatMap((index) => columns.map((column) => `${column}.${index}`))
    const answer = await session
      .get([system.sysUpTime, ...oids], signal)
      .catch((error: unknown) => (error instanceof TooBigError && size > 1 ? undefined : rethrow(error)))
    if (answer === undefined) {
      size = size >> 1
      continue
    }
    const [uptime, ...rest] = answer.value
    const values = new Map(rest.map((varbind) => [varbind.oid, varbind]))
    const [uptimeCs, middle] = [uptimeOf(uptime), middleOf(answer)]
    for (const index of some) {
      const row = columns.map((column) => presentIn(values, `${column}.${index}`))
      if (row.some((value) => value !== undefined)) onRow({ index, at: middle, uptimeCs, values: row })
    }
    at += some.length
  }
}

function presentIn(values: ReadonlyMap<string, Varbind>, oid: string): Varbind | undefined {
  const value = values.get(oid)
  return value === undefined || isAbsentValue(value) ? undefined : value
}

function rethrow(error: unknown): never {
  throw withProtocol(error)
}

function uptimeOf(varbind: Varbind | undefined): number {
  const uptimeCs = varbind?.oid === system.sysUpTime ? toNumber(varbind) : null
  if (uptimeCs === null) throw new DriverError('protocol', 'The device has no clock (sysUpTime).')
  return uptimeCs
}

const middleOf = ({ sentAt, receivedAt }: SnmpResponse<unknown>): number => (sentAt + receivedAt) / 2
