// Compares the octets of flows with the counters of interfaces, hour by hour. This is the only check that finds a wrong
// sampling rate, or flows that are exported twice. It does not correct the flows.
import type { Db } from '../db/postgres.ts'
import { listExporterPorts } from './exporter.store.ts'
import { saveCounterChecks, type CountedFlows } from './counter-check.store.ts'
import { readFlowDelay } from '../flow/flow-delay.ts'
import { secondsOf } from '../flow/flow-query.ts'
import type { FlowStore } from '../flow/flow-store.ts'

type Deps = { readonly db: Db; readonly flowStore: FlowStore }
/** One direction of an interface; `octets` scaled by the sampling rate, `packets` as sampled. */
type Row = Readonly<Record<'exporter_id' | 'if_index' | 'is_out' | 'octets' | 'packets', number>>

export const hourMs = 3_600_000
/** Flows of an hour that go on in the next one have rows in both (`collector/split-flows.ts`), which come when they end. */
const delayMs = 75 * 60_000

/** The start of the last hour whose flows have arrived, Unix milliseconds. */
export const lastClosedHour = (now: Date): number =>
  Math.floor((now.getTime() - delayMs) / hourMs) * hourMs - hourMs

/**
 * Checks the hour from `hour` on (Unix milliseconds). Returns whether it is done: an hour that collectors have not
 * stored completely is checked later, an hour with lost flows is not evaluated. Throws if the store does not answer.
 */
export async function checkCounters({ db, flowStore }: Deps, hour: number): Promise<boolean> {
  const window = { startMs: hour, endMs: hour + hourMs }
  const { completeUntil, isLost } = await readFlowDelay(db, window)
  if (isLost) return true
  if (completeUntil === null || completeUntil.getTime() < window.endMs) return false
  const sold = await listSoldInterfaces(db)
  if (sold.size === 0) return true
  const exporters = [...sold.values()].map(({ exporterId }) => exporterId)
  const rows = await flowStore.query<Row>(
    'select exporter_id, side.1 as if_index, side.2 as is_out, sum(bytes * greatest(sampling_rate, 1)) as octets, sum(packets) as packets ' +
      'from (select exporter_id, bytes, packets, sampling_rate, arrayJoin([(in_if, 0), (out_if, 1)]) as side from flows ' +
      "where is_primary = 1 and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC') " +
      'and exporter_id in {exporters:Array(UInt32)}) where side.1 != 0 group by exporter_id, if_index, is_out',
    {
      from: secondsOf(new Date(window.startMs)),
      until: secondsOf(new Date(window.endMs)),
      exporters: [...new Set(exporters)],
    },
  )
  await saveCounterChecks(db, new Date(hour), sumByPort(rows, sold))
  return true
}

type Sold = { readonly exporterId: number; readonly portId: number }
const keyOf = (exporterId: number, ifIndex: number): string => `${exporterId} ${ifIndex}`

async function listSoldInterfaces(db: Db): Promise<Map<string, Sold>> {
  const sold = new Map<string, Sold>()
  for (const { id, interfaces } of (await listExporterPorts(db)).values())
    for (const [ifIndex, { portId }] of interfaces)
      if (portId !== 0) sold.set(keyOf(id, ifIndex), { exporterId: id, portId })
  return sold
}

/** Members of a LAG have its port: they are added up. */
function sumByPort(rows: readonly Row[], sold: ReadonlyMap<string, Sold>): CountedFlows[] {
  const sums = new Map<string, CountedFlows>()
  for (const row of rows) {
    const port = sold.get(keyOf(row.exporter_id, row.if_index))
    if (!port) continue
    const key = keyOf(port.exporterId, port.portId)
    const sum = sums.get(key) ?? {
      exporter_id: port.exporterId,
      port_id: port.portId,
      octets_in: 0,
      octets_out: 0,
      packets: 0,
    }
    const way = row.is_out === 1 ? 'octets_out' : 'octets_in'
    sums.set(key, { ...sum, [way]: sum[way] + row.octets, packets: sum.packets + row.packets })
  }
  return [...sums.values()]
}
