// A speaker without a router: it stores the routes of each named region in the memory of this process, for the demo and
// for tests of the layers above the port. Its state ends with the process, and it sends no announcements.
import { counted } from '@pharos/contract/counted'
import type { Neighbor, Route, Speaker, SpeakerEvents } from '../../byoip/regions/speaker.ts'
import { familyOf } from '../../net/address.ts'
import type { Family } from '../../net/bits.ts'
import type { Prefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

export type SandboxSpeakerConfig = {
  /** Speakers of the same region name share their routes, as clients of one daemon do. */
  readonly region: string
  /** The owner whose routes this speaker reads and changes. */
  readonly owner?: string
  /** How long each call takes to answer; 0 answers at the next turn of the event loop. */
  readonly latencyMs?: number
  readonly timeoutMs?: number
}

/**
 * The simulated daemon of one region, which the demo and tests can disturb: `down` makes calls unreachable, `refuses`
 * selects prefixes to reject, `drops` selects prefixes that are accepted and not stored, `keeps` prefixes whose
 * withdrawal is accepted but not applied, `outranks` prefixes with a better path of another network, `exports` which
 * prefixes a neighbor receives, `restart` drops every route as a real daemon does, `clear` removes them as another
 * client would, and `neighbors` can be set. It starts with one established neighbor.
 */
export class SandboxRegion {
  readonly #tables = new Map<string, Map<string, Route>>()
  readonly #watchers = new Set<Watcher>()
  #down = false
  #neighbors: readonly Neighbor[] = [
    { address: '192.0.2.254', asn: 64501, state: 'established', since: new Date(), families: [4, 6] },
  ]
  refuses: (prefix: string) => boolean = () => false
  drops: (prefix: string) => boolean = () => false
  keeps: (prefix: string) => boolean = () => false
  /** Returns the origin of the better path. */
  outranks: (prefix: string) => number | undefined = () => undefined
  exports: (prefix: string, neighbor: string) => boolean = () => true
  /** The number of calls that change routes, including failed ones. */
  changes = 0

  table(owner: string): Map<string, Route> {
    let table = this.#tables.get(owner)
    if (!table) this.#tables.set(owner, (table = new Map()))
    return table
  }

  /** Returns the routes of all owners. */
  routes(): Route[] {
    return [...this.#tables.values()].flatMap((table) => [...table.values()])
  }

  get down(): boolean {
    return this.#down
  }

  set down(down: boolean) {
    const isReachableAgain = this.#down && !down
    this.#down = down
    if (isReachableAgain) this.#notify('onUp')
  }

  get neighbors(): readonly Neighbor[] {
    return this.#neighbors
  }

  set neighbors(neighbors: readonly Neighbor[]) {
    const before = establishedOf(this.#neighbors)
    this.#neighbors = neighbors
    if (before.symmetricDifference(establishedOf(neighbors)).size > 0) this.#notify('onNeighborChange')
  }

  restart(): void {
    this.#tables.clear()
    if (!this.#down) this.#notify('onUp')
  }

  clear(): void {
    this.#tables.clear()
    this.#notify('onTableChange')
  }

  /** Notifies the watchers of the owner's routes, except the speaker that made the change. */
  reportChange(owner: string, by: Speaker): void {
    this.#notify('onTableChange', (watcher) => watcher.owner === owner && watcher.speaker !== by)
  }

  watch(watcher: Watcher): () => void {
    const own = { ...watcher }
    this.#watchers.add(own)
    return () => void this.#watchers.delete(own)
  }

  /** Watchers get no events while the daemon is down. */
  #notify(event: keyof SpeakerEvents, isMeant: (watcher: Watcher) => boolean = () => true): void {
    if (this.#down) return
    for (const watcher of this.#watchers) if (isMeant(watcher)) queueMicrotask(watcher.events[event])
  }
}

type Watcher = { readonly speaker: Speaker; readonly owner: string; readonly events: SpeakerEvents }

function establishedOf(neighbors: readonly Neighbor[]): Set<string> {
  return new Set(neighbors.filter(({ state }) => state === 'established').map(({ address }) => address))
}

const regions = new Map<string, SandboxRegion>()

/** Returns the region of that name in this process, created on first use. */
export function sandboxRegion(name: string): SandboxRegion {
  let region = regions.get(name)
  if (!region) regions.set(name, (region = new SandboxRegion()))
  return region
}

/** A speaker on `sandboxRegion(config.region)`. */
export function createSandboxSpeaker(config: SandboxSpeakerConfig): Speaker {
  return new SandboxSpeaker(config)
}

const ownAsn = 64500

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
    const key = `${this.#name} ${this.#owner}`
    return { name: 'sandbox', version: '1', asn: ownAsn, routerId: '192.0.2.1', key }
  }

  async list() {
    await this.#answer()
    return [...this.#region.table(this.#owner).values()].map(this.#installed)
  }

  readonly #installed = (route: Route) => ({
    ...route,
    isBest: this.#region.outranks(route.prefix) === undefined,
  })

  async advertised(neighbor: string, family: Family, pathsMax: number) {
    await this.#answer()
    const region = this.#region
    const asn = region.neighbors.find(({ address }) => address === neighbor)?.asn
    if (asn === undefined)
      throw new DriverError('refused', `sandbox ${this.#name}: it has no neighbor ${neighbor}`)
    const routes = region.routes().filter(({ prefix }) => familyOf(prefix) === family)
    if (routes.length > pathsMax) return undefined
    const originated = asn === ownAsn ? null : ownAsn
    return new Map(
      routes
        .filter(({ prefix }) => region.exports(prefix, neighbor))
        .map(({ prefix, asPath }) => [prefix, region.outranks(prefix) ?? asPath.at(-1) ?? originated]),
    )
  }

  async find(prefixes: readonly Prefix[]) {
    if (prefixes.length === 0) return []
    await this.#answer()
    const table = this.#region.table(this.#owner)
    const routes = [...new Set(prefixes)].map((prefix) => table.get(prefix))
    return routes.filter((route) => route !== undefined).map(this.#installed)
  }

  async announce(routes: readonly Route[]) {
    if (routes.length === 0) return
    this.#region.changes++
    await this.#answer()
    const table = this.#region.table(this.#owner)
    const refused: Route[] = []
    let isChanged = false
    for (const route of routes) {
      if (this.#region.refuses(route.prefix)) refused.push(route)
      else if (!this.#region.drops(route.prefix)) {
        isChanged ||= !isDeepStrictEqual(table.get(route.prefix), copy(route))
        table.set(route.prefix, copy(route))
      }
    }
    if (isChanged) this.#region.reportChange(this.#owner, this)
    if (refused.length > 0) throw this.#refusal(refused)
  }

  async withdraw(routes: readonly Pick<Route, 'prefix'>[]) {
    if (routes.length === 0) return
    this.#region.changes++
    await this.#answer()
    const table = this.#region.table(this.#owner)
    const present = routes.filter(({ prefix }) => table.has(prefix) && !this.#region.keeps(prefix))
    for (const { prefix } of present) table.delete(prefix)
    if (present.length > 0) this.#region.reportChange(this.#owner, this)
  }

  async neighbors() {
    await this.#answer()
    return this.#region.neighbors
  }

  watch(events: SpeakerEvents) {
    const stop = this.#region.watch({ speaker: this, owner: this.#owner, events })
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
    if (this.#region.down) throw new DriverError('unreachable', `sandbox ${this.#name}: it is disabled`)
    if (this.#latencyMs > this.#timeoutMs)
      throw new DriverError('unreachable', `sandbox ${this.#name}: no answer within ${this.#timeoutMs} ms`)
  }

  #refusal(routes: readonly Route[]): DriverError {
    const refused = routes.map(({ prefix }) => ({ subject: prefix, reason: 'the sandbox refuses it' }))
    return new DriverError('refused', `sandbox ${this.#name}: refused ${counted(routes.length, 'route')}`, {
      refused,
    })
  }
}

/** A later change of the caller's arrays must not change the announcement. */
function copy(route: Route): Route {
  return {
    prefix: route.prefix,
    asPath: [...route.asPath],
    nextHop: route.nextHop,
    communities: [...new Set(route.communities)].sort(),
    largeCommunities: [...new Set(route.largeCommunities)].sort(),
  }
}
