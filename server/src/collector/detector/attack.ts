// One attack of the detector: when it begins and ends, its peaks, and the reports about it. Pure.
import type { Bits } from '../../net/bits.ts'
import { attackId, attackKey } from './attack-id.ts'
import type { RateLimits } from './limits.ts'
import { add, combine, lowerOf, noMeasure, type Measure } from './measure.ts'
import { detectionOf, secondText, type Detection, type Strongest } from './detection.ts'
import { directionOf, formatNetworkBits, type TargetWords } from './scopes.ts'

/** The traffic of an attack in one second. */
export type Reading = {
  /** Undefined if the network no longer belongs to a team: the former limits stay. */
  readonly limits: RateLimits | undefined
  readonly own: Measure
  /** Rates by kind of traffic. */
  readonly vectors: ReadonlyMap<number, RateLimits>
}

const offRatio = 0.7
const offSeconds = 60
/** Seconds below the limit that end an attack on a recently attacked target: pulses are one attack. */
const pulseOffSeconds = 300
const reportSeconds = 10

export class Attack {
  readonly key: string
  readonly id: string
  readonly network: string
  readonly bits: Bits
  readonly words: TargetWords
  readonly kind: number
  readonly start: number
  /** The list of the team's prefix. */
  list: number
  /** Its own traffic exceeds the limit; a carpet may consist of its members only. */
  isOwn = true
  /** Hosts and networks of a carpet, by their keys. */
  readonly members = new Map<string, Attack>()
  /** The carpet that it is a member of: it has no separate reports. */
  carpet: Attack | undefined
  /** Traffic without the smaller attacks inside it. */
  own: Measure = noMeasure
  /** Including the traffic of its members. */
  now: Measure = noMeasure
  limits: RateLimits
  isReported = false
  /**
   * Since the last report: a reading rises with each batch of an exporter, so its peaks are not peaks of the traffic.
   */
  #recent = new Mean()
  #peak: RateLimits = { bps: 0, pps: 0 }
  #peakLower: RateLimits = { bps: 0, pps: 0 }
  #totalOctets = 0
  #totalPackets = 0
  #belowSince: number | undefined
  #reportedAt = -Infinity
  readonly #vectors = new Map<number, RateLimits>()
  readonly #offSeconds: number

  constructor(
    target: {
      readonly bits: Bits
      readonly words: TargetWords
      readonly kind: number
      readonly list: number
    },
    start: number,
    limits: RateLimits,
    isRepeated: boolean,
  ) {
    this.bits = target.bits
    this.words = target.words
    this.kind = target.kind
    this.list = target.list
    this.network = formatNetworkBits(target.bits)
    this.key = attackKey(this.network, directionOf(target.kind))
    this.start = start
    this.id = attackId(this.network, secondText(start), directionOf(target.kind))
    this.limits = limits
    this.#offSeconds = isRepeated ? pulseOffSeconds : offSeconds
  }

  /** The kind of most of its traffic. */
  get leading(): number {
    return this.#strongest()[0]?.[0] ?? this.#recent.leading
  }

  /** Adds a second, or more of them. */
  follow({ limits, own, vectors: found }: Reading, seconds: number): void {
    if (limits) this.limits = limits
    this.own = own
    const measure = [...this.members.values()].reduce(
      (sum, { now }) => combine(sum, now, add),
      this.isOwn ? own : noMeasure,
    )
    this.now = measure
    this.#totalOctets += (Math.max(0, measure.bps) / 8) * seconds
    this.#totalPackets += Math.max(0, measure.pps) * seconds
    this.#recent.add(measure, this.isOwn ? found : this.#vectorsOfMembers(), seconds)
    // The member of a carpet has no reports.
    if (this.#recent.seconds > reportSeconds) this.#endMean()
  }

  /** Returns the mean since it was called before, which may be the peak. */
  #endMean(): Measure {
    const { measure, vectors: found } = this.#recent
    this.#recent = new Mean()
    this.#peak = highest(this.#peak, measure)
    this.#peakLower = highest(this.#peakLower, lowerOf(measure))
    for (const [vector, rates] of found)
      this.#vectors.set(vector, highest(this.#vectors.get(vector) ?? rates, rates))
    return measure
  }

