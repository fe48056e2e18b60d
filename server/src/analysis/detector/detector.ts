// Finds attacks in decoded flows: destinations whose traffic exceeds a threshold, and networks whose hosts do so only together (carpet
// bombing). It has no clock and no I/O. An attack is reported when it begins, every 10 s while it lasts, and when
// it was below 70 % of its threshold for 60 s.
import { classifications, type Classification } from '@pharos/contract/classification'
import { formatBits } from '../../net/bits-text.ts'
import { maskBits, type Bits } from '../../net/bits.ts'
import type { FlowColumns } from '../flow/flow-columns.ts'
import { attackId } from './attack-id.ts'
import { longFlowMs, RateTable, scope } from './rate-table.ts'
import { addRates, type CollectorRates, type RemoteRates, type TargetRates } from './remote-rates.ts'
import {
  createLimits,
  lowestOf,
  type Baseline,
  type Holder,
  type Limits,
  type Threshold,
} from './threshold.ts'
import { carpetOf, vectorOf, vectors, type Vector } from './vector.ts'

/** The holders of addresses, as in `analysis/flow/collect/flow-owners.ts`. List 0 is empty; the first entry is the most specific. */
export type Owners = {
  readonly starts: Uint32Array
  readonly teamIds: Uint32Array
  readonly prefixIds: Uint32Array
  find(w0: number, w1: number, w2: number, w3: number): number
}

export type DetectorRules = {
  readonly thresholds: readonly Threshold[]
  readonly baselines: ReadonlyMap<number, Baseline>
}

/** One report about an attack; its JSON is the body of a delivery of kind `flows`. Rates are bits and packets per second. */
export type Detection = {
  readonly id: string
  readonly network: string
  readonly status: 'ongoing' | 'ended'
  readonly direction: 'incoming'
  readonly classification: Classification
  readonly start: string
  readonly end?: string
  readonly observed: string
  readonly description: string
  /** The highest since the last report. */
  readonly bps: number
  readonly pps: number
  readonly peak_bps: number
  readonly peak_pps: number
  readonly threshold_bps?: number
  readonly threshold_pps?: number
  readonly total_bytes: number
  readonly total_packets: number
  readonly protocols: readonly string[]
  /** Its kinds of traffic, the strongest first, with their highest rates. */
  readonly vectors: readonly { readonly classification: Vector; readonly bps: number; readonly pps: number }[]
}

type Attack = {
  readonly id: string
  readonly bits: Bits
  readonly words: readonly [number, number, number, number]
  readonly scope: number
  readonly start: number
  limits: Limits
  bps: number
  pps: number
  /** Highest rates since the last report. */
  recentBps: number
  recentPps: number
  peakBps: number
  peakPps: number
  totalOctets: number
  totalPackets: number
  belowSince: number | undefined
  reportedAt: number
  readonly vectors: Map<number, Limits>
}

const offRatio = 0.7
const offSeconds = 60
const reportSeconds = 10
/** A first report waits as long for the kind of its traffic. */
const nameSeconds = 3
/** From this part of a threshold on, the kinds of traffic of a destination are counted. */
const watchRatio = 0.1
/** Destinations below this part may be dropped when the table is full. */
const keepRatio = 0.01

/** Addresses in `networkOf`: a /24 of IPv4, a /64 of IPv6. */
const networkLengths = { 4: 24, 6: 64 } as const

export class Detector {
  readonly #table: RateTable
  #limitsOf: ReturnType<typeof createLimits> = () => undefined
  #lowest: Limits = { bps: Infinity, pps: Infinity }
  readonly #attacks = new Map<number, Attack>()
  #remote: ReturnType<typeof addRates> = () => undefined
  #remoteSecond = 0
  #second = 0

  constructor(capacity = 2 ** 19) {
    this.#table = new RateTable(capacity)
  }

  setRules({ thresholds, baselines }: DetectorRules): void {
    this.#limitsOf = createLimits(thresholds, baselines)
    this.#lowest = lowestOf(thresholds)
  }

  /** Sets the rates of other collectors. */
  setRemote(collectors: readonly CollectorRates[]): void {
    this.#remote = addRates(collectors)
    this.#remoteSecond = this.#second
  }

