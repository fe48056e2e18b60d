// Changes to the counters of simulated interfaces by the traffic of a demo: attacks, and withdrawn or dropped traffic.
// One per process. Counters are read at the ends of ticks: within a tick they would not agree with the flows.

/** Octets in addition to `octetsAt`; negative for missing traffic. */
export type OctetChange = {
  readonly device: string
  readonly name: string
  readonly octetsIn: number
  readonly octetsOut: number
}

type Tick = {
  readonly untilMs: number
  readonly octets: ReadonlyMap<string, Pick<OctetChange, 'octetsIn' | 'octetsOut'>>
}

/** An older tick is no longer that of the present: the traffic was paused. */
const presentMs = 15_000

export class LiveTraffic {
  #startedMs: number | undefined
  #before: Tick | undefined
  #last: Tick = { untilMs: 0, octets: new Map() }

  /** Counts from 0, as a router that was restarted does; undefined before. */
  begin(nowMs: number): void {
    this.#startedMs = nowMs
    this.#before = undefined
    this.#last = { untilMs: 0, octets: new Map() }
  }

  end(): void {
    this.#startedMs = undefined
  }

  get startedMs(): number | undefined {
    return this.#startedMs
  }

  /** Adds the changes of a tick that ends at `untilMs`. */
  add(untilMs: number, changes: readonly OctetChange[]): void {
    const octets = new Map(this.#last.octets)
    for (const { device, name, octetsIn, octetsOut } of changes) {
      const key = `${device} ${name}`
      const before = octets.get(key) ?? { octetsIn: 0, octetsOut: 0 }
      octets.set(key, { octetsIn: before.octetsIn + octetsIn, octetsOut: before.octetsOut + octetsOut })
    }
    this.#before = this.#last
    this.#last = { untilMs, octets }
  }

  /** Returns the end of the last tick that is over at `nowMs`, and the sums of an interface until then. */
  read(
    nowMs: number,
    device: string,
    name: string,
  ): { readonly at: number; readonly octetsIn: number; readonly octetsOut: number } {
    const tick = this.#before && this.#last.untilMs > nowMs ? this.#before : this.#last
    const isPresent =
      this.#startedMs !== undefined && nowMs - tick.untilMs < presentMs && tick.untilMs <= nowMs
    const none = { octetsIn: 0, octetsOut: 0 }
    const octets = this.#startedMs === undefined ? none : (tick.octets.get(`${device} ${name}`) ?? none)
    return { at: isPresent ? tick.untilMs : nowMs, ...octets }
  }
}

export const liveTraffic = new LiveTraffic()