  #vectorsOfMembers(): ReadonlyMap<number, RateLimits> {
    const found = new Map<number, RateLimits>()
    for (const { now, leading } of this.members.values()) {
      const { bps, pps } = found.get(leading) ?? { bps: 0, pps: 0 }
      found.set(leading, { bps: bps + now.bps, pps: pps + now.pps })
    }
    return found
  }

  /** The attack has ended: its traffic no longer counts in its carpet. */
  close(): void {
    this.own = this.now = noMeasure
  }

  get isBelow(): boolean {
    const isOwnBelow = this.own.bps < this.limits.bps * offRatio && this.own.pps < this.limits.pps * offRatio
    if (this.members.size === 0) return isOwnBelow
    return (!this.isOwn || isOwnBelow) && [...this.members.values()].every((member) => member.isBelow)
  }

  /** Follows its end; returns whether it is over. */
  isOver(second: number): boolean {
    this.#belowSince = this.isBelow ? (this.#belowSince ?? second) : undefined
    return this.#belowSince !== undefined && second - this.#belowSince >= this.#offSeconds
  }

  isDue(second: number): boolean {
    return second - this.#reportedAt >= reportSeconds
  }

  /** Adjusts the times after the clock was set by `seconds`. */
  shift(seconds: number): void {
    this.#reportedAt += seconds
    if (this.#belowSince !== undefined) this.#belowSince += seconds
  }

  report(second: number, isOver: boolean): Detection {
    this.#reportedAt = second
    this.isReported = true
    const mean = this.#endMean()
    const measure = isOver ? this.now : mean
    return detectionOf({
      attack: this,
      measure,
      peak: this.#peak,
      peakLower: this.#peakLower,
      strongest: this.#strongest(),
      totals: { octets: this.#totalOctets, packets: this.#totalPackets },
      second,
      end: isOver ? this.#belowSince : undefined,
    })
  }

  /** Kinds of traffic with at least a tenth of the attack, by their share of the exceeding unit: octets or packets. */
  #strongest(): Strongest {
    const { bps: octets, pps: packets } = this.#peak
    const shareOf = ({ bps, pps }: RateLimits) => Math.max(bps / (octets || 1), pps / (packets || 1))
    return [...this.#vectors]
      .filter(([vector, peak]) => vector !== 0 && shareOf(peak) >= 0.1)
      .sort(([, a], [, b]) => shareOf(b) - shareOf(a))
  }
}

const highest = (a: RateLimits, b: RateLimits): RateLimits => ({
  bps: Math.max(a.bps, b.bps),
  pps: Math.max(a.pps, b.pps),
})

/** The mean of readings, each over its seconds. */
class Mean {
  seconds = 0
  #measure: Measure = noMeasure
  readonly #vectors = new Map<number, RateLimits>()

  add(measure: Measure, vectors: ReadonlyMap<number, RateLimits>, seconds: number): void {
    // A carpet begins with the rates of its members, before its first second.
    const weight = seconds || 1
    this.seconds += weight
    this.#measure = combine(this.#measure, measure, (sum, one) => sum + one * weight)
    for (const [vector, { bps, pps }] of vectors) {
      const before = this.#vectors.get(vector) ?? { bps: 0, pps: 0 }
      this.#vectors.set(vector, { bps: before.bps + bps * weight, pps: before.pps + pps * weight })
    }
  }

  get measure(): Measure {
    return combine(this.#measure, noMeasure, (sum) => sum / (this.seconds || 1))
  }

  /** The kind with the most octets; 0 if there is no traffic. */
  get leading(): number {
    return this.vectors.toSorted(([, a], [, b]) => b.bps - a.bps)[0]?.[0] ?? 0
  }

  get vectors(): [number, RateLimits][] {
    const seconds = this.seconds || 1
    return Array.from(this.#vectors, ([vector, { bps, pps }]) => [
      vector,
      { bps: bps / seconds, pps: pps / seconds },
    ])
  }
}
