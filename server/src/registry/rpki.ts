// What the RPKI says of an announcement: the first source that is current answers, and its age is told. It must never keep
// an old answer as if it were a current one, nor make a missing source, or one that lost its data, look like a missing ROA.
import { areAlike } from './data/loss.ts'
import type { Prefix } from '../net/prefix.ts'
import type { RoaState, RoaTable, Vrp } from './data/roa-table.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'

/** The prefixes at which VRPs came or went: what they cover is to be judged again. `all` where that is not known. */
export type TouchedPrefixes = readonly Prefix[] | 'all'

/** VRPs that may be judged by: complete, and last confirmed by their source at `asOf`. Read it anew for each use. */
export type CurrentVrps = { readonly table: RoaTable; readonly asOf: Date }

/** What a source sent in the place of what is current, and that is kept aside: it is empty, or lost more than 20 %. */
export type Suspicion = {
  readonly table: RoaTable
  /** The greatest number of VRPs that the source had within the time of confirmation; 0 if it had none yet. */
  readonly before: number
  readonly since: Date
  /** Then it is used, if the source still says the same. */
  readonly until: Date
}

export type VrpSourceStatus = {
  readonly state: 'current' | 'unavailable'
  /** Of the set in force. */
  readonly vrps: number
  readonly suspicious: boolean
  readonly asOf: Date | null
  /** From then on what is held is no longer current. */
  readonly expires: Date | null
  /** Why it is unavailable, or not being renewed now; null while all is well. For operators. */
  readonly problem: string | null
}

/** The port to one source of VRPs. Drivers import it by type only. */
export interface VrpSource extends Component {
  /** As configured, without credentials. */
  readonly name: string
  /** Undefined until the first complete set has come, and when what is held has expired. Never a suspicious set. */
  current(): CurrentVrps | undefined
  /** Undefined while the source's last set is the one that is current. */
  suspicion(): Suspicion | undefined
  /** Uses the suspicious set, since another source confirms it. */
  accept(): void
  /** Called after each change of `current()` or `suspicion()`, also when it expires. Returns how to stop listening. */
  onChange(listener: (touched: TouchedPrefixes) => void): () => void
  status(): VrpSourceStatus
}

export type RpkiState = 'valid' | 'mismatch_asn' | 'mismatch_length' | 'missing' | 'unavailable'

/** `reason` says why it is unavailable, in words for customers; `source` and `asOf` are null then. */
export type RpkiVerdict = {
  readonly state: RpkiState
  /** Every VRP that covers the prefix, of whatever ASN, most specific first. */
  readonly covering: readonly Vrp[]
  readonly source: string | null
  readonly asOf: Date | null
  readonly reason?: string
}

export type RpkiStatus = {
  /** The source that is answered from; null when none is current. */
  readonly source: string | null
  readonly sources: readonly (VrpSourceStatus & { readonly name: string })[]
}

export type Rpki = Component & {
  /**
   * RFC 6811 section 2, from the first source in order that is current and not suspicious, or else from the last good set
   * of the first one that has any; a few microseconds.
   */
  judge(prefix: Prefix, asn: number): RpkiVerdict
  /** The VRPs that are judged by now, for what goes through all of them; undefined while no source is current. */
  current(): CurrentVrps | undefined
  /** Called after each change of what is judged by; `all` when another source took over. Returns how to stop listening. */
  onChange(listener: (touched: TouchedPrefixes) => void): () => void
  status(): RpkiStatus
}

export type RpkiOptions = {
  /** In the order of preference. */
  readonly sources: readonly VrpSource[]
  readonly log: Log
}

/** Starts and stops its sources with itself. Without sources every verdict is `unavailable`. */
export function createRpki(options: RpkiOptions): Rpki {
  return new SourcedRpki(options)
}

const states: Readonly<Record<RoaState, RpkiState>> = {
  valid: 'valid',
  mismatch_asn: 'mismatch_asn',
  mismatch_length: 'mismatch_length',
  not_found: 'missing',
}

class SourcedRpki implements Rpki {
  readonly name = 'rpki'
  readonly #sources: readonly VrpSource[]
  readonly #log: Log
  readonly #listeners = new Set<(touched: TouchedPrefixes) => void>()
  #stopListening: (() => void)[] = []
  #chosen: VrpSource | undefined
  readonly #suspicious = new Set<VrpSource>()

