// Compares targets with their limits, the most specific first: a network is an attack only by traffic outside of the
// attacks inside it. It stores the attacks without reporting them.
import type { Bits } from '../../net/bits.ts'
import { attackKey } from './attack-id.ts'
import { Attack } from './attack.ts'
import {
  createLimitRules,
  usualRatesOf,
  type DetectorRules,
  type LimitRules,
  type RateLimits,
} from './limits.ts'
import { add, combine, lowerOf, noMeasure, type Measure } from './measure.ts'
import { addRates, type CollectorRates, type RemoteRates } from './remote-rates.ts'
import { directionOf, networkBits, formatNetworkBits, scope, type Owners } from './scopes.ts'
import { watchRatio, type DetectorTarget, type TargetSums } from './target-sums.ts'
import { storedOfLists } from './usual-traffic.ts'

/** Networks wait as long for their usual traffic, unless it is stored. */
const observedSeconds = 600
/** A target that was attacked within that time is attacked by pulses. */
const pulseSeconds = 1800

/** A target with the part of its limit that this collector sees. */
export type NearTarget = { readonly target: DetectorTarget; readonly network: string; readonly share: number }

export class Evaluation {
  readonly attacks = new Map<string, Attack>()
  rules: LimitRules
  near: NearTarget[] = []
  readonly #sums: TargetSums
  #given: DetectorRules = { thresholds: [], baselines: new Map() }
  #stored: readonly (RateLimits | undefined)[] = []
  #storedOf: Owners | undefined
  /** When attacks on a target were over. */
  readonly #ended = new Map<string, number>()
  /** When targets exceeded their limit, for limits with a minimum time. */
  #pending = new Map<string, number>()
  #stillPending = new Map<string, number>()
  /** The traffic of attacks in each of the networks around them, by `placeOf`. */
  readonly #explained = new Map<string, Measure>()
  #remote: ReturnType<typeof addRates> = () => undefined
  #remoteSecond = 0
  #second = 0

  constructor(sums: TargetSums) {
    this.#sums = sums
    this.rules = createLimitRules(this.#given)
  }

  setRules(rules: DetectorRules): void {
    this.#given = rules
    this.rules = createLimitRules(rules)
    this.#storedOf = undefined
  }

  setRemote(collectors: readonly CollectorRates[]): void {
    this.#remote = addRates(collectors)
    this.#remoteSecond = this.#second
  }

  /** Adjusts the times after the clock was set by `seconds`; without this, reports would stop until the former time. */
  shift(seconds: number): void {
    this.#remoteSecond += seconds
    for (const attack of this.attacks.values()) attack.shift(seconds)
    for (const [key, ended] of this.#ended) this.#ended.set(key, ended + seconds)
    this.#pending.clear()
  }

  /** Evaluates the targets and all attacks after `span` seconds, and returns the attacks that begin. */
  evaluate(targets: readonly DetectorTarget[], second: number, span: number): Attack[] {
    const { owners } = this.#sums
    this.#second = second
    if (owners !== this.#storedOf) this.#stored = storedOfLists(owners, this.#given.baselines)
    this.#storedOf = owners
    this.#explained.clear()
    this.near = []
    const begun = this.#inOrder(targets).flatMap((target) => this.#evaluateTarget(target, span) ?? [])
    this.#pending = this.#stillPending
    this.#stillPending = new Map()
    for (const [key, ended] of this.#ended) if (second - ended > pulseSeconds) this.#ended.delete(key)
    return begun
  }

  /** The attack on the prefix of a list, which begins now unless it is known; only its members make it one then. */
  carpetOn(list: number, kind: number, limits: RateLimits): Attack {
    const target = this.#sums.holding(list, scope.holding + (kind & scope.outgoing))
    const { bits, key } = this.#identify(target)
    const known = this.attacks.get(key)
    if (known) return known
    const attack = this.#begin(target, bits, key, limits)
    attack.isOwn = false
    return attack
  }

  end(attack: Attack): void {
    attack.close()
    this.attacks.delete(attack.key)
    this.#ended.set(attack.key, this.#second)
  }

  /** Targets, and attacks without a target, the most specific first. */
  #inOrder(targets: readonly DetectorTarget[]): DetectorTarget[] {
    const { lengths } = this.#sums.owners
    const all = [...targets]
    const seen = new Set(targets.map(placeOf))
    for (const attack of this.attacks.values()) {
      const target = this.#sums.targetOf(attack)
      if (!seen.has(placeOf(target))) all.push(target)
    }
    const orderOf = ({ kind, list }: DetectorTarget): number => {
      const step = kind & ~scope.outgoing
      return step === scope.holding ? 1000 - lengths[list]! : step
    }
    return all.sort((a, b) => orderOf(a) - orderOf(b))
  }

  #identify({ words, kind, list }: DetectorTarget): { readonly bits: Bits; readonly key: string } {
    const bits = networkBits(words, kind, this.#sums.owners.lengths[list])
    return { bits, key: attackKey(formatNetworkBits(bits), directionOf(kind)) }
  }

  /** Returns the attack if it begins. */
  #evaluateTarget(target: DetectorTarget, span: number): Attack | undefined {
    const { bits, key } = this.#identify(target)
    const isHolding = (target.kind & ~scope.outgoing) === scope.holding
    // A prefix of a single address is evaluated as a host.
    if (isHolding && bits.length === (bits.family === 4 ? 32 : 128)) return undefined
    const known = this.attacks.get(key)
    const found = this.#limitsOf(target, bits, known !== undefined)
    if (!found && !known) return undefined
    const local = known ? localOf(target) : fastestOf(target)
    const limits = found ?? known!.limits
    const share = Math.max(local.bps / limits.bps, local.pps / limits.pps)
    if (share >= watchRatio) this.near.push({ target, network: formatNetworkBits(bits), share })
    const remote = this.#remote(key, this.#second - this.#remoteSecond)
    const own = this.#unexplained(target, remote ? combine(local, remote.measure, add) : local)
    const isOver = known?.isOwn === true || this.#isOver(key, own, limits, bits, target)
    if (!known && !isOver) return undefined
    const attack = known ?? this.#begin(target, bits, key, limits)
    attack.isOwn ||= isOver
    attack.follow(
      { limits: attack.isOwn ? found : undefined, own, vectors: vectorRatesOf(target, remote) },
      span,
    )
    this.#explain(attack, target)
    return known ? undefined : attack
  }

  /** Undefined without a threshold, and for a network as long as its usual traffic is unknown. */
  #limitsOf(
    { kind, list, rates, row }: DetectorTarget,
    bits: Bits,
    isKnown: boolean,
  ): RateLimits | undefined {
    const { owners } = this.#sums
    if (list === 0) return undefined
    const teamId = owners.teamIds[owners.starts[list]!] ?? 0
    const threshold = this.rules.find(bits, teamId)
    if (!threshold) return undefined
    const step = kind & ~scope.outgoing
    // The stored rates are of traffic that arrives.
    const stored =
      step === scope.holding ? this.#stored[list] : this.#given.usual?.get(formatNetworkBits(bits))
    const counted = this.#sums.countedSeconds(list, this.#second)
    const isObserved = counted >= observedSeconds
    if (step !== scope.host && !isObserved && stored === undefined && !isKnown) return undefined
    const usual = usualRatesOf({
      stored: kind & scope.outgoing ? undefined : stored,
      recent: isObserved && row >= 0 ? rates.recent(row, counted) : undefined,
    })
    return this.rules.limitsOf(threshold, kind, teamId, usual)
  }

  #unexplained(target: DetectorTarget, measure: Measure): Measure {
    const explained = this.#explained.get(placeOf(target))
    return explained ? combine(measure, explained, (all, part) => Math.max(0, all - part)) : measure
  }