  /**
   * The destinations with at least a tenth of their threshold in the flows of this collector, at most `max`, those nearest to their
   * threshold first.
   */
  targets(owners: Owners, max: number): TargetRates[] {
    if (this.#isOff()) return []
    const table = this.#table
    const found: { readonly row: number; readonly share: number }[] = []
    table.visit(this.#lowest.bps * watchRatio, this.#lowest.pps * watchRatio, (row, kind) => {
      if (kind !== hostKind && kind !== networkKind) return
      const words = table.words(row)
      const isNetwork = kind === networkKind
      const limits = this.#limitsOf(bitsOf(words, kind / 256), holderOf(words, owners), isNetwork)
      if (!limits) return
      const share = Math.max(table.bps(row) / limits.bps, table.pps(row) / limits.pps)
      if (share >= watchRatio) found.push({ row, share })
    })
    found.sort((a, b) => b.share - a.share)
    return found.slice(0, max).map(({ row }) => this.#targetOf(row))
  }

  #targetOf(row: number): TargetRates {
    const table = this.#table
    const [words, kind] = [table.words(row), table.kind(row)]
    const parts = vectors.flatMap((name, vector) => {
      const at = vector === 0 ? -1 : table.peek(...words, kind + vector)
      return at < 0 || table.pps(at) === 0 ? [] : [[name, [table.bps(at), table.pps(at)]] as const]
    })
    return {
      network: networkText(bitsOf(words, kind / 256)),
      bps: table.bps(row),
      pps: table.pps(row),
      vectors: Object.fromEntries(parts),
    }
  }

  /** Flows that could not be counted, since the start. */
  get overflows(): number {
    return this.#table.overflows
  }

  get attacks(): number {
    return this.#attacks.size
  }

  /** Counts the flows of a batch towards addresses that somebody holds. */
  add(c: FlowColumns, owners: Owners): void {
    if (this.#isOff()) return
    const table = this.#table
    for (let row = 0; row < c.length; row++) {
      const word = row * 4
      const [w0, w1, w2, w3] = [c.dst[word]!, c.dst[word + 1]!, c.dst[word + 2]!, c.dst[word + 3]!]
      if (owners.find(w0, w1, w2, w3) === 0) continue
      const rate = c.samplingRate[row] || 1
      const octets = (c.bytesHi[row]! * 2 ** 32 + c.bytesLo[row]!) * rate
      const packets = (c.packetsHi[row]! * 2 ** 32 + c.packetsLo[row]!) * rate
      const isLong = c.durationMs[row]! >= longFlowMs
      const is4 = w0 === 0 && w1 === 0 && w2 === 0xff_ff
      const host = table.add(w0, w1, w2, w3, hostKind, octets, packets, isLong)
      const n2 = is4 ? w2 : 0
      const n3 = is4 ? (w3 & 0xff_ff_ff_00) >>> 0 : 0
      const network = table.add(w0, w1, n2, n3, networkKind, octets, packets, isLong)
      const isHostWatched = host >= 0 && table.isWatched(host)
      const isNetworkWatched = network >= 0 && table.isWatched(network)
      if (!isHostWatched && !isNetworkWatched) continue
      const vector = vectorOf(c.protocol[row]!, c.srcPort[row]!, c.tcpFlags[row]!, c.fragment[row]!)
      if (isHostWatched) table.add(w0, w1, w2, w3, hostKind + vector, octets, packets, isLong)
      if (isNetworkWatched) table.add(w0, w1, n2, n3, networkKind + vector, octets, packets, isLong)
    }
  }

  /** Evaluates everything added so far. `second` is Unix time; nothing happens within the same second. */
  advance(second: number, owners: Owners): Detection[] {
    const seconds = second - this.#second
    if (seconds === 0 || this.#isOff()) return []
    if (seconds < 0) this.#setBack(seconds)
    this.#second = second
    // The first call only sets the time: what came before belongs to no known span. Neither does it after the clock was set.
    const span = seconds < 0 || seconds > 3600 ? 1 : seconds
    const table = this.#table
    const { bps, pps } = this.#lowest
    const found: number[] = []
    const seen = new Set<number>()
    table.tick(span, bps * watchRatio, pps * watchRatio, (row, kind) => {
      if (kind !== hostKind && kind !== networkKind) return
      table.watch(row)
      found.push(row)
      seen.add(row)
    })
    // An attack may continue at other collectors only.
    for (const row of this.#attacks.keys()) {
      if (!seen.has(row)) found.push(row)
    }
    const networks: number[] = []
    for (const row of found) {
      if (table.kind(row) === networkKind) networks.push(row)
      else this.#evaluate(row, scope.host, { bps: 0, pps: 0 }, span, owners)
    }
    // A network is an attack only by what its attacked hosts do not explain.
    for (const row of networks) {
      this.#evaluate(row, scope.network, this.#ratesOfHostsIn(table.words(row)), span, owners)
    }
    const reports = this.#report()
    if (table.compact(bps * keepRatio, pps * keepRatio)) this.#followRows()
    return reports
  }

  /** The clock was set back: until it reached the former time, no attack would be reported. */
  #setBack(seconds: number): void {
    this.#remoteSecond += seconds
    for (const attack of this.#attacks.values()) {
      attack.reportedAt += seconds
      if (attack.belowSince !== undefined) attack.belowSince += seconds
    }
  }

  /** Rows have moved. */
  #followRows(): void {
    const attacks = [...this.#attacks.values()]
    this.#attacks.clear()
    for (const attack of attacks) {
      const row = this.#table.find(...attack.words, attack.scope * 256)
      if (row >= 0) this.#attacks.set(row, attack)
    }
  }

  #isOff(): boolean {
    return this.#attacks.size === 0 && this.#lowest.bps === Infinity && this.#lowest.pps === Infinity
  }

