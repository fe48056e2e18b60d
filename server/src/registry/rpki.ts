// The view of the RPKI: verdicts about announcements from the first source that is current, with the age of its data. An
// expired set must never count as current, and a source that is missing or lost its data must never look like a missing ROA.
import { counted } from '@pharos/contract/counted'
import { createAnnouncedOrigins, originText, type AnnouncedOrigin } from './objects/announced-origins.ts'
import { isLargeDifference } from './objects/loss.ts'
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import type { RoaState } from './objects/roa-table.ts'
import type { Vrp } from './objects/vrp.ts'
import type { Component } from '../runtime/component.ts'
import type { Log } from '../runtime/log.ts'
import { createOriginSearch } from './roa-origins.ts'
import type { TouchedPrefixes, VrpSource, VrpSourceStatus } from './vrp-source.ts'

export type RpkiState = 'valid' | 'mismatch_asn' | 'mismatch_length' | 'missing' | 'unavailable'

/** If the state is `unavailable`, `reason` is the cause as a text for customers, and `source` and `asOf` are null. */
export type RpkiVerdict = {
  readonly state: RpkiState
  /** Every VRP that covers the prefix, of any ASN, most specific first. */
  readonly covering: readonly Vrp[]
  /** The label of the source. */
  readonly source: string | null
  readonly asOf: Date | null
  readonly reason?: string
}

export type RpkiStatus = {
  /** The name of the source in use; null if no source is current. */
  readonly source: string | null
  readonly sources: readonly (VrpSourceStatus & {
    readonly name: string
    /** The subject of a long disagreement with another source; null without one. */
    readonly disagreement: string | null
  })[]
}

export type Rpki = Component & {
  /**
   * RFC 6811 section 2, from the first source in order that is current and not suspicious, or else from the last good
   * set of the first source that has any; a few microseconds.
   */
  judge(prefix: Prefix, asn: number): RpkiVerdict
  /**
   * Resolves to the prefixes for which a ROA names the ASN, at most 1,000, in any order; undefined while no source is current.
   * A search of all VRPs: 60 ms for 700,000, in slices of 5 ms. Concurrent calls share one search.
   */
  originsOf(asn: Asn): Promise<readonly Prefix[] | undefined>
  /**
   * Sets Pharos' own announcements. A set of VRPs in which many of them lose their validity is suspicious, and sources
   * that disagree about an announcement report it in their status. Call it again regularly: a disagreement is reported
   * once it has lasted.
   */
  setAnnounced(announced: readonly AnnouncedOrigin[]): void
  /** Calls the listener after each change of the VRPs in use; `all` if the source changed. Returns the function that unsubscribes. */
  onChange(listener: (touched: TouchedPrefixes) => void): () => void
  status(): RpkiStatus
}

export type RpkiOptions = {
  /** In order of preference. */
  readonly sources: readonly VrpSource[]
  readonly log: Log
  /** How long sources must disagree before it is reported: caches read new ROAs at different times. */
  readonly disagreementMs?: number
}

const defaultDisagreementMs = 900_000

/** Creates the view. It starts and stops the sources; without sources every verdict is `unavailable`. */
export function createRpki(options: RpkiOptions): Rpki {
  return new SourcedRpki(options)
}

const states: Readonly<Record<RoaState, RpkiState>> = {
  valid: 'valid',
  mismatch_asn: 'mismatch_asn',
  mismatch_length: 'mismatch_length',
  not_found: 'missing',
}

type Disagreement = {
  readonly chosen: VrpSource
  readonly text: string
  readonly sinceMs: number
  readonly isReported: boolean
}

class SourcedRpki implements Rpki {
  readonly name = 'rpki'
  readonly #sources: readonly VrpSource[]
  readonly #log: Log
  readonly #listeners = new Set<(touched: TouchedPrefixes) => void>()
  readonly #origins = createOriginSearch()
  #unsubscribes: (() => void)[] = []
  #chosen: VrpSource | undefined
  readonly #suspicious = new Set<VrpSource>()
  readonly #disagreementMs: number
  #announced = createAnnouncedOrigins([])
  /** Sources that disagree with the source in use; `text` is for operators. */
  readonly #disagreements = new Map<VrpSource, Disagreement>()

  constructor({ sources, log, disagreementMs = defaultDisagreementMs }: RpkiOptions) {
    this.#sources = sources
    this.#log = log
    this.#disagreementMs = disagreementMs
  }

  async start(): Promise<void> {
    if (this.#unsubscribes.length > 0) return
    this.#unsubscribes = this.#sources.map((source) =>
      source.onChange((touched) => this.#changed(source, touched)),
    )
    await Promise.all(this.#sources.map((source) => source.start?.()))
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes) unsubscribe()
    this.#unsubscribes = []
    await Promise.all(this.#sources.map((source) => source.stop?.()))
  }

  judge(prefix: Prefix, asn: number): RpkiVerdict {
    const source = this.#firstCurrent()
    const current = source?.current()
    if (source && current) {
      const { state, covering } = current.table.judge(prefix, asn)
      return { state: states[state], covering, source: source.label, asOf: current.asOf }
    }
    // For customers. The log has the problem of each source.
    const reason = this.#sources.length === 0 ? 'no RPKI source is configured' : 'no RPKI source is current'
    return { state: 'unavailable', covering: [], source: null, asOf: null, reason }
  }

  async originsOf(asn: Asn): Promise<readonly Prefix[] | undefined> {
    const current = this.#firstCurrent()?.current()
    return current && this.#origins(current.table, asn)
  }

  onChange(listener: (touched: TouchedPrefixes) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  status(): RpkiStatus {
    return {
      source: this.#firstCurrent()?.name ?? null,
      sources: this.#sources.map((source) => ({
        name: source.name,
        ...source.status(),
        disagreement: this.#disagreementOf(source),
      })),
    }
  }

