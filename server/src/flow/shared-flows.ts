// Which exporters send the same flows: traffic that passes two of them counts double unless one leaves it out.
import { secondsOf } from './flow-query.ts'
import type { FlowStore } from './flow-store.ts'

export type SharedFlows = {
  /** Distinct combinations of addresses, ports and protocol, and how many of them several exporters sent. */
  readonly tuples: number
  readonly shared: number
  /**
   * Ids of two exporters, the combinations that both sent, and the number of combinations of the smaller exporter; the
   * largest numbers first.
   */
  readonly pairs: readonly {
    readonly a: number
    readonly b: number
    readonly shared: number
    readonly of: number
  }[]
}

const pairsMax = 20
const tuple = 'src_addr, dst_addr, src_port, dst_port, protocol'
const selected =
  "from flows where is_primary = 1 and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({from:UInt32} + 60, 'UTC')"

/** Compares the exporters in the minute from `start` on. Throws if the store does not answer. */
export async function readSharedFlows(store: FlowStore, start: Date): Promise<SharedFlows> {
  const params = { from: secondsOf(start) }
  const perTuple = `select arraySort(groupUniqArray(16)(exporter_id)) as exporters ${selected} group by ${tuple}`
  const [total] = await store.query<{ tuples: number; shared: number }>(
    `select count() as tuples, countIf(length(exporters) > 1) as shared from (${perTuple})`,
    params,
  )
  if (!total || total.shared === 0) return { tuples: total?.tuples ?? 0, shared: 0, pairs: [] }
  const sent = await store.query<{ exporter: number; tuples: number }>(
    `select exporter_id as exporter, uniqExact(${tuple}) as tuples ${selected} group by exporter`,
    params,
  )
  const tuplesOf = new Map(sent.map(({ exporter, tuples }) => [exporter, tuples]))
  const pairs = await store.query<{ a: number; b: number; shared: number }>(
    `select a, b, count() as shared from (select exporters, arrayJoin(exporters) as a from (${perTuple}) where length(exporters) > 1) ` +
      `array join exporters as b where a < b group by a, b order by shared desc, a, b limit ${pairsMax}`,
    params,
  )
  return {
    ...total,
    pairs: pairs.map((pair) => ({ ...pair, of: Math.min(tuplesOf.get(pair.a)!, tuplesOf.get(pair.b)!) })),
  }
}
