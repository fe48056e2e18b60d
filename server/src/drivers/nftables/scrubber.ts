// The scrubber of a Linux host with nftables. It uses a separate table and changes no other. Rules stay in the kernel
// until the host restarts. It must not retry and must not store which rules are installed.
import type {
  CompiledList,
  InstalledList,
  RuleHits,
  RuleId,
  Scrubber,
  ScrubberCapabilities,
  ScrubberIdentity,
} from '../../shield/scrubber.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { assertInstallable } from '../driver/scrubber-lists.ts'
import { runNft } from './command.ts'
import { readTable } from './read-table.ts'
import { transactionOf } from './ruleset.ts'
import type { Hook, InstalledTable } from './table.ts'

export type NftablesConfig = {
  /** The command line of nft, to which arguments are added. */
  readonly command: readonly string[]
  readonly table: string
  readonly hook: Hook
  readonly rulesMax: number
  readonly timeoutMs: number
  /** Interval of `watch` for a host that does not answer. */
  readonly probeMs?: number
}

/**
 * Of bits: the octets of a second and of the burst together must be below 2^64 / 10^9, otherwise the kernel refuses the whole
 * transaction. Of packets: the kernel computes with whole nanoseconds for each one, and above this rate the error exceeds a tenth.
 */
const rateMax = { bps: 147_000_000_000, pps: 100_000_000 } as const

const noTable: InstalledTable = {
  lists: [],
  chains: [],
  counters: new Map(),
  isEntered: false,
  isDormant: false,
}

export class NftablesScrubber implements Scrubber {
  readonly can: ScrubberCapabilities
  readonly #config: NftablesConfig
  readonly #closing = new AbortController()

  constructor(config: NftablesConfig) {
    this.#config = config
    this.can = {
      ordering: 'sequence',
      families: [4, 6],
      rulesMax: config.rulesMax,
      hits: true,
      atomicPerList: true,
      keepsRules: true,
      packetRate: true,
      rateMax,
    }
  }

  async probe(): Promise<ScrubberIdentity> {
    const { version } = await this.#tables()
    return { name: 'nftables', version }
  }

  async list(): Promise<readonly InstalledList[]> {
    const { lists } = await this.#read()
    return lists.map(({ prefix, ruleCount, fingerprint }) => ({ prefix, ruleCount, fingerprint }))
  }

  async apply(lists: readonly CompiledList[]): Promise<void> {
    assertInstallable(lists, this.can, this.#name)
    const ids = lists.flatMap(({ rules }) => rules.map(({ id }) => id))
    if (!ids.every((id) => Number.isSafeInteger(id) && id >= 0))
      throw new DriverError('refused', `${this.#name}: an id of a rule is not a number`)
    await this.#replace(lists)
  }

  async remove(prefixes: readonly Prefix[]): Promise<void> {
    await this.#replace(prefixes.map((prefix) => ({ prefix, rules: [] })))
  }

  async hits(): Promise<ReadonlyMap<RuleId, RuleHits>> {
    return (await this.#read()).counters
  }

  /** A host has no connection to watch: `onUp` is called for each answer after a failure, and for the first one. */
  watch(onUp: () => void): () => void {
    let isUp = false
    const probe = async (): Promise<void> => {
      const answers = await this.probe().then(
        () => true,
        () => false,
      )
      if (answers && !isUp && !stopped.signal.aborted) onUp()
      isUp = answers
    }
    const stopped = new AbortController()
    const timer = setInterval(() => void probe(), this.#config.probeMs ?? 10_000)
    timer.unref()
    void probe()
    return () => {
      stopped.abort()
      clearInterval(timer)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
  }

  async #replace(lists: readonly CompiledList[]): Promise<void> {
    if (lists.length === 0) return
    const { table, hook } = this.#config
    const installed = await this.#read()
    // The kernel refuses to do this and to add a hook in one transaction.
    if (installed.isDormant) await this.#run(['add', 'table', 'inet', table])
    const transaction = transactionOf(table, hook, lists, installed)
    if (transaction !== '') await this.#run(['-f', '-'], transaction)
  }

  /** A failed query is not an absent table: then the table's name must be missing in the list of all tables. */
  async #read(): Promise<InstalledTable> {
    let text: string
    try {
      text = await this.#run(['-j', 'list', 'table', 'inet', this.#config.table])
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind !== 'refused') throw error
      const { names } = await this.#tables()
      if (names.includes(this.#config.table)) throw error
      return noTable
    }
    return this.#parse(() => readTable(text, this.#config.hook))
  }

  async #tables(): Promise<{ readonly version: string; readonly names: readonly string[] }> {
    const text = await this.#run(['-j', 'list', 'tables', 'inet'])
    return this.#parse(() => {
      const { nftables } = JSON.parse(text) as { nftables: readonly Record<string, Record<string, string>>[] }
      const version = nftables.find(({ metainfo }) => metainfo)!['metainfo']!['version']!
      return { version, names: nftables.flatMap(({ table }) => (table ? [table['name']!] : [])) }
    })
  }

  #parse<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      const message = `${this.#name}: an unreadable answer: ${(error as Error).message}`
      throw new DriverError('protocol', message, { cause: error })
    }
  }

  #run(args: readonly string[], input = ''): Promise<string> {
    if (this.#closing.signal.aborted)
      return Promise.reject(new DriverError('unreachable', `${this.#name}: the scrubber is closed`))
    return runNft(this.#config, args, input, this.#closing.signal)
  }

  get #name(): string {
    return `${this.#config.command.join(' ')}, table ${this.#config.table}`
  }
}
