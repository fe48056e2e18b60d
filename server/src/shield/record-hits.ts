// Matched and dropped traffic of rules by minute, in the flow store: the totals in PostgreSQL have no history. It never
// delays the loop that applies rules: without a store some minutes are missing.
import type { FilterRule } from '../net/filter-rule.ts'
import { lastHostOf, prefixBits, type Prefix } from '../net/prefix.ts'
import type { BlockColumn } from '../flow/flow-columns.ts'
import { DriverError } from '../runtime/driver-error.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import type { RuleHits } from './scrubber.ts'

/** Hits of a team's rule since the last reading of the counters. */
export type RuleCount = RuleHits & { readonly teamId: number; readonly rule: FilterRule }

type HitRow = {
  readonly teamId: number
  readonly ruleId: number
  readonly destination: Prefix
  /** Unix seconds of the minute. */
  readonly time: number
  readonly matched: RuleHits
  readonly dropped: RuleHits
}

const minuteMs = 60_000
/** Counts over a longer time are not usable as a series. */
const gapMaxMs = 3_600_000
/** Limit of waiting blocks while the store does not answer: an hour of readings. */
const waitingMax = 360
const insertTimeoutMs = 5_000

type RecorderDeps = {
  readonly scrubber: string
  readonly flowStore: Pick<FlowStore, 'insert'>
  readonly encode: (rows: number, columns: readonly BlockColumn[]) => Uint8Array
  readonly report: (error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Stores the hits of one scrubber. The first reading has no beginning, and only starts the time of the second. */
export class HitsRecorder {
  readonly #deps: RecorderDeps
  readonly #waiting: { readonly block: Uint8Array; readonly token: string }[] = []
  #readAt: number | undefined

  constructor(deps: RecorderDeps) {
    this.#deps = deps
  }

  /** Another process reads the counters now. */
  pause(): void {
    this.#readAt = undefined
  }

  async record(counted: readonly RuleCount[]): Promise<void> {
    const { encode, scrubber, report } = this.#deps
    try {
      const until = this.#deps.now()
      const from = this.#readAt
      this.#readAt = until
      const rows = from === undefined ? [] : hitRows(counted, from, until)
      if (rows.length > 0) {
        this.#waiting.push({
          block: encode(rows.length, columnsOf(rows)),
          token: `shield:${scrubber}:${until}`,
        })
      }
      await this.#insert()
    } catch (error) {
      report(error)
    }
  }

  /**
   * Inserts blocks in order and stops at the first failure. A failed block is retried after the next reading with the
   * same token; a rejected block is dropped.
   */
  async #insert(): Promise<void> {
    const { flowStore, report } = this.#deps
    this.#waiting.splice(0, this.#waiting.length - waitingMax)
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      try {
        await flowStore.insert('shield_hits', next.block, next.token, AbortSignal.timeout(insertTimeoutMs))
      } catch (error) {
        if (!(error instanceof DriverError) || error.kind !== 'refused') throw error
        report(error)
      }
      this.#waiting.shift()
    }
  }
}

/** Returns the rows of a reading, with its hits spread evenly over the minutes since the previous reading. */
export function hitRows(counted: readonly RuleCount[], fromMs: number, untilMs: number): HitRow[] {
  const lasted = untilMs - fromMs
  if (lasted <= 0 || lasted > gapMaxMs) return []
  const firstMs = Math.floor(fromMs / minuteMs) * minuteMs
  const minutes = Array.from(
    { length: Math.ceil((untilMs - firstMs) / minuteMs) },
    (_, at) => firstMs + at * minuteMs,
  )
  return counted.flatMap((count) => {
    const dropped = droppedOf(count, lasted / 1000)
    const partOf = (total: number, minute: number): number => {
      const until = (ms: number) => Math.round((total * Math.min(Math.max(ms - fromMs, 0), lasted)) / lasted)
      return until(minute + minuteMs) - until(minute)
    }
    return minutes
      .map((minute): HitRow => ({
        teamId: count.teamId,
        ruleId: count.rule.id,
        destination: count.rule.match.destination,
        time: minute / 1000,
        matched: { packets: partOf(count.packets, minute), bytes: partOf(count.bytes, minute) },
        dropped: { packets: partOf(dropped.packets, minute), bytes: partOf(dropped.bytes, minute) },
      }))
      .filter(({ matched, dropped: { packets } }) => Math.max(matched.packets, matched.bytes, packets) > 0)
  })
}

/** Scrubbers count every matching packet. For a limit, the average excess over its rate was dropped. */
function droppedOf({ rule: { action }, packets, bytes }: RuleCount, seconds: number): RuleHits {
  if (action.kind === 'deny') return { packets, bytes }
  if (action.kind === 'allow') return { packets: 0, bytes: 0 }
  const share =
    'bps' in action ? exceeding(bytes, (action.bps / 8) * seconds) : exceeding(packets, action.pps * seconds)
  return { packets: Math.floor(packets * share), bytes: Math.floor(bytes * share) }
}

const exceeding = (amount: number, allowed: number): number =>
  amount > allowed ? (amount - allowed) / amount : 0

function columnsOf(rows: readonly HitRow[]): BlockColumn[] {
  const large = (name: string, of: (row: HitRow) => number): BlockColumn => ({
    name,
    type: 'UInt64',
    low: Uint32Array.from(rows, (row) => of(row) % 2 ** 32),
    high: Uint32Array.from(rows, (row) => Math.floor(of(row) / 2 ** 32)),
  })
  const addresses = (name: string, of: (row: HitRow) => Prefix): BlockColumn => ({
    name,
    type: 'IPv6',
    words: Uint32Array.from(rows.flatMap((row) => wordsOf(of(row)))),
  })
  return [
    { name: 'team_id', type: 'UInt32', values: Uint32Array.from(rows, ({ teamId }) => teamId) },
    { name: 'time', type: `DateTime('UTC')`, values: Uint32Array.from(rows, ({ time }) => time) },
    large('rule_id', ({ ruleId }) => ruleId),
    addresses('first_addr', ({ destination }) => destination),
    addresses('last_addr', ({ destination }) => lastHostOf(destination)),
    large('packets', ({ matched }) => matched.packets),
    large('bytes', ({ matched }) => matched.bytes),
    large('dropped_packets', ({ dropped }) => dropped.packets),
    large('dropped_bytes', ({ dropped }) => dropped.bytes),
  ]
}

function wordsOf(prefix: Prefix): number[] {
  const { family, w0, w1, w2, w3 } = prefixBits(prefix)
  return family === 4 ? [0, 0, 0xffff, w0] : [w0, w1, w2, w3]
}
