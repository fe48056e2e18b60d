// Past traffic of the demo, so that the explorer and the report of last month have something to show at the first start: through the same code and
// tables as received flows, without their datagrams. The newest part is written first; before the past week it is coarser.
import type { FlowStore } from '../../../server/src/flow/flow-store.ts'
import { createFlowColumns, type FlowColumns } from '../../../server/src/flow/flow-columns.ts'
import { listExporterPorts, saveExporters } from '../../../server/src/collector/exporter.store.ts'
import { toBlockColumns } from '../../../server/src/collector/flow-block.ts'
import { createFlowOwners, toHoldingColumns } from '../../../server/src/collector/flow-owners.ts'
import { rollUpHours } from '../../../server/src/flow/peer-rollup.ts'
import { createRowAssigner, type RowContext } from '../../../server/src/collector/flow-rows.ts'
import { readAddressTables } from '../../../server/src/collector/range-file.ts'
import { flowTable } from '../../../server/src/collector/spool.ts'
import type { Postgres } from '../../../server/src/db/postgres.ts'
import { encodeNativeBlock } from '../../../server/src/drivers/clickhouse/native-block.ts'
import { readHoldings } from '../../../server/src/inventory/holding/ownership.ts'
import { attackFlows, demoExporters, flowsBetween, type DemoAttack, type DemoFlow } from './model.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const weekMs = 7 * dayMs
/** One insert: partitions are days, so no insert touches two. */
const blockMs = dayMs / 4
const stepMs = 60_000
/** Before the past week: charts of such times have hours. */
const coarseStepMs = 10 * stepMs
/** For the last hour, which charts display in more detail. */
const fineStepMs = 10_000
const fineMs = hourMs
/** Flows of an application and direction in a minute. */
const perApplication = 1
const perAttack = 12

export type HistoryDeps = {
  readonly postgres: Postgres
  readonly store: FlowStore
  readonly addressFiles: readonly string[]
  readonly attacks: readonly DemoAttack[]
  readonly nowMs: number
}

type Span = { readonly fromMs: number; readonly untilMs: number }

/** The beginning of the month before, in UTC: hours of the flow store are in UTC. */
export function historyStart(nowMs: number): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)
}

/**
 * Returns the missing spans since the beginning of the month before, the newest first, each within a quarter of a day.
 */
export function missingSpans(nowMs: number, stored: Span | undefined): Span[] {
  const since = historyStart(nowMs)
  const gaps: Span[] =
    stored === undefined
      ? [{ fromMs: since, untilMs: nowMs }]
      : [
          { fromMs: Math.max(since, stored.untilMs), untilMs: nowMs },
          { fromMs: since, untilMs: stored.fromMs },
        ]
  return gaps.flatMap(({ fromMs, untilMs }) => {
    const parts: Span[] = []
    for (let end = untilMs; end - fineStepMs >= fromMs;) {
      const start = Math.max(fromMs, Math.floor((end - 1) / blockMs) * blockMs)
      parts.push({ fromMs: start, untilMs: end })
      end = start
    }
    return parts
  })
}

/** Returns a function that writes one span. */
export async function createHistoryWriter({ postgres, store, addressFiles, attacks, nowMs }: HistoryDeps) {
  const { owner: db } = postgres
  const addresses = demoExporters.map(({ address }) => address)
  await saveExporters(db, addresses)
  const ports = await listExporterPorts(db)
  const found = await readHoldings(db, undefined)
  const context = {
    owners: createFlowOwners(toHoldingColumns(found!.revision, found!.holdings)),
    tables: await readAddressTables(addressFiles),
    ownAsn: 0,
    exporters: addresses.map((address) => ports.get(address)!),
    timeMin: 0,
    timeMax: 0xffffffff,
  } satisfies RowContext
  const assign = createRowAssigner()
  return async ({ fromMs, untilMs }: Span): Promise<void> => {
    const minutes: [number, DemoFlow[]][] = []
    for (let start = fromMs, end; start < untilMs; start = end) {
      end = Math.min(start + stepAt(start, nowMs), untilMs)
      const flows = flowsBetween(start, end, perApplication)
      for (const attack of attacks) flows.push(...attackFlows(attack, start, end, perAttack))
      minutes.push([Math.floor((end - 1) / 1000), flows])
    }
    const columns = createFlowColumns(minutes.reduce((sum, [, flows]) => sum + flows.length, 0))
    for (const [time, flows] of minutes) for (const flow of flows) appendFlow(columns, flow, time)
    const rows = assign(columns, context, () => {})
    if (rows.length === 0) return
    const block = encodeNativeBlock(rows.length, toBlockColumns(columns, rows, context))
    await store.insert(flowTable, block, `demo-${fromMs}-${untilMs}`)
    // The loop of the collector may come too late: flows of a month ago are soon deleted.
    const first = Math.ceil(fromMs / hourMs)
    const hours = Math.floor(untilMs / hourMs) - first
    if (hours > 0) await rollUpHours(store, (first * hourMs) / 1000, hours, Date.now() / 1000)
  }
}

function stepAt(startMs: number, nowMs: number): number {
  if (startMs > nowMs - fineMs) return fineStepMs
  return startMs < nowMs - weekMs ? coarseStepMs : stepMs
}

/** The time of the first and the last stored flow. The first one comes from the rollups: flows are deleted earlier. */
export async function findStored(store: FlowStore): Promise<Span | undefined> {
  const [row] = await store.query<{ rows: number; first: number; last: number }>(
    `select count() as rows, toUnixTimestamp(min(time)) as first,
      greatest(toUnixTimestamp(max(time)), (select toUnixTimestamp(max(time)) from flows)) as last
    from flows_by_protocol_1h`,
    {},
  )
  return row === undefined || row.rows === 0
    ? undefined
    : { fromMs: row.first * 1000, untilMs: (row.last + 1) * 1000 }
}

export function appendFlow(columns: FlowColumns, flow: DemoFlow, time: number): void {
  const at = columns.length++
  columns.time[at] = time
  columns.exporter[at] = flow.exporter
  columns.inIf[at] = flow.inIf
  columns.outIf[at] = flow.outIf
  columns.src.set(flow.src, at * 4)
  columns.dst.set(flow.dst, at * 4)
  columns.srcPort[at] = flow.srcPort
  columns.dstPort[at] = flow.dstPort
  columns.protocol[at] = flow.protocol
  columns.tcpFlags[at] = flow.tcpFlags
  columns.fragment[at] = flow.fragment ? 1 : 0
  columns.bytesLo[at] = flow.bytes
  columns.packetsLo[at] = flow.packets
  columns.samplingRate[at] = demoExporters[flow.exporter]!.samplingRate
}
