// Converts decoded flows to the rows of the flow store: a row for each team that owns the source or the destination,
// with its port, prefix, AS numbers and countries; for long flows one per minute. Allocates no memory per flow. It must
// not read the database: its context has all inputs.
import type { FlowColumns } from '../flow/flow-columns.ts'
import type { AddressTables } from './range-file.ts'
import type { FlowOwners } from './flow-owners.ts'
import { partsOf, secondsBefore, splitMs } from './split-flows.ts'

/** An exporter in the inventory. */
export type ExporterPorts = {
  /** Id in flow_exporters; 0 until the database has answered. */
  readonly id: number
  /** Whether its device is known, and so its interfaces. */
  readonly hasDevice: boolean
  /** By ifIndex: every interface of the device; port 0 if it is not sold. */
  readonly interfaces: ReadonlyMap<number, InterfacePort>
}

export type InterfacePort = { readonly portId: number; readonly teamId: number }

export type RowContext = {
  readonly owners: FlowOwners
  readonly tables: AddressTables
  /** AS of the provider: an exporter that reports it means a customer behind it. 0 if not known. */
  readonly ownAsn: number
  /** By index of the exporter in the batch. */
  readonly exporters: readonly ExporterPorts[]
  /** Rows outside of these Unix seconds are refused: their partitions would be wrong. */
  readonly timeMin: number
  readonly timeMax: number
}

/** Called once per batch for each interface that the inventory does not have. */
export type UnknownInterface = (exporter: ExporterPorts, ifIndex: number) => void

/** Values of Enum8 of the column `direction`, from the view of the team. */
export const direction = { in: 1, out: 2, internal: 3 } as const

/** The columns of the table `flows`, in its order. */
export type FlowRows = {
  length: number
  /** Flows that became no row because of their time. */
  refused: number
  /** Long flows that were not split because there were too many. */
  unsplit: number
  /** The row of the batch that each row was made of. */
  readonly flow: Uint32Array
  /** For a flow with several rows: the index of the row, from 0, and their number. */
  readonly part: Uint8Array
  readonly parts: Uint8Array
  readonly teamId: Uint32Array
  readonly direction: Uint8Array
  readonly isPrimary: Uint8Array
  readonly portId: Uint32Array
  readonly prefixId: Uint32Array
}

const createRows = (capacity: number): FlowRows => ({
  length: 0,
  refused: 0,
  unsplit: 0,
  flow: new Uint32Array(capacity),
  part: new Uint8Array(capacity),
  parts: new Uint8Array(capacity),
  teamId: new Uint32Array(capacity),
  direction: new Uint8Array(capacity),
  isPrimary: new Uint8Array(capacity),
  portId: new Uint32Array(capacity),
  prefixId: new Uint32Array(capacity),
})

const columnNames = [
  'flow',
  'part',
  'parts',
  'teamId',
  'direction',
  'isPrimary',
  'portId',
  'prefixId',
] as const

/** Minimum of additional rows for long flows; larger batches may add as many rows as they have flows. */
const addedRowsMin = 10_000

const noPort: InterfacePort = { portId: 0, teamId: 0 }

