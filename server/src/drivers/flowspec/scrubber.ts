// The scrubber of routers with FlowSpec, which get rules from a GoBGP daemon. It must not retry, must not store which
// rules are installed, and must not use a call of GoBGP that can mean "everything". GoBGP reports its own table:
// whether a router accepts a rule is unknown (RFC 8955 section 6).
import type {
  CompiledList,
  InstalledList,
  RuleHits,
  RuleId,
  Scrubber,
  ScrubberCapabilities,
  ScrubberIdentity,
} from '../../shield/scrubber.ts'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import { filterRuleText } from '../../net/filter-rule.ts'
import { matchText } from '../../net/flow-match.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { fingerprint } from '../../text/fingerprint.ts'
import { GobgpClient, type GobgpConnection } from '../gobgp/client.ts'
import { type Owner, parseOwner } from '../gobgp/codec.ts'
import type { Dialect } from '../gobgp/dialect.ts'
import { identify, type Identified, isProtocol } from '../gobgp/identify.ts'
import { isRestartGate } from '../gobgp/neighbors.ts'
import { assertInstallable } from '../driver/scrubber-lists.ts'
import { changeOf } from './change.ts'
import { decodeOwnRule, flowspecFamily, type InstalledRule } from './codec.ts'

export type FlowspecConfig = GobgpConnection & {
  /** The owner community, `asn:function:owner` (RFC 8092): rules without it are foreign. One owner per Pharos. */
  readonly owner: string
  readonly rulesMax: number
  /** Default: both. */
  readonly families?: readonly Family[]
  /** Whether all routers support traffic-rate-packets (RFC 8955 section 7.2): others would let all packets pass. */
  readonly packetRate: boolean
  /** Timeout of a whole call, with all its requests. */
  readonly timeoutMs?: number
}

/** Rules in one message: at most about 200 kB, below gRPC's 4 MiB. */
const rulesPerMessage = 500

/** Rule ids are sent as a word of a community. */
const ruleIdMax = 0xffff_ffff

export class FlowspecScrubber implements Scrubber {
  readonly can: ScrubberCapabilities
  readonly #config: FlowspecConfig
  readonly #client: GobgpClient
  readonly #owner: Owner
  /** The dialect detected on the connection, and the number of losses before it. */
  #understood: { readonly dialect: Dialect; readonly losses: number } | undefined

  /** Throws CommunityError on a bad owner and TypeError on plaintext to another machine; connects at the first call. */
  constructor(config: FlowspecConfig) {
    this.#owner = parseOwner(config.owner)
    this.#client = new GobgpClient(config)
    this.#config = config
    this.can = {
      ordering: 'flowspec',
      families: config.families ?? [4, 6],
      rulesMax: config.rulesMax,
      hits: false,
      atomicPerList: false,
      keepsRules: false,
      packetRate: config.packetRate,
      rateMax: { bps: Infinity, pps: Infinity },
    }
  }

