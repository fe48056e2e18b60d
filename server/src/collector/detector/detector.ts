// Finds attacks in decoded flows: hosts whose traffic exceeds a limit, and networks whose hosts do so only together. It has no clock and no
// I/O. An attack is reported when it begins, every 10 s while it lasts, and when it was below 70 % of its limit for a while.
import type { FlowColumns } from '../../flow/flow-columns.ts'
import type { Attack } from './attack.ts'
import { Carpets } from './carpets.ts'
import type { Detection } from './detection.ts'
import { Evaluation, vectorRatesOf } from './evaluation.ts'
import type { DetectorRules } from './limits.ts'
import type { CollectorRates, TargetRates } from './remote-rates.ts'
import { directionOf, holdingBits, formatNetworkBits, scope, type Owners } from './scopes.ts'
import { TargetSums } from './target-sums.ts'
import { vectors } from '../../flow/vector.ts'

/** Rows of the table of hosts and networks, if the installation sets no other number: 84 MB. */
export const detectorRows = 2 ** 18

export class Detector {
  readonly #sums: TargetSums
  readonly #evaluation: Evaluation
  readonly #carpets = new Carpets()
  #second = 0

  constructor(rows = detectorRows) {
    this.#sums = new TargetSums(rows)
    this.#evaluation = new Evaluation(this.#sums)
  }

  setRules(rules: DetectorRules): void {
    this.#evaluation.setRules(rules)
  }

  /** Sets the rates of other collectors. */
  setRemote(collectors: readonly CollectorRates[]): void {
    this.#evaluation.setRemote(collectors)
  }

  /** Flows that could not be counted and targets that were removed from a full table, since the start. */
  get overflows(): number {
    return this.#sums.overflows
  }

  get attacks(): number {
    return this.#evaluation.attacks.size
  }

  /** Counts the flows of a batch from and to addresses of teams. */
  add(columns: FlowColumns, owners: Owners): void {
    if (this.#isOff()) return
    this.#sums.use(owners, this.#evaluation.rules, this.#second)
    this.#sums.count(columns)
  }

  /** Evaluates the flows added so far. `second` is Unix time; no effect within the same second. */
  advance(second: number, owners: Owners): Detection[] {
    const seconds = second - this.#second
    if (seconds === 0 || this.#isOff()) return []
    if (seconds < 0 || this.#second === 0) this.#shift(seconds)
    this.#second = second
    this.#sums.use(owners, this.#evaluation.rules, second)
    // The first call only sets the time: earlier flows have no known span. The same applies after the clock was set.
    const span = seconds < 0 || seconds > 3600 ? 1 : seconds
    const begun = this.#evaluation.evaluate(this.#sums.tick(second, span), second, span)
    for (const attack of begun) this.#joinCarpet(attack)
    this.#carpets.clean(second)
    return this.#report()
  }

  /**
   * The targets with at least a tenth of their limit in the flows of this collector, as of the last evaluation; at most
   * `max`, in descending order of the share.
   */
  targets(max: number): TargetRates[] {
    const near = this.#evaluation.near.toSorted((a, b) => b.share - a.share).slice(0, max)
    return near.map(({ target, network }) => {
      const { bps, pps, bpsVariance, ppsVariance } = target.rates.measure(target.row)
      const parts = [...vectorRatesOf(target)].map(([vector, rates]) => [
        vectors[vector]!,
        [rates.bps, rates.pps],
      ])
      return {
        network,
        ...(directionOf(target.kind) === 'outgoing' && { direction: 'outgoing' as const }),
        bps,
        pps,
        ...(ppsVariance > 0 && { variances: [bpsVariance, ppsVariance] as const }),
        vectors: Object.fromEntries(parts),
      }
    })
  }

  #shift(seconds: number): void {
    this.#sums.shift(seconds)
    this.#evaluation.shift(seconds)
  }

  #isOff(): boolean {
    return this.attacks === 0 && this.#evaluation.rules.isEmpty
  }

  #joinCarpet(attack: Attack): void {
    const { kind, list } = attack
    if (list === 0 || (kind & ~scope.outgoing) === scope.holding) return
    const prefix = formatNetworkBits(holdingBits(this.#sums.owners, list))
    if (prefix === attack.network) return
    this.#carpets.add(attack, `${directionOf(kind)} ${prefix}`, this.#second, () =>
      this.#evaluation.carpetOn(list, kind, attack.limits),
    )
  }

  /** Several networks of one prefix cross their limits within a second or two, and are one carpet then. */
  #waits({ kind, start, isReported }: Attack): boolean {
    return !isReported && kind > scope.host && kind < scope.holding && this.#second - start < 1
  }

  #report(): Detection[] {
    const reports: Detection[] = []
    const over: Attack[] = []
    for (const attack of this.#evaluation.attacks.values()) {
      const isOver = attack.isOver(this.#second)
      if (isOver) over.push(attack)
      if (attack.carpet === undefined && !this.#waits(attack) && (isOver || attack.isDue(this.#second)))
        reports.push(attack.report(this.#second, isOver))
    }
    for (const attack of over) {
      this.#carpets.remove(attack)
      // Its members are below their limits too.
      for (const one of [attack, ...attack.members.values()])
        if (one === attack || one.carpet === attack) this.#evaluation.end(one)
    }
    return reports
  }
}