/** Returns a function that assigns the flows of a batch to teams. Its result is valid until the next call. */
export function createRowAssigner(): (
  columns: FlowColumns,
  context: RowContext,
  onUnknown: UnknownInterface,
) => FlowRows {
  let rows = createRows(1024)
  const grow = (needed: number): void => {
    if (needed <= rows.flow.length) return
    const larger = createRows(Math.max(needed, Math.ceil(rows.flow.length * 1.5)))
    for (const name of columnNames) larger[name].set(rows[name])
    larger.length = rows.length
    larger.refused = rows.refused
    larger.unsplit = rows.unsplit
    rows = larger
  }
  const add = (
    flow: number,
    teamId: number,
    way: number,
    isPrimary: number,
    port: number,
    prefixId: number,
  ) => {
    const at = rows.length++
    rows.flow[at] = flow
    rows.part[at] = 0
    rows.parts[at] = 1
    rows.teamId[at] = teamId
    rows.direction[at] = way
    rows.isPrimary[at] = isPrimary
    rows.portId[at] = port
    rows.prefixId[at] = prefixId
  }
  /** Repeats the rows from `start` on for each further part of their flow. */
  const split = (start: number, parts: number): void => {
    const count = rows.length - start
    grow(start + count * parts)
    rows.parts.fill(parts, start, rows.length)
    for (let part = 1; part < parts; part++) {
      const at = rows.length
      for (const name of columnNames) rows[name].copyWithin(at, start, start + count)
      rows.part.fill(part, at, at + count)
      rows.length += count
    }
  }
  return (columns, context, onUnknown) => {
    const { owners, exporters, timeMin, timeMax } = context
    const { starts, teamIds, prefixIds } = owners
    const { length, time, exporter, src, dst } = columns
    const unknown = new Set<number>()
    const findPort = (flow: number, index: number): InterfacePort => {
      if (index === 0) return noPort
      const ports = exporters[exporter[flow]!]!
      const found = ports.interfaces.get(index)
      if (found !== undefined) return found
      if (unknown.size < unknownMax) {
        const key = exporter[flow]! * 2 ** 32 + index
        if (!unknown.has(key)) {
          unknown.add(key)
          onUnknown(ports, index)
        }
      }
      return noPort
    }
    rows.length = 0
    rows.refused = 0
    rows.unsplit = 0
    let added = 0
    const addedMax = Math.max(length, addedRowsMin)
    const splitIfLong = (flow: number, start: number): void => {
      const parts = partsOf(columns, flow)
      if (parts === 1) return
      const more = (rows.length - start) * (parts - 1)
      const first = time[flow]! - secondsBefore(columns.durationMs[flow]!, 0, parts)
      if (added + more > addedMax || first < timeMin) {
        rows.unsplit++
        return
      }
      added += more
      split(start, parts)
    }
    grow(length)
    for (let flow = 0; flow < length; flow++) {
      if (time[flow]! < timeMin || time[flow]! > timeMax) {
        rows.refused++
        continue
      }
      const word = flow * 4
      const from = owners.find(src[word]!, src[word + 1]!, src[word + 2]!, src[word + 3]!)
      const to = owners.find(dst[word]!, dst[word + 1]!, dst[word + 2]!, dst[word + 3]!)
      const inPort = findPort(flow, columns.inIf[flow]!)
      const outPort = findPort(flow, columns.outIf[flow]!)
      const [fromStart, fromEnd] = [starts[from]!, starts[from + 1]!]
      const [toStart, toEnd] = [starts[to]!, starts[to + 1]!]
      grow(rows.length + (fromEnd - fromStart) + (toEnd - toStart) + 1)
      const start = rows.length
      if (fromStart === fromEnd && toStart === toEnd) {
        add(flow, 0, direction.in, 1, outPort.portId || inPort.portId, 0)
        if (columns.durationMs[flow]! >= splitMs) splitIfLong(flow, start)
        continue
      }
      let isPrimary = 1
      for (let at = toStart; at < toEnd; at++) {
        const team = teamIds[at]!
        const way = has(teamIds, fromStart, fromEnd, team) ? direction.internal : direction.in
        add(flow, team, way, isPrimary, portOf(team, outPort, inPort), prefixIds[at]!)
        isPrimary = 0
      }
      for (let at = fromStart; at < fromEnd; at++) {
        const team = teamIds[at]!
        if (has(teamIds, toStart, toEnd, team)) continue
        add(flow, team, direction.out, isPrimary, portOf(team, inPort, outPort), prefixIds[at]!)
        isPrimary = 0
      }
      if (columns.durationMs[flow]! >= splitMs) splitIfLong(flow, start)
    }
    return rows
  }
}

const unknownMax = 4096

function has(teamIds: Uint32Array, start: number, end: number, team: number): boolean {
  for (let at = start; at < end; at++) if (teamIds[at] === team) return true
  return false
}

/** The team's own port; never that of another team. */
function portOf(team: number, near: InterfacePort, far: InterfacePort): number {
  if (near.teamId === team) return near.portId
  return far.teamId === team ? far.portId : 0
}
