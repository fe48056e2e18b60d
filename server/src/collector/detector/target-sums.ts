// The sums of the detector for one ownership and one set of rules: the gate, the exact table, and a row for each prefix
// of a team. When the ownership changes, prefixes keep their rates.
import type { Bits } from '../../net/bits.ts'
import type { FlowColumns } from '../../flow/flow-columns.ts'
import { costsOf, countFlows, rowAround } from './count-flows.ts'
import { DetectionGate } from './gate.ts'
import { floor, floorOf, floorsOf, type LimitRules } from './limits.ts'
import { Rates } from './rates.ts'
import {
  holdingBits,
  is4,
  ladder,
  ladderWords,
  coveringListOf,
  networkBits,
  formatNetworkBits,
  scope,
  type Owners,
  type TargetWords,
} from './scopes.ts'
import { hashOf, TargetTable } from './target-table.ts'

/**
 * A sum of a host, a network of the ladder, or a prefix of a team. `list` belongs to the most specific prefix that
 * covers it.
 */
export type DetectorTarget = {
  readonly kind: number
  readonly list: number
  readonly words: TargetWords
  readonly rates: Rates
  readonly row: number
}

/** Part of its lowest limit from which a target is compared with its limits. */
export const watchRatio = 0.1
/** Rows below this part are of no use. */
const keepRatio = 0.01
const gateCells = 4

const noOwners: Owners = {
  starts: Uint32Array.of(0, 0),
  teamIds: new Uint32Array(),
  prefixIds: new Uint32Array(),
  words: new Uint32Array(4),
  lengths: new Uint8Array(1),
  parents: new Uint32Array(1),
  find: () => 0,
}

export class TargetSums {
  readonly #gate: DetectionGate
  readonly #table: TargetTable
  #owners = noOwners
  #rules: LimitRules | undefined
  #holdings = new Rates(2)
  /** By list, the second from which on its traffic is counted. */
  #since = new Float64Array(1)
  #floors: Float64Array = new Float64Array(floor.width)
  #costs: Float64Array = new Float64Array(floor.width)

  /** `capacity`: a power of 2; 328 octets for each. */
  constructor(capacity: number) {
    this.#table = new TargetTable(capacity)
    this.#gate = new DetectionGate(capacity * gateCells)
  }

  get overflows(): number {
    return this.#table.overflows
  }

  get owners(): Owners {
    return this.#owners
  }

