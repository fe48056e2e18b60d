// A speaker without a router: it keeps the routes of each named region in the memory of this process, for the demo
// and for tests of what stands above the port. It must not survive the process, and must not announce anything.
import type { Neighbor, Route, Speaker } from '../../byoip/reconcile/speaker.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { setTimeout as sleep } from 'node:timers/promises'

export type SandboxSpeakerConfig = {
  /** Speakers of the same region name share their routes, as clients of one daemon do. */
  readonly region: string
  /** Whose routes this speaker sees and changes. */
  readonly owner?: string
  /** How long each call takes to answer; 0 answers at the next turn of the event loop. */
  readonly latencyMs?: number
  readonly timeoutMs?: number
}

/**
 * The imagined daemon of one region, for demos and tests to disturb: `down` makes calls unreachable, `refuses` picks
 * prefixes that it does not accept, `keeps` those whose withdrawal it takes and does not carry out, `restart` forgets
 * every route as a real daemon does.
 */
export class SandboxRegion {
  readonly #tables = new Map<string, Map<string, Route>>()
  readonly #watchers = new Set<() => void>()
  #down = false
  refuses: (prefix: string) => boolean = () => false
  keeps: (prefix: string) => boolean = () => false
  neighbors: readonly Neighbor[] = [
    { address: '192.0.2.2', asn: 64501, state: 'established', families: [4, 6] },
  ]
  /** How many calls changed something or tried to. */
  changes = 0

  table(owner: string): Map<string, Route> {
    let table = this.#tables.get(owner)
    if (!table) this.#tables.set(owner, (table = new Map()))
    return table
  }

  get down(): boolean {
    return this.#down
  }

  set down(down: boolean) {
    const cameUp = this.#down && !down
    this.#down = down
    if (cameUp) this.#tellWatchers()
  }

  restart(): void {
    this.#tables.clear()
    if (!this.#down) this.#tellWatchers()
  }

  watch(onUp: () => void): () => void {
    const watcher = (): void => onUp()
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  #tellWatchers(): void {
    for (const watcher of this.#watchers) queueMicrotask(watcher)
  }
}

const regions = new Map<string, SandboxRegion>()

/** The region of that name in this process, made at first mention. */
export function sandboxRegion(name: string): SandboxRegion {
  let region = regions.get(name)
  if (!region) regions.set(name, (region = new SandboxRegion()))
  return region
}

/** A speaker on `sandboxRegion(config.region)`. */
export function createSandboxSpeaker(config: SandboxSpeakerConfig): Speaker {
  return new SandboxSpeaker(config)
}

class SandboxSpeaker implements Speaker {
  readonly #region: SandboxRegion
  readonly #name: string
  readonly #owner: string
  readonly #latencyMs: number
  readonly #timeoutMs: number
  readonly #closing = new AbortController()

  constructor(config: SandboxSpeakerConfig) {
    this.#region = sandboxRegion(config.region)
    this.#name = config.region
    this.#owner = config.owner ?? 'pharos'
    this.#latencyMs = config.latencyMs ?? 0
    this.#timeoutMs = config.timeoutMs ?? 5_000
  }

  async probe() {
    await this.#answer()
    return { name: 'sandbox', version: '1', asn: 64500, routerId: '192.0.2.1' }
  }

  async neighbors(): Promise<readonly Neighbor[]> {
    await this.#answer()
    return this.#region.neighbors
  }

  async list() {
    await this.#answer()
    return [...this.#region.table(this.#owner).values()]
  }

  async find(prefixes: readonly Prefix[]) {
    if (prefixes.length === 0) return []
    await this.#answer()
    const table = this.#region.table(this.#owner)
    return [...new Set(prefixes)].map((prefix) => table.get(prefix)).filter((route) => route !== undefined)
  }

  async announce(routes: readonly Route[]) {
    if (routes.length === 0) return
    this.#region.changes++
    await this.#answer()
    const table = this.#region.table(this.#owner)
    const refused: Route[] = []
    for (const route of routes) {
      if (this.#region.refuses(route.prefix)) refused.push(route)
      else table.set(route.prefix, copy(route))
    }
    if (refused.length > 0) throw this.#refusal(refused)
  }

  async withdraw(routes: readonly Pick<Route, 'prefix'>[]) {
    if (routes.length === 0) return
    this.#region.changes++
    await this.#answer()
    const table = this.#region.table(this.#owner)
    for (const { prefix } of routes) if (!this.#region.keeps(prefix)) table.delete(prefix)
  }

  watch(onUp: () => void) {
    const stop = this.#region.watch(onUp)
    this.#closing.signal.addEventListener('abort', stop)
    return stop
  }

  async close() {
    this.#closing.abort()
  }

  async #answer(): Promise<void> {
    const { signal } = this.#closing
    const waitMs = Math.min(this.#latencyMs, this.#timeoutMs)
    await sleep(waitMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) throw new DriverError('unreachable', `sandbox ${this.#name}: closed`)
    if (this.#region.down) throw new DriverError('unreachable', `sandbox ${this.#name}: it is switched off`)
    if (this.#latencyMs > this.#timeoutMs)
      throw new DriverError('unreachable', `sandbox ${this.#name}: no answer within ${this.#timeoutMs} ms`)
  }

  #refusal(routes: readonly Route[]): DriverError {
    const refused = routes.map(({ prefix }) => ({ subject: prefix, reason: 'the sandbox refuses it' }))
    return new DriverError('refused', `sandbox ${this.#name}: refused ${routes.length} routes`, { refused })
  }
}

/** A caller that changes its arrays later must not change what is announced. */
function copy(route: Route): Route {
  return {
    prefix: route.prefix,
    asPath: [...route.asPath],
    nextHop: route.nextHop,
    communities: [...new Set(route.communities)].sort(),
    largeCommunities: [...new Set(route.largeCommunities)].sort(),
  }
}