  constructor({ sources, log }: RpkiOptions) {
    this.#sources = sources
    this.#log = log
  }

  async start(): Promise<void> {
    if (this.#stopListening.length > 0) return
    this.#stopListening = this.#sources.map((source) =>
      source.onChange((touched) => this.#changed(source, touched)),
    )
    await Promise.all(this.#sources.map((source) => source.start?.()))
  }

  async stop(): Promise<void> {
    for (const stop of this.#stopListening) stop()
    this.#stopListening = []
    await Promise.all(this.#sources.map((source) => source.stop?.()))
  }

  judge(prefix: Prefix, asn: number): RpkiVerdict {
    const source = this.#firstCurrent()
    const current = source?.current()
    if (source && current) {
      const { state, covering } = current.table.judge(prefix, asn)
      return { state: states[state], covering, source: source.name, asOf: current.asOf }
    }
    // Customers read it: which source has which problem is for the log.
    const reason = this.#sources.length === 0 ? 'no RPKI source is configured' : 'no RPKI source is current'
    return { state: 'unavailable', covering: [], source: null, asOf: null, reason }
  }

  current(): CurrentVrps | undefined {
    return this.#firstCurrent()?.current()
  }

  onChange(listener: (touched: TouchedPrefixes) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  status(): RpkiStatus {
    return {
      source: this.#firstCurrent()?.name ?? null,
      sources: this.#sources.map((source) => ({ name: source.name, ...source.status() })),
    }
  }

  #firstCurrent(): VrpSource | undefined {
    let first: VrpSource | undefined
    for (const source of this.#sources) {
      if (source.current() === undefined) continue
      if (source.suspicion() === undefined) return source
      first ??= source
    }
    return first
  }

  /** What a source says that is not answered from concerns nobody. */
  #changed(source: VrpSource, touched: TouchedPrefixes): void {
    this.#logSuspicion(source)
    const before = this.#chosen
    const after = this.#firstCurrent()
    this.#chosen = after
    if (before === after) {
      if (source === after && touched.length > 0) this.#tell(touched)
    } else {
      if (after)
        this.#log.info(
          { source: after.name, before: before?.name },
          'RPKI verdicts come from this source now',
        )
      else this.#log.warn({ before: before?.name }, `no RPKI verdicts: ${this.#whyUnavailable()}`)
      this.#tell('all')
    }
    this.#confirmByOthers()
  }

  /** Logged once when it begins, and once when it ends. */
  #logSuspicion(source: VrpSource): void {
    const suspicion = source.suspicion()
    if (this.#suspicious.has(source) === (suspicion !== undefined)) return
    if (suspicion) {
      this.#suspicious.add(source)
      const { before, table, until } = suspicion
      this.#log.warn(
        { source: source.name, before, after: table.size, until },
        'RPKI source is empty or lost more than 20 % of its VRPs: not used until confirmed',
      )
    } else {
      this.#suspicious.delete(source)
      this.#log.info(
        { source: source.name, vrps: source.status().vrps },
        'RPKI source is no longer suspicious',
      )
    }
  }

  /** A loss that another source shows too is news about ROAs. */
  #confirmByOthers(): void {
    for (const source of this.#sources) {
      const suspicion = source.suspicion()
      if (!suspicion) continue
      const witness = this.#sources.find((other) => {
        const table = other.suspicion()?.table ?? other.current()?.table
        return other !== source && table !== undefined && areAlike(suspicion.table, table)
      })
      if (!witness) continue
      this.#log.info(
        { source: source.name, confirmedBy: witness.name },
        'another RPKI source confirms the loss',
      )
      source.accept()
    }
  }

  #tell(touched: TouchedPrefixes): void {
    for (const listener of this.#listeners) {
      try {
        listener(touched)
      } catch (error) {
        // A listener that fails must not end the source's session.
        this.#log.error({ error }, 'a listener for RPKI changes failed')
      }
    }
  }

  #whyUnavailable(): string {
    if (this.#sources.length === 0) return 'no RPKI source is configured'
    const problems = this.#sources.map(
      (source) => `${source.name}: ${source.status().problem ?? 'no data yet'}`,
    )
    return `no RPKI source is current (${problems.join('; ')})`
  }
}
