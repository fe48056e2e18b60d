// Connections that a firewall reports as events (Cisco ASA and FTD, NSEL): an update has the counters since the
// previous update, the end of the connection has its total in the same elements. At the end, only the difference to the
// updates is counted. Collectors that add up all events count twice; collectors that use only updates miss connections
// that end before their first update, and exporters that send no updates.

/** The counters of an event; one object, reused. */
export type ConnectionCounts = {
  octets: number
  packets: number
  octetsReverse: number
  packetsReverse: number
}

/** Values of `firewallEvent` with counters. */
const event = { deleted: 2, updated: 5 } as const

/** Connections of all exporters with an update and without an end; the oldest give way. */
const connectionsMax = 131_072

/** `isWhole`: the connection was observed from its first update. */
type Counted = ConnectionCounts & { isWhole: boolean }

/** Times of its clock. Since `sinceMs` no update is missing. */
type Exporter = {
  sinceMs: number
  latestMs: number
  hasUpdates: boolean
}

/** The counters of each connection so far. */
export class Connections {
  readonly #counted = new Map<number, Counted>()
  /** One iterator for all time: a new one would pass every deleted entry again. */
  readonly #oldest = this.#counted.keys()
  readonly #exporters = new Map<number, Exporter>()
  readonly #max: number

  constructor(max: number = connectionsMax) {
    this.#max = max
  }

  /**
   * Processes the event of a connection, and leaves in `counts` the values to count. `createdMs` and `timeMs` are times
   * of the exporter's clock; 0 if the record has no time.
   */
  take(
    exporter: number,
    connection: number,
    kind: number,
    createdMs: number,
    timeMs: number,
    counts: ConnectionCounts,
  ): void {
    const state = this.#stateOf(exporter, timeMs)
    const key = exporter * 2 ** 32 + connection
    if (kind === event.updated) this.#update(key, state, createdMs, counts)
    else if (kind === event.deleted) this.#end(key, state, createdMs, counts)
  }

  #stateOf(exporter: number, timeMs: number): Exporter {
    const known = this.#exporters.get(exporter)
    if (known) {
      known.latestMs = timeMs
      return known
    }
    const state = { sinceMs: timeMs, latestMs: timeMs, hasUpdates: false }
    this.#exporters.set(exporter, state)
    return state
  }

  #update(key: number, state: Exporter, createdMs: number, counts: ConnectionCounts): void {
    state.hasUpdates = true
    const known = this.#counted.get(key)
    if (known) {
      known.octets += counts.octets
      known.packets += counts.packets
      known.octetsReverse += counts.octetsReverse
      known.packetsReverse += counts.packetsReverse
      return
    }
    const isWhole = isSince(state, createdMs)
    if (this.#counted.size >= this.#max) this.#forgetOldest()
    this.#counted.set(key, { ...counts, isWhole })
  }

  #end(key: number, state: Exporter, createdMs: number, counts: ConnectionCounts): void {
    const known = this.#counted.get(key)
    this.#counted.delete(key)
    // Updates before a restart were counted by the former process.
    const isWhole = known ? known.isWhole : !state.hasUpdates || isSince(state, createdMs)
    if (!isWhole) counts.octets = counts.packets = counts.octetsReverse = counts.packetsReverse = 0
    if (!known) return
    counts.octets = Math.max(0, counts.octets - known.octets)
    counts.packets = Math.max(0, counts.packets - known.packets)
    counts.octetsReverse = Math.max(0, counts.octetsReverse - known.octetsReverse)
    counts.packetsReverse = Math.max(0, counts.packetsReverse - known.packetsReverse)
  }

  /** From then on, a connection of its exporter that is older than now may be the forgotten one. */
  #forgetOldest(): void {
    const oldest = this.#oldest.next().value!
    this.#counted.delete(oldest)
    const state = this.#exporters.get(Math.floor(oldest / 2 ** 32))
    if (state) state.sinceMs = state.latestMs
  }
}

/** Without a creation time a connection counts as new. */
const isSince = ({ sinceMs }: Exporter, createdMs: number): boolean => createdMs === 0 || createdMs >= sinceMs
