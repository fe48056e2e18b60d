// Reads columns of tables with GETBULK. A walk always ends: OIDs must increase, values and requests have limits, and the caller's
// signal is its deadline.
import type { Varbind } from 'net-snmp'
import { DriverError } from '../../runtime/driver-error.ts'
import { TooBigError, type SnmpSession } from './session.ts'
import { isAbsentValue } from './value.ts'

/** The values of one column by their index: the rest of the OID, such as `3` or `4.4.192.0.2.1`. */
export type SnmpColumn = ReadonlyMap<string, Varbind>

/** The values of each column, by the OID of the column. */
export type WalkedColumns = ReadonlyMap<string, SnmpColumn>

export type WalkLimits = {
  /** Values of one column. */
  readonly rowsMax: number
  readonly requestsMax: number
  /** Ends the walk early: called for each value that is new. */
  readonly isEnough?: (column: string, index: string, value: Varbind) => boolean
}

const defaultLimits: WalkLimits = { rowsMax: 50_000, requestsMax: 20_000 }

/** Values in one answer, so that it has at most about 1,400 octets and is not fragmented. */
const valuesPerAnswer = 50
const columnsPerRequest = 12

/** Reads the columns, which may belong to different tables; an absent column is empty. Throws DriverError. */
export async function walkColumns(
  session: SnmpSession,
  columns: readonly string[],
  signal: AbortSignal,
  limits: Partial<WalkLimits> = {},
): Promise<WalkedColumns> {
  const walk = new Walk({ ...defaultLimits, ...limits }, columns)
  let perAnswer = valuesPerAnswer
  for (;;) {
    const cursors = walk.cursors(Math.min(columnsPerRequest, perAnswer))
    if (cursors.length === 0) return walk.found
    try {
      const repetitions = Math.max(1, Math.floor(perAnswer / cursors.length))
      const oids = cursors.map(({ oid }) => oid)
      const { value } = await session.getBulk(oids, 0, repetitions, signal)
      cursors.forEach((cursor, at) => walk.add(cursor, value.columns[at] ?? []))
      if (value.columns.every((values) => values.length === 0)) throw endless(cursors[0]!.column)
    } catch (error) {
      if (!(error instanceof TooBigError) || perAnswer === 1) throw withProtocol(error)
      perAnswer = perAnswer >> 1
    }
  }
}

/** Turns tooBig for one value into a DriverError. */
export const withProtocol = (error: unknown): unknown =>
  error instanceof TooBigError
    ? new DriverError('protocol', 'The device cannot answer even the smallest request.')
    : error

type Cursor = {
  readonly column: string
  oid: string
  readonly values: Map<string, Varbind>
  isAtEnd: boolean
}

class Walk {
  readonly found: Map<string, Map<string, Varbind>> = new Map()
  readonly #limits: WalkLimits
  readonly #cursors: readonly Cursor[]
  #requests = 0

  constructor(limits: WalkLimits, columns: readonly string[]) {
    this.#limits = limits
    this.#cursors = columns.map((column) => {
      const values = new Map<string, Varbind>()
      this.found.set(column, values)
      return { column, oid: column, values, isAtEnd: false }
    })
  }

  /** The columns of the next request. */
  cursors(count: number): Cursor[] {
    const open = this.#cursors.filter(({ isAtEnd }) => !isAtEnd).slice(0, count)
    if (open.length > 0 && ++this.#requests > this.#limits.requestsMax) throw endless(open[0]!.column)
    return open
  }

  add(cursor: Cursor, varbinds: readonly Varbind[]): void {
    for (const varbind of varbinds) {
      if (cursor.isAtEnd) return
      this.#addOne(cursor, varbind)
    }
  }

  #addOne(cursor: Cursor, varbind: Varbind): void {
    const index = indexBelow(cursor.column, varbind.oid)
    if (index === undefined || isAbsentValue(varbind)) {
      cursor.isAtEnd = true
      return
    }
    if (compareOidTexts(varbind.oid, cursor.oid) <= 0) throw endless(cursor.column)
    if (cursor.values.size >= this.#limits.rowsMax) throw endless(cursor.column)
    cursor.oid = varbind.oid
    cursor.values.set(index, varbind)
    if (this.#limits.isEnough?.(cursor.column, index, varbind) ?? false)
      for (const one of this.#cursors) one.isAtEnd = true
  }
}

const endless = (column: string): DriverError =>
  new DriverError(
    'protocol',
    `The device does not end its table ${column}: it repeats OIDs, or has too many rows.`,
  )

/** Returns the part of the OID after the column's; undefined if it is not below the column. */
export function indexBelow(column: string, oid: string): string | undefined {
  const isBelow =
    oid.length > column.length + 1 && oid.charCodeAt(column.length) === dot && oid.startsWith(column)
  return isBelow ? oid.slice(column.length + 1) : undefined
}

const dot = 46

/** Compares OIDs by their numbers. */
export function compareOidTexts(one: string, other: string): number {
  let [at, to] = [0, 0]
  while (at < one.length && to < other.length) {
    const [endOne, endOther] = [partEnd(one, at), partEnd(other, to)]
    const order = Number(one.slice(at, endOne)) - Number(other.slice(to, endOther))
    if (order !== 0) return order
    ;[at, to] = [endOne + 1, endOther + 1]
  }
  return one.length - at - (other.length - to)
}

function partEnd(oid: string, start: number): number {
  const end = oid.indexOf('.', start)
  return end < 0 ? oid.length : end
}