  /** Compares the rates of all collectors, without those that are explained, with the limits. */
  #evaluate(row: number, rowScope: number, explained: Limits, seconds: number, owners: Owners): void {
    const known = this.#attacks.get(row)
    const words = this.#table.words(row)
    const bits = known?.bits ?? bitsOf(words, rowScope)
    const limits = this.#limitsOf(bits, holderOf(words, owners), rowScope === scope.network) ?? known?.limits
    if (!limits) return
    const remote = this.#remote(networkText(bits), this.#second - this.#remoteSecond)
    const bps = this.#table.bps(row) + (remote?.bps ?? 0) - explained.bps
    const pps = this.#table.pps(row) + (remote?.pps ?? 0) - explained.pps
    if (!known && bps < limits.bps && pps < limits.pps) return
    const attack = known ?? this.#begin(row, rowScope, bits, words, limits)
    attack.limits = limits
    attack.bps = bps
    attack.pps = pps
    attack.recentBps = Math.max(attack.recentBps, bps)
    attack.recentPps = Math.max(attack.recentPps, pps)
    attack.peakBps = Math.max(attack.peakBps, bps)
    attack.peakPps = Math.max(attack.peakPps, pps)
    attack.totalOctets += (bps / 8) * seconds
    attack.totalPackets += pps * seconds
    this.#followVectors(attack, remote)
  }

  #begin(
    row: number,
    rowScope: number,
    bits: Bits,
    words: readonly [number, number, number, number],
    limits: Limits,
  ): Attack {
    const attack: Attack = {
      id: attackId(networkText(bits), timeOf(this.#second)),
      bits,
      words,
      scope: rowScope,
      start: this.#second,
      limits,
      bps: 0,
      pps: 0,
      recentBps: 0,
      recentPps: 0,
      peakBps: 0,
      peakPps: 0,
      totalOctets: 0,
      totalPackets: 0,
      belowSince: undefined,
      reportedAt: -Infinity,
      vectors: new Map(),
    }
    this.#attacks.set(row, attack)
    return attack
  }

  #followVectors({ words, scope: rowScope, vectors: peaks }: Attack, remote: RemoteRates | undefined): void {
    const base = rowScope === scope.host ? hostKind : networkKind
    for (let vector = 1; vector < vectors.length; vector++) {
      const row = this.#table.peek(...words, base + vector)
      const elsewhere = remote?.vectors.get(vector)
      if (row < 0 && !elsewhere) continue
      const known = peaks.get(vector)
      const bps = (row < 0 ? 0 : this.#table.bps(row)) + (elsewhere?.bps ?? 0)
      const pps = (row < 0 ? 0 : this.#table.pps(row)) + (elsewhere?.pps ?? 0)
      if (bps > (known?.bps ?? 0) || pps > (known?.pps ?? 0)) {
        peaks.set(vector, { bps: Math.max(bps, known?.bps ?? 0), pps: Math.max(pps, known?.pps ?? 0) })
      }
    }
  }

  #ratesOfHostsIn([w0, w1, w2, w3]: readonly [number, number, number, number]): Limits {
    let bps = 0
    let pps = 0
    for (const { scope: rowScope, words, bps: hostBps, pps: hostPps } of this.#attacks.values()) {
      if (rowScope !== scope.host || words[0] !== w0 || words[1] !== w1) continue
      const is4 = w0 === 0 && w1 === 0 && w2 === 0xff_ff
      if (is4 && (words[2] !== w2 || (words[3] & 0xff_ff_ff_00) >>> 0 !== w3)) continue
      bps += hostBps
      pps += hostPps
    }
    return { bps, pps }
  }

  #report(): Detection[] {
    const reports: Detection[] = []
    for (const [row, attack] of this.#attacks) {
      const { bps, pps, limits } = attack
      const isBelow = bps < limits.bps * offRatio && pps < limits.pps * offRatio
      attack.belowSince = isBelow ? (attack.belowSince ?? this.#second) : undefined
      const isOver = attack.belowSince !== undefined && this.#second - attack.belowSince >= offSeconds
      // The kinds of traffic are counted from the tick on that noticed the destination.
      const isNamed = attack.vectors.size > 0 || this.#second - attack.start >= nameSeconds
      if (!isOver && (!isNamed || this.#second - attack.reportedAt < reportSeconds)) continue
      attack.reportedAt = this.#second
      reports.push(detectionOf(attack, this.#second, isOver))
      attack.recentBps = attack.recentPps = 0
      if (isOver) this.#attacks.delete(row)
    }
    return reports
  }
}

/** Room for the vectors of a scope. */
const hostKind = scope.host * 256
const networkKind = scope.network * 256

function bitsOf([w0, w1, w2, w3]: readonly [number, number, number, number], rowScope: number): Bits {
  const is4 = w0 === 0 && w1 === 0 && w2 === 0xff_ff
  const bits: Bits = is4
    ? { family: 4, length: 32, w0: w3 | 0, w1: 0, w2: 0, w3: 0 }
    : { family: 6, length: 128, w0: w0 | 0, w1: w1 | 0, w2: w2 | 0, w3: w3 | 0 }
  return rowScope === scope.network ? maskBits({ ...bits, length: networkLengths[bits.family] }) : bits
}

const networkText = (bits: Bits): string => `${formatBits(bits)}/${bits.length}`

function holderOf(words: readonly [number, number, number, number], owners: Owners): Holder {
  const list = owners.find(...words)
  const at = owners.starts[list]!
  // The first address of a network may be in no prefix while others are.
  if (at === owners.starts[list + 1]!) return { teamId: 0, prefixId: 0 }
  return { teamId: owners.teamIds[at]!, prefixId: owners.prefixIds[at]! }
}

const timeOf = (second: number): string => new Date(second * 1000).toISOString()

const rateOf = (value: number): number => Math.max(0, Math.round(value))

function detectionOf(attack: Attack, second: number, isOver: boolean): Detection {
  const strongest = strongestVectors(attack)
  const first = strongest[0]?.classification
  const network = networkText(attack.bits)
  const classification = attack.scope === scope.network ? carpetOf(first) : (first ?? 'unknown')
  return {
    id: attack.id,
    network,
    status: isOver ? 'ended' : 'ongoing',
    direction: 'incoming',
    classification,
    description: `Incoming ${classifications[classification]} on ${network.replace(/\/(?:32|128)$/, '')}`,
    start: timeOf(attack.start),
    ...(isOver ? { end: timeOf(attack.belowSince!) } : {}),
    observed: timeOf(second),
    bps: rateOf(isOver ? attack.bps : attack.recentBps),
    pps: rateOf(isOver ? attack.pps : attack.recentPps),
    peak_bps: rateOf(attack.peakBps),
    peak_pps: rateOf(attack.peakPps),
    ...(Number.isFinite(attack.limits.bps) ? { threshold_bps: rateOf(attack.limits.bps) } : {}),
    ...(Number.isFinite(attack.limits.pps) ? { threshold_pps: rateOf(attack.limits.pps) } : {}),
    total_bytes: rateOf(attack.totalOctets),
    total_packets: rateOf(attack.totalPackets),
    protocols: [...new Set(strongest.map(({ classification }) => classification.split('.')[0]!))],
    vectors: strongest,
  }
}

/** Vectors with at least a tenth of the attack, by their share of what exceeded: octets or packets. */
function strongestVectors({ vectors: peaks, peakBps, peakPps }: Attack): Detection['vectors'] {
  const shareOf = ({ bps, pps }: Limits): number => Math.max(bps / (peakBps || 1), pps / (peakPps || 1))
  return [...peaks]
    .filter(([, peak]) => shareOf(peak) >= 0.1)
    .sort(([, a], [, b]) => shareOf(b) - shareOf(a))
    .map(([vector, { bps, pps }]) => ({
      classification: vectors[vector]!,
      bps: rateOf(bps),
      pps: rateOf(pps),
    }))
}
