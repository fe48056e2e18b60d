// Hits of scrubbers that forward no packets, estimated from the flows that were stored: for the demo. First match, as a scrubber does it.
import { matchCondition } from '../flow/match-sql.ts'
import type { FlowStore, Param } from '../flow/flow-store.ts'
import { comparePrefixes, lengthOf } from '../net/prefix.ts'
import type { CompiledList, RuleHits, RuleId } from './scrubber.ts'
import type { EstimateHits } from './scrubber-driver.ts'

/** Flows are stored up to this much later than they were received. */
const storedAfterMs = 5_000

/** Returns a function that counts the packets of flows by the first rule that matches them. No hits if the flows cannot be read. */
export function createEstimateHits(flowStore: FlowStore, report: (error: unknown) => void): EstimateHits {
  return async (lists, start, end) => {
    if (lists.length === 0 || end <= start) return new Map()
    const { sql, params, ids } = hitsStatement(lists, start, end)
    try {
      const rows = await flowStore.query<HitRow>(sql, params, {
        seconds: 5,
        memoryBytes: 1e9,
        resultRows: 100_000,
      })
      return hitsOf(rows, ids)
    } catch (error) {
      report(error)
      return new Map()
    }
  }
}

type HitRow = { readonly rule: number; readonly sum_packets: number; readonly sum_bytes: number }

/** `rule` is the place of the rule in `ids`, from 1. */
function hitsStatement(lists: readonly CompiledList[], start: Date, end: Date) {
  const params: Record<string, Param> = {
    from: secondsOf(start),
    until: secondsOf(end),
  }
  let bound = 0
  const bind = (type: string, value: Param): string => {
    const name = `n${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const rules = lists
    .toSorted((a, b) => lengthOf(b.prefix) - lengthOf(a.prefix) || comparePrefixes(a.prefix, b.prefix))
    .flatMap((list) => list.rules)
  const cases = rules.map(({ match }, at) => `${matchCondition(match, bind)}, ${at + 1}`)
  const sql =
    `select toUInt32(multiIf(${cases.join(', ')}, 0)) as rule, sum(packets * greatest(sampling_rate, 1)) as sum_packets, ` +
    `sum(bytes * greatest(sampling_rate, 1)) as sum_bytes from flows where is_primary = 1 and direction in ('in', 'internal') ` +
    `and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC') group by rule having rule > 0`
  return { sql, params, ids: rules.map(({ id }) => id) }
}

const secondsOf = (time: Date): number => Math.floor((time.getTime() - storedAfterMs) / 1000)

function hitsOf(rows: readonly HitRow[], ids: readonly RuleId[]): Map<RuleId, RuleHits> {
  const hits = new Map<RuleId, RuleHits>()
  for (const { rule, sum_packets: packets, sum_bytes: bytes } of rows) {
    const id = ids[rule - 1]!
    const before = hits.get(id) ?? { packets: 0, bytes: 0 }
    hits.set(id, { packets: before.packets + packets, bytes: before.bytes + bytes })
  }
  return hits
}