  async probe(): Promise<ScrubberIdentity> {
    const deadline = this.#deadline()
    const { dialect, global } = await this.#identify(deadline)
    if (!global?.asn)
      throw new DriverError('unreachable', `gobgpd at ${this.#config.address}: it has no configuration yet`)
    const neighbors = await dialect.listNeighbors(this.#client, deadline)
    const real = neighbors.filter((neighbor) => !isRestartGate(neighbor))
    const established = real.filter(({ state }) => state === 'established').length
    return {
      name: 'GoBGP FlowSpec',
      version: dialect.version,
      neighbors: { established, configured: real.length },
    }
  }

  list(): Promise<readonly InstalledList[]> {
    return this.#speak(async (dialect, deadline) => {
      const installed = await this.#listRules(dialect, [4, 6], deadline)
      return [...Map.groupBy(installed, ({ prefix }) => prefix)].map(([prefix, rules]) => ({
        prefix,
        ruleCount: rules.length,
        fingerprint: rules
          .map(({ rule }) => fingerprint(filterRuleText(rule)))
          .toSorted()
          .join(','),
      }))
    })
  }

  async apply(lists: readonly CompiledList[]): Promise<void> {
    assertInstallable(lists, this.can, `gobgpd at ${this.#config.address}`)
    const desired = lists.flatMap(({ prefix, rules }) => rules.map((rule) => ({ prefix, rule })))
    await this.#replace(
      lists.map(({ prefix }) => prefix),
      desired,
    )
  }

  remove(prefixes: readonly Prefix[]): Promise<void> {
    return this.#replace(prefixes, [])
  }

  async hits(): Promise<ReadonlyMap<RuleId, RuleHits>> {
    return new Map()
  }

  watch(onUp: () => void): () => void {
    return this.#client.watch(onUp)
  }

  async close(): Promise<void> {
    this.#client.close()
  }

  /**
   * Replaces the rules of these lists by the desired ones. New rules are sent before old ones are withdrawn, so that
   * every packet finds a rule; a rule with the same conditions and another action is replaced by one message.
   */
  async #replace(prefixes: readonly Prefix[], desired: readonly InstalledRule[]): Promise<void> {
    if (prefixes.length === 0) return
    for (const { prefix, rule } of desired)
      if (!(Number.isInteger(rule.id) && rule.id >= 0 && rule.id <= ruleIdMax))
        throw new DriverError('refused', `rule ${rule.id} of ${prefix}: the id has more than 32 bits`)
    const selected = new Set(prefixes)
    await this.#speak(async (dialect, deadline) => {
      // A suspended daemon would receive the change from its socket and apply it later, so it must answer a query
      // first.
      await dialect.getGlobal(this.#client, deadline)
      const families = [...new Set(prefixes.map(familyOf))]
      const installed = await this.#listRules(dialect, families, deadline)
      const held = new Map(installed.map((one) => [matchText(one.rule.match), ruleKey(one)]))
      const added = desired.filter((one) => held.get(matchText(one.rule.match)) !== ruleKey(one))
      const wanted = new Set(desired.map(({ rule }) => matchText(rule.match)))
      const removed = installed.filter(
        ({ prefix, rule }) => selected.has(prefix) && !wanted.has(matchText(rule.match)),
      )
      await this.#send('announcement', added, dialect, deadline)
      await this.#send('withdrawal', removed, dialect, deadline)
    })
  }

  async #send(
    kind: 'announcement' | 'withdrawal',
    rules: readonly InstalledRule[],
    dialect: Dialect,
    deadline: Date,
  ): Promise<void> {
    // Every message is checked before the first one is sent.
    const messages: Uint8Array[] = []
    for (let start = 0; start < rules.length; start += rulesPerMessage)
      messages.push(this.#encode(kind, rules.slice(start, start + rulesPerMessage), dialect))
    if (messages.length > 0) await this.#client.clientStream(dialect.change, messages, deadline)
  }

  #encode(
    kind: 'announcement' | 'withdrawal',
    rules: readonly InstalledRule[],
    dialect: Dialect,
  ): Uint8Array {
    try {
      return changeOf(kind, rules, this.#owner, dialect)
    } catch (error) {
      const message = `gobgpd at ${this.#config.address}: a message was not sent: ${(error as Error).message}`
      throw new DriverError('refused', message, { cause: error })
    }
  }

  async #listRules(dialect: Dialect, families: readonly Family[], deadline: Date): Promise<InstalledRule[]> {
    const lists = await Promise.all(
      families.map(async (family) => {
        const selection = { family: flowspecFamily(family), prefixes: [] }
        const paths = await dialect.listPaths(this.#client, selection, deadline)
        return paths
          .flat()
          .map((path) => this.#decode(path, family))
          .filter((rule) => rule !== undefined)
      }),
    )
    return lists.flat()
  }

  #decode(path: Parameters<typeof decodeOwnRule>[0], family: Family): InstalledRule | undefined {
    try {
      return decodeOwnRule(path, family, this.#owner)
    } catch (error) {
      const message = `gobgpd at ${this.#config.address}: an unreadable rule: ${(error as Error).message}`
      throw new DriverError('protocol', message, { cause: error })
    }
  }

  /** Runs the work in the daemon's dialect, which is detected again on each connection and after an invalid answer. */
  async #speak<T>(work: (dialect: Dialect, deadline: Date) => Promise<T>): Promise<T> {
    const deadline = this.#deadline()
    try {
      const isSame = this.#understood?.losses === this.#client.losses
      const { dialect } = isSame ? this.#understood! : await this.#identify(deadline)
      return await work(dialect, deadline)
    } catch (error) {
      if (isProtocol(error)) this.#understood = undefined
      throw error
    }
  }

  async #identify(deadline: Date): Promise<Identified> {
    const { losses } = this.#client // read first: the connection may be lost during detection
    const identified = await identify(this.#client, deadline)
    this.#understood = { dialect: identified.dialect, losses }
    return identified
  }

  #deadline(): Date {
    return new Date(Date.now() + (this.#config.timeoutMs ?? 5_000))
  }
}

function ruleKey({ prefix, rule }: InstalledRule): string {
  return `${prefix} ${filterRuleText(rule)}`
}