  setAnnounced(announced: readonly AnnouncedOrigin[]): void {
    this.#announced = createAnnouncedOrigins(announced)
    for (const source of this.#sources) source.setAnnounced(this.#announced)
    this.#compareSources()
  }

  /** Returns a lasting disagreement of the source with the source in use, or of another source with this one. */
  #disagreementOf(source: VrpSource): string | null {
    for (const [other, { chosen, text, isReported }] of this.#disagreements) {
      if (!isReported || (source !== other && source !== chosen)) continue
      return `it disagrees with ${(source === other ? chosen : other).name} about ${text}`
    }
    return null
  }

  /** Compares every current source with the source in use, and reports long disagreements. */
  #compareSources(): void {
    const chosen = this.#firstCurrent()
    for (const source of this.#sources) {
      const text = chosen && source !== chosen ? this.#differenceOf(chosen, source) : undefined
      const known = this.#disagreements.get(source)
      if (!chosen || text === undefined) {
        if (known?.isReported) this.#log.info({ source: source.name }, 'RPKI sources agree again')
        this.#disagreements.delete(source)
        continue
      }
      const sinceMs = known?.chosen === chosen ? known.sinceMs : performance.now()
      const isReported = performance.now() - sinceMs >= this.#disagreementMs
      this.#disagreements.set(source, { chosen, text, sinceMs, isReported })
      if (isReported && !known?.isReported)
        this.#log.warn({ source: chosen.name, other: source.name, about: text }, 'RPKI sources disagree')
    }
  }

  /** Returns the subject of a disagreement of two sources: an own announcement, or the number of VRPs. */
  #differenceOf(chosen: VrpSource, other: VrpSource): string | undefined {
    const [one, two] = [chosen.current()?.table, other.current()?.table]
    if (!one || !two) return undefined
    const [valid, otherValid] = [this.#announced.validIn(one), this.#announced.validIn(two)]
    const origins = this.#announced.list.filter((_, at) => valid[at] !== otherValid[at])
    const [first] = origins
    if (first) {
      const where = valid[this.#announced.list.indexOf(first)] === 1 ? chosen : other
      const count = counted(origins.length, 'announcement')
      return `${count}, such as ${originText(first)}: valid only in ${where.name}`
    }
    return isLargeDifference(one.size, two.size)
      ? `the number of VRPs: ${one.size} in ${chosen.name}, ${two.size} in ${other.name}`
      : undefined
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

  /** Changes of a source that is not in use are not passed on. */
  #changed(source: VrpSource, touched: TouchedPrefixes): void {
    this.#logSuspicion(source)
    const before = this.#chosen
    const after = this.#firstCurrent()
    this.#chosen = after
    if (before === after) {
      if (source === after && touched.length > 0) this.#notify(touched)
    } else {
      if (after) this.#log.info({ source: after.name, before: before?.name }, 'RPKI source in use changed')
      else
        this.#log.warn({ before: before?.name, reason: this.#whyUnavailable() }, 'no RPKI source is current')
      this.#notify('all')
    }
    this.#confirmByOthers()
    this.#compareSources()
  }

  /** Logs the start and the end of a suspicion. */
  #logSuspicion(source: VrpSource): void {
    const suspicion = source.suspicion()
    if (this.#suspicious.has(source) === (suspicion !== undefined)) return
    if (suspicion) {
      this.#suspicious.add(source)
      const { before, table, loss, until } = suspicion
      this.#log.warn(
        { source: source.name, before, after: table.size, loss, until },
        'RPKI source lost data: not used until confirmed',
      )
    } else {
      this.#suspicious.delete(source)
      this.#log.info(
        { source: source.name, vrps: source.status().vrps },
        'RPKI source is no longer suspicious',
      )
    }
  }

  /** A loss that another source has too is a change of the ROAs, and is used immediately. */
  #confirmByOthers(): void {
    for (const source of this.#sources) {
      const suspicion = source.suspicion()
      if (!suspicion) continue
      const witness = this.#sources.find((other) => {
        const table = other.suspicion()?.table ?? other.current()?.table
        return other !== source && table !== undefined && suspicion.isConfirmedBy(table)
      })
      if (!witness) continue
      this.#log.info(
        { source: source.name, confirmedBy: witness.name },
        'RPKI loss confirmed by another source',
      )
      source.accept()
    }
  }

  #notify(touched: TouchedPrefixes): void {
    for (const listener of this.#listeners) {
      try {
        listener(touched)
      } catch (error) {
        // A failing listener must not end the session of the source.
        this.#log.error({ error }, 'RPKI change listener failed')
      }
    }
  }

  #whyUnavailable(): string {
    return this.#sources
      .map((source) => `${source.name}: ${source.status().problem ?? 'no data yet'}`)
      .join('; ')
  }
}