  /** No effect if both are in use already. */
  use(owners: Owners, rules: LimitRules, second: number): void {
    if (owners === this.#owners && rules === this.#rules) return
    if (owners !== this.#owners) this.#setOwners(owners, second)
    this.#rules = rules
    this.#floors = floorsOf(owners, rules)
    this.#costs = costsOf(this.#floors)
  }

  #setOwners(owners: Owners, second: number): void {
    const [before, sums, since] = [this.#owners, this.#holdings, this.#since]
    const lists = owners.lengths.length
    const known = new Map<string, number>()
    for (let list = 1; list < before.lengths.length; list++)
      known.set(formatNetworkBits(holdingBits(before, list)), list)
    this.#owners = owners
    this.#holdings = new Rates(2 * lists)
    this.#since = new Float64Array(lists).fill(second)
    for (let list = 1; list < lists; list++) {
      const former = known.get(formatNetworkBits(holdingBits(owners, list)))
      if (former === undefined) continue
      this.#since[list] = since[former]!
      this.#holdings.copy(former, list, sums)
      this.#holdings.copy(before.lengths.length + former, lists + list, sums)
    }
    const table = this.#table
    for (let row = 0; row < table.size; row++) {
      const { length, family } = networkBits(table.addressOf(row), table.kindOf(row))
      const list = coveringListOf(owners, table.addressOf(row), length)
      // A network that is also a prefix of a team has its own sum.
      const isHeld = length < (family === 4 ? 32 : 128) && owners.lengths[list] === length
      table.setList(row, isHeld ? 0 : list)
    }
  }

  count(columns: FlowColumns): void {
    countFlows(columns, {
      gate: this.#gate,
      table: this.#table,
      holdings: this.#holdings,
      owners: this.#owners,
      costs: this.#costs,
    })
  }

  /** Adjusts the times after the clock was set by `seconds`. */
  shift(seconds: number): void {
    this.#since = this.#since.map((since) => since + seconds)
  }

  /** Seconds for which traffic to a list is counted. */
  countedSeconds(list: number, second: number): number {
    return second - this.#since[list]!
  }

  /**
   * Updates all rates with the additions of `seconds`, and returns the targets at or above a tenth of their lowest
   * limit.
   */
  tick(second: number, seconds: number): DetectorTarget[] {
    this.#gate.tick(second)
    const table = this.#table
    table.rates.setSpan(seconds)
    this.#addUp()
    for (let row = 0; row < table.size; row++) table.rates.tick(row)
    table.removeSmallest(keepRatio, (row) =>
      this.#shareOf(table.rates, row, table.kindOf(row), table.listOf(row)),
    )
    const found: DetectorTarget[] = []
    for (let row = 0; row < table.size; row++) {
      const kind = table.kindOf(row)
      const list = table.listOf(row)
      if (this.#shareOf(table.rates, row, kind, list) < watchRatio) continue
      found.push({ kind, list, words: table.addressOf(row), rates: table.rates, row })
    }
    this.#tickHoldings(seconds, found)
    return found
  }

  /** Adds the counts of hosts and networks to the networks around them, and the counts of prefixes to their parents. */
  #addUp(): void {
    const table = this.#table
    const rows: number[][] = Array.from({ length: scope.holding }, () => [])
    const { parents } = this.#owners
    const lists = parents.length
    for (let row = 0; row < table.size; row++) {
      const kind = table.kindOf(row)
      if (kind >= scope.outgoing) table.rates.addRow(row, lists + table.listOf(row), this.#holdings)
      else rows[kind]!.push(row)
    }
    for (const [kind, some] of rows.entries()) for (const row of some) this.#addUpRow(kind, row, rows)
    for (let list = lists - 1; list > 0; list--) {
      const parent = parents[list]!
      if (parent === 0) continue
      this.#holdings.addRow(list, parent)
      this.#holdings.addRow(lists + list, lists + parent)
    }
  }

  /** Adds to the next network around it that has a row, or else to its prefix. `rows` gets the new rows. */
  #addUpRow(kind: number, row: number, rows: readonly number[][]): void {
    const table = this.#table
    const { rates } = table
    const list = table.listOf(row)
    const [octets, packets] = [rates.addedOctets(row), rates.addedPackets(row)]
    if (list === 0 || (octets === 0 && packets === 0)) return
    const size = table.size
    const sums = { table, gate: this.#gate, costs: this.#costs, owners: this.#owners }
    const around = rowAround(sums, ...table.addressOf(row), kind, list, octets, packets)
    if (table.size > size) rows[table.kindOf(around)]!.push(around)
    if (around < 0) rates.addRow(row, list, this.#holdings)
    else rates.addRow(row, around)
  }

  #tickHoldings(seconds: number, found: DetectorTarget[]): void {
    const lists = this.#owners.lengths.length
    this.#holdings.setSpan(seconds)
    for (let list = 1; list < lists; list++) {
      for (const kind of [scope.holding, scope.holding + scope.outgoing]) {
        const row = list + (kind === scope.holding ? 0 : lists)
        this.#holdings.tick(row)
        if (this.#shareOf(this.#holdings, row, kind, list) >= watchRatio) found.push(this.holding(list, kind))
      }
    }
  }

  /** The part of its lowest limit that a row has reached. */
  #shareOf(rates: Rates, row: number, kind: number, list: number): number {
    if (list === 0) return 0
    const at = list * floor.width + floorOf(kind)
    return Math.max(rates.bps(row) / this.#floors[at]!, rates.pps(row) / this.#floors[at + 1]!)
  }

  /** The target of an attack: `row` is -1 if it has no sum here. Rows of the table are valid until the next tick. */
  targetOf({ words, kind, bits }: { words: TargetWords; kind: number; bits: Bits }): DetectorTarget {
    const list = coveringListOf(this.#owners, words, bits.length)
    if ((kind & ~scope.outgoing) !== scope.holding) return this.#find(words, kind, list)
    const isHeld = list !== 0 && this.#owners.lengths[list] === bits.length
    return isHeld ? this.holding(list, kind) : { kind, list: 0, words, rates: this.#holdings, row: -1 }
  }

  #find(words: TargetWords, kind: number, list: number): DetectorTarget {
    const row = this.#table.find(...words, kind, hashOf(...words, kind))
    return { kind, list, words, rates: this.#table.rates, row }
  }

  /** The sum of the prefix of a list. */
  holding(list: number, kind: number): DetectorTarget {
    const { words, lengths } = this.#owners
    const at = list * 4
    const row = list + (kind & scope.outgoing ? lengths.length : 0)
    return {
      kind,
      list,
      words: [words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!],
      rates: this.#holdings,
      row,
    }
  }

  /** The sums of the networks around a target, the most specific first. */
  around({ words, kind, list }: Pick<DetectorTarget, 'words' | 'kind' | 'list'>): DetectorTarget[] {
    const { lengths, parents } = this.#owners
    const found: DetectorTarget[] = []
    const direction = kind & scope.outgoing
    if (list === 0) return found
    const steps = ladder[is4(words[0], words[1], words[2]) ? 4 : 6]
    if (direction === 0) {
      for (let step = kind + 1; step < scope.holding && steps[step - 1]! > lengths[list]!; step++) {
        const target = this.#find(ladderWords(words, step), step, list)
        if (target.row >= 0) found.push(target)
      }
    }
    const isHolding = (kind & ~scope.outgoing) === scope.holding
    for (let held = isHolding ? parents[list]! : list; held !== 0; held = parents[held]!)
      found.push(this.holding(held, scope.holding + direction))
    return found
  }
}