  /** Whether the lower bound of the rate is over the limit, for the minimum time of the threshold. */
  #isOver(key: string, own: Measure, limits: RateLimits, bits: Bits, { list }: DetectorTarget): boolean {
    const lower = lowerOf(own)
    if (lower.bps < limits.bps && lower.pps < limits.pps) return false
    const { owners } = this.#sums
    const minSeconds = this.rules.find(bits, owners.teamIds[owners.starts[list]!] ?? 0)?.minSeconds ?? 0
    if (minSeconds === 0) return true
    const since = this.#pending.get(key) ?? this.#second
    this.#stillPending.set(key, since)
    return this.#second - since >= minSeconds
  }

  #begin(target: DetectorTarget, bits: Bits, key: string, limits: RateLimits): Attack {
    const attack = new Attack({ ...target, bits }, this.#second, limits, this.#ended.has(key))
    this.attacks.set(key, attack)
    return attack
  }

  /**
   * Adds the traffic of an attack to the explained traffic of the networks around it; their usual traffic is not
   * updated in the meantime.
   */
  #explain(attack: Attack, target: DetectorTarget): void {
    if (target.row >= 0) target.rates.freeze(target.row)
    for (const around of this.#sums.around(target)) {
      around.rates.freeze(around.row)
      if (!attack.isOwn) continue
      const place = placeOf(around)
      this.#explained.set(place, combine(this.#explained.get(place) ?? noMeasure, attack.own, add))
    }
  }
}

const localOf = ({ rates, row }: DetectorTarget): Measure => (row < 0 ? noMeasure : rates.measure(row))

/** For a host without an attack, uses the packets of two or eight seconds, whichever rate is higher. */
function fastestOf(target: DetectorTarget): Measure {
  const { kind, rates, row } = target
  const local = localOf(target)
  if (row < 0 || (kind & ~scope.outgoing) !== scope.host) return local
  const fast = rates.fastMeasure(row)
  return lowerOf(fast).pps > lowerOf(local).pps ? fast : local
}

/** A key that is unique to a target with a row. */
const placeOf = ({ kind, row, words }: DetectorTarget): string =>
  row < 0 ? `${kind} ${words.join(' ')}` : `${kind} ${row}`

/** Rates by kind of traffic: the shares of this collector's rates, and the rates of the others. */
export function vectorRatesOf(
  { rates, row }: DetectorTarget,
  remote?: RemoteRates,
): ReadonlyMap<number, RateLimits> {
  const found = new Map<number, RateLimits>(remote?.vectors)
  if (row < 0) return found
  const [bps, pps] = [rates.bps(row), rates.pps(row)]
  rates.visitVectors(row, (vector, octets, packets) => {
    const { bps: otherBps, pps: otherPps } = found.get(vector) ?? { bps: 0, pps: 0 }
    found.set(vector, { bps: otherBps + octets * bps, pps: otherPps + packets * pps })
  })
  return found
}
