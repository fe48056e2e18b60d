// The port to one scrubber: a program or device that enforces the rules of shield, such as routers with FlowSpec or a
// Linux host with nftables. Drivers import it by type only. It must not depend on a wire format, a row or a team.
import type { Family } from '../net/bits.ts'
import { type FilterRule, filterRuleText } from '../net/filter-rule.ts'
import { comparePrefixes, type Prefix } from '../net/prefix.ts'
import { fingerprint } from '../text/fingerprint.ts'

/** The error of every call of a scrubber; `kind` is `unreachable`, `refused` or `protocol`. */
export { DriverError as ScrubberError } from '../runtime/driver-error.ts'

/**
 * Capabilities of a scrubber; constant for its settings.
 *
 * - `ordering`: whether the first rule of a list counts, or the order that FlowSpec derives from the conditions (RFC
 *   8955 section 5.1), for which compilation adds rules.
 * - `rulesMax`: rules of all lists together, including rules added by compilation.
 * - `hits`: whether `hits()` returns counters.
 * - `atomicPerList`: whether a list is replaced in one step. Otherwise new rules are added before old ones are removed.
 * - `keepsRules`: whether installed rules stay in force while the scrubber does not answer. FlowSpec rules leave the
 *   routers with the daemon or with its sessions.
 * - `packetRate`: whether limits in packets per second are possible.
 * - `rateMax`: the greatest limits in bits and in packets per second.
 */
export type ScrubberCapabilities = {
  readonly ordering: 'sequence' | 'flowspec'
  readonly families: readonly Family[]
  readonly rulesMax: number
  readonly hits: boolean
  readonly atomicPerList: boolean
  readonly keepsRules: boolean
  readonly packetRate: boolean
  readonly rateMax: { readonly bps: number; readonly pps: number }
}

/**
 * Identity of the enforcing program, such as `{ name: 'nftables', version: '1.0.6' }`. `neighbors` are the routers that the program sends
 * rules to; absent if it filters packets itself.
 */
export type ScrubberIdentity = {
  readonly name: string
  readonly version: string
  readonly neighbors?: { readonly established: number; readonly configured: number }
}

/** Number of a rule: the id of its row. Hits are counted by it. */
export type RuleId = number

/** A rule to install. Several have the same id if compilation split one or added its intersections with others. */
export type CompiledRule = FilterRule

/**
 * The rules for packets towards a prefix, which is the key: a scrubber has at most one list of its owner per prefix. If
 * the prefixes of lists nest, the most specific list that covers a packet comes first; without a match the packet
 * passes to the next list. A packet without any match passes.
 */
export type CompiledList = { readonly prefix: Prefix; readonly rules: readonly CompiledRule[] }

/**
 * An installed list. `fingerprint` is the result of `fingerprintOf`, or another text if the rules differ from any list.
 */
export type InstalledList = {
  readonly prefix: Prefix
  readonly ruleCount: number
  readonly fingerprint: string
}

/** Packets and octets that a rule has matched since its id was first installed. */
export type RuleHits = { readonly packets: number; readonly bytes: number }

/**
 * A scrubber is shared with people and other programs. Each call reads and changes only the rules of its owner.
 *
 * Every call ends within the timeout of the driver's configuration and otherwise rejects with a `ScrubberError`. Calls
 * are not retried. After a rejected change, `list()` returns the actual state, and repeating the call completes it.
 */
export interface Scrubber {
  readonly can: ScrubberCapabilities
  probe(): Promise<ScrubberIdentity>
  /** Returns all our lists, in no particular order, or rejects: never a part of them. A list without rules is absent. */
  list(): Promise<readonly InstalledList[]>
  /**
   * Installs these lists, each in place of the list for its prefix; a list without rules removes it. Other lists stay.
   * Idempotent. Rejects with `refused` without an effect if the scrubber cannot have a rule: a destination outside of
   * the prefix, an unsupported family or rate.
   */
  apply(lists: readonly CompiledList[]): Promise<void>
  /** Removes our lists for exactly these prefixes. Absent lists are ignored; `[]` has no effect. */
  remove(prefixes: readonly Prefix[]): Promise<void>
  /** Returns the hits of each installed rule; empty if `can.hits` is false. They never fall while the rule stays installed. */
  hits(): Promise<ReadonlyMap<RuleId, RuleHits>>
  /** Calls `onUp` each time the scrubber became reachable: it may have lost rules. Returns a function that stops watching. */
  watch(onUp: () => void): () => void
  /** Releases connections; running calls reject. Installed rules stay installed. */
  close(): Promise<void>
}

/**
 * Returns a text that is equal for lists with the same rules. For FlowSpec, their order has no meaning. It is the fingerprint of each
 * rule's `filterRuleText`, joined by commas, so that a driver can store the parts with the rules.
 */
export function fingerprintOf({ rules }: CompiledList, ordering: ScrubberCapabilities['ordering']): string {
  const parts = rules.map((rule) => fingerprint(filterRuleText(rule)))
  return (ordering === 'sequence' ? parts : parts.toSorted()).join(',')
}

/** Returns the lists to apply and the prefixes to remove, so that the scrubber has exactly the desired lists. */
export function planLists(
  desired: readonly CompiledList[],
  installed: readonly InstalledList[],
  ordering: ScrubberCapabilities['ordering'],
): { readonly apply: readonly CompiledList[]; readonly remove: readonly Prefix[] } {
  const held = new Map(installed.map((list) => [list.prefix, list]))
  const wanted = new Map(desired.filter(({ rules }) => rules.length > 0).map((list) => [list.prefix, list]))
  return {
    apply: [...wanted.values()].filter(
      (list) => held.get(list.prefix)?.fingerprint !== fingerprintOf(list, ordering),
    ),
    remove: [...held.keys()].filter((prefix) => !wanted.has(prefix)).toSorted(comparePrefixes),
  }
}
