// A scrubber in memory. It installs lists as any other. Only the traffic of the demo passes through it (`forward`): its
// other hits are an estimate from the flows stored since the last query, which the caller provides. Without the
// estimate there are no hits.
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CompiledList,
  CompiledRule,
  InstalledList,
  RuleHits,
  RuleId,
  Scrubber,
  ScrubberCapabilities,
  ScrubberIdentity,
} from '../../shield/scrubber.ts'
import type { EstimateHits } from '../../shield/scrubber-driver.ts'
import { type FilterAction, filterRuleText } from '../../net/filter-rule.ts'
import { type FlowPacket, matchesPacket } from '../../net/flow-match.ts'
import { covers, lengthOf, type Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { fingerprint } from '../../text/fingerprint.ts'
import { assertInstallable } from '../driver/scrubber-lists.ts'

export type SandboxOptions = {
  readonly name: string
  readonly rulesMax: number
  readonly latencyMs: number
  readonly estimateHits?: EstimateHits
  /** Scrubbers with the same memory are clients of one simulated program. */
  readonly memory?: SandboxMemory
  readonly now?: () => Date
  readonly onClose?: () => void
}

/** A flow through the scrubber, with its traffic. */
export type Passing = { readonly packet: FlowPacket } & RuleHits

/** Installed lists by owner and prefix. */
export type SandboxMemory = Map<string, Map<Prefix, CompiledList>>

export class SandboxScrubber implements Scrubber {
  readonly can: ScrubberCapabilities
  readonly #options: SandboxOptions
  readonly #memory: SandboxMemory
  readonly #hits = new Map<RuleId, RuleHits>()
  #countedUntil: Date
  #isClosed = false

  constructor(options: SandboxOptions) {
    this.#options = options
    this.#memory = options.memory ?? new Map()
    this.#countedUntil = this.#now()
    this.can = {
      ordering: 'sequence',
      families: [4, 6],
      rulesMax: options.rulesMax,
      hits: options.estimateHits !== undefined,
      atomicPerList: true,
      keepsRules: true,
      packetRate: true,
      rateMax: { bps: Infinity, pps: Infinity },
    }
  }

  async probe(): Promise<ScrubberIdentity> {
    await this.#answer()
    return { name: 'sandbox', version: '1' }
  }

  async list(): Promise<readonly InstalledList[]> {
    await this.#answer()
    return [...this.#lists.values()].map(({ prefix, rules }) => ({
      prefix,
      ruleCount: rules.length,
      fingerprint: rules.map((rule) => fingerprint(filterRuleText(rule))).join(','),
    }))
  }

  async apply(lists: readonly CompiledList[]): Promise<void> {
    await this.#answer()
    assertInstallable(lists, this.can, this.#options.name)
    const next = new Map(this.#lists)
    for (const list of lists) {
      if (list.rules.length === 0) next.delete(list.prefix)
      else next.set(list.prefix, list)
    }
    this.#memory.set(this.#options.name, next)
    this.#forgetHits()
  }

  async remove(prefixes: readonly Prefix[]): Promise<void> {
    await this.#answer()
    for (const prefix of prefixes) this.#lists.delete(prefix)
    this.#forgetHits()
  }

  /** Adds the flows since the last call to the hits of the rules that are installed now. */
  async hits(): Promise<ReadonlyMap<RuleId, RuleHits>> {
    await this.#answer()
    const { estimateHits } = this.#options
    if (!estimateHits) return new Map()
    const lists = [...this.#lists.values()]
    const until = this.#now()
    const added = await estimateHits(lists, this.#countedUntil, until)
    this.#countedUntil = until
    for (const { id } of lists.flatMap(({ rules }) => rules)) {
      const before = this.#hits.get(id) ?? { packets: 0, bytes: 0 }
      const more = added.get(id) ?? { packets: 0, bytes: 0 }
      this.#hits.set(id, { packets: before.packets + more.packets, bytes: before.bytes + more.bytes })
    }
    return new Map(this.#hits)
  }

  watch(onUp: () => void): () => void {
    const timer = setImmediate(() => {
      if (!this.#isClosed) onUp()
    })
    return () => clearImmediate(timer)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.onClose?.()
  }

  /** Returns the rule that decides the packet; undefined if it passes without one. */
  decide(packet: FlowPacket): CompiledRule | undefined {
    return [...this.#lists.values()]
      .filter(({ prefix }) => covers(prefix, packet.destination))
      .toSorted((a, b) => lengthOf(b.prefix) - lengthOf(a.prefix))
      .flatMap(({ rules }) => rules)
      .find(({ match }) => matchesPacket(match, packet))
  }

  /**
   * Returns the part of each flow of so many seconds that passes, from 0 to 1. Dropped traffic counts as hits: the
   * estimate does not contain it, since it is not in stored flows.
   */
  forward(flows: readonly Passing[], seconds: number): number[] {
    if (this.#lists.size === 0) return flows.map(() => 1)
    const rules = flows.map(({ packet }) => this.decide(packet))
    const sums = new Map<CompiledRule, RuleHits>()
    for (const [at, rule] of rules.entries()) if (rule) sums.set(rule, plus(sums.get(rule), flows[at]!, 1))
    return rules.map((rule, at) => {
      const part = rule ? passingOf(rule.action, sums.get(rule)!, seconds) : 1
      if (rule && part < 1) this.#hits.set(rule.id, plus(this.#hits.get(rule.id), flows[at]!, 1 - part))
      return part
    })
  }

  get #lists(): Map<Prefix, CompiledList> {
    const lists = this.#memory.get(this.#options.name) ?? new Map<Prefix, CompiledList>()
    this.#memory.set(this.#options.name, lists)
    return lists
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date()
  }

  #forgetHits(): void {
    const kept = new Set([...this.#lists.values()].flatMap(({ rules }) => rules.map(({ id }) => id)))
    for (const id of this.#hits.keys()) if (!kept.has(id)) this.#hits.delete(id)
  }

  async #answer(): Promise<void> {
    if (!this.#isClosed && this.#options.latencyMs > 0)
      await sleep(this.#options.latencyMs, undefined, { ref: false })
    if (this.#isClosed) throw new DriverError('unreachable', `${this.#options.name}: the scrubber is closed`)
  }
}

const plus = (
  before: RuleHits = { packets: 0, bytes: 0 },
  { packets, bytes }: RuleHits,
  part: number,
): RuleHits => ({
  packets: before.packets + Math.round(packets * part),
  bytes: before.bytes + Math.round(bytes * part),
})

function passingOf(action: FilterAction, { packets, bytes }: RuleHits, seconds: number): number {
  if (action.kind !== 'rate_limit') return action.kind === 'deny' ? 0 : 1
  return 'bps' in action
    ? Math.min(1, ((action.bps / 8) * seconds) / Math.max(1, bytes))
    : Math.min(1, (action.pps * seconds) / Math.max(1, packets))
}
