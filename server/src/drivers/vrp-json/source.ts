// VRPs from a JSON export that is fetched at intervals. If an export is invalid or missing, the last valid export is
// used until it is too old, and the problem is reported.
import { setImmediate as breathe } from 'node:timers/promises'
import type {
  CurrentVrps,
  Suspicion,
  TouchedPrefixes,
  VrpSource,
  VrpSourceStatus,
} from '../../registry/vrp-source.ts'
import type { AnnouncedOrigins } from '../../registry/objects/announced-origins.ts'
import type { Log } from '../../runtime/log.ts'
import { HeldVrps } from '../vrps/held-vrps.ts'
import type { Confirmed } from '../vrps/held-vrps.ts'
import { fetchExport } from './fetch.ts'
import type { Fetched, FetchLimits, Tag } from './fetch.ts'
import { readVrpExport } from './parse.ts'
import type { VrpExport } from './parse.ts'
import type { VrpJsonAddress } from './url.ts'

export type VrpJsonSourceOptions = VrpJsonAddress & {
  readonly log: Log
  readonly now: () => Date
  /** See HeldVrpsOptions. */
  readonly confirmMs: number
  readonly limits?: Partial<VrpJsonLimits>
}

export type VrpJsonLimits = FetchLimits & {
  readonly pollMs: number
  /** How long an export is used after its date; without a date, after it was last fetched. */
  readonly expireMs: number
  readonly vrpsMax: number
}

const everyKind = {
  timeoutMs: 60_000,
  octetsMax: 256 * 1024 * 1024,
  expireMs: 86_400_000,
  vrpsMax: 5_000_000,
}
const defaults: Readonly<Record<VrpJsonAddress['location']['kind'], VrpJsonLimits>> = {
  file: { ...everyKind, pollMs: 1_000 },
  http: { ...everyKind, pollMs: 60_000 },
}

/** Maximum time for which parsing blocks the event loop. */
const sliceMs = 5

/** Inert until it is started. */
export function createVrpJsonSource(options: VrpJsonSourceOptions): VrpSource {
  return new VrpJsonSource(options)
}

class VrpJsonSource implements VrpSource {
  readonly name: string
  readonly label = 'VRP export'
  readonly #options: VrpJsonSourceOptions
  readonly #limits: VrpJsonLimits
  readonly #log: Log
  readonly #held: HeldVrps
  /** Set while it runs. */
  #abort: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> = Promise.resolve()
  #tag: Tag
  #export: VrpExport | undefined
  /** The problem of the export with that tag, which is not parsed again until the tag changes. */
  #bad: Error | undefined
  #problem: string | null = 'not read yet'

  constructor(options: VrpJsonSourceOptions) {
    this.name = options.name
    this.#options = options
    this.#limits = { ...defaults[options.location.kind], ...options.limits }
    this.#log = options.log.child({ source: options.name })
    this.#held = new HeldVrps(options)
  }

  start(): void {
    if (this.#abort) return
    this.#abort = new AbortController()
    this.#polling = this.#poll(this.#abort.signal)
  }

  async stop(): Promise<void> {
    this.#abort?.abort()
    this.#abort = undefined
    clearTimeout(this.#timer)
    await this.#polling
    this.#held.stop()
  }

  current(): CurrentVrps | undefined {
    return this.#held.current()
  }

  suspicion(): Suspicion | undefined {
    return this.#held.suspicion()
  }

  setAnnounced(origins: AnnouncedOrigins): void {
    this.#held.setAnnounced(origins)
  }

  accept(): void {
    this.#held.accept()
  }

  onChange(listener: (touched: TouchedPrefixes) => void): () => void {
    return this.#held.onChange(listener)
  }

  status(): VrpSourceStatus {
    const { confirmed, table } = this.#held
    const state = this.current() ? 'current' : 'unavailable'
    return {
      state,
      vrps: table?.size ?? 0,
      asOf: confirmed?.asOf ?? null,
      expires: confirmed?.expires ?? null,
      suspicious: this.#held.suspicion() !== undefined,
      problem:
        this.#problem ??
        this.#held.describeSuspicion() ??
        (state === 'unavailable' ? 'the export is too old' : null),
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    try {
      await this.#read(signal)
      if (this.#problem !== null) this.#log.info({ vrps: this.#held.table?.size }, 'VRP export is valid')
      this.#problem = null
    } catch (error) {
      if (!signal.aborted) this.#reportProblem(reasonOf(error as Error))
    }
    if (!signal.aborted)
      this.#timer = setTimeout(() => (this.#polling = this.#poll(signal)), this.#limits.pollMs)
  }

  async #read(signal: AbortSignal): Promise<void> {
    const tag = this.#isDue() ? undefined : this.#tag
    const fetched = await fetchExport(this.#options.location, tag, { ...this.#limits, signal })
    if (fetched) {
      this.#tag = fetched.tag
      this.#bad = undefined
      await this.#use(fetched).catch((error: Error) => {
        this.#bad = error
        throw error
      })
    } else if (this.#bad) throw this.#bad
    else if (this.#export) this.#held.confirm(this.#confirmed(this.#export))
  }

  /** Whether the unchanged export must be parsed again because some of its VRPs have expired. */
  #isDue(): boolean {
    const { nextExpiry } = this.#export ?? {}
    return nextExpiry !== undefined && nextExpiry <= this.#options.now()
  }

  async #use({ text }: Fetched): Promise<void> {
    const next = await this.#parse(text)
    this.#export = next
    await this.#held.replace(next.table, this.#confirmed(next), next.anchors)
  }

  /** Parses in slices: a whole export takes a second. */
  async #parse(text: string): Promise<VrpExport> {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const reading = readVrpExport(text, { now: this.#options.now(), vrpsMax: this.#limits.vrpsMax, seed })
    let yieldedMs = performance.now()
    for (let step = reading.next(); ; step = reading.next()) {
      if (step.done) return step.value
      if (performance.now() - yieldedMs < sliceMs) continue
      await breathe()
      yieldedMs = performance.now()
    }
  }

  /** The age of an export counts from its date; without a date, from the last fetch. */
  #confirmed({ generated }: VrpExport): Confirmed {
    const now = this.#options.now()
    const asOf = generated && generated < now ? generated : now
    return { asOf, expires: new Date(asOf.getTime() + this.#limits.expireMs) }
  }

  /** Logged once for consecutive equal failures. */
  #reportProblem(problem: string): void {
    if (problem === this.#problem) return
    this.#problem = problem
    this.#log.warn({ asOf: this.#held.confirmed?.asOf }, `VRP export: ${problem}; the last valid one is used`)
  }
}

/** The message of fetch is generic; the cause has the reason. */
function reasonOf({ message, cause }: Error): string {
  return message === 'fetch failed' && cause instanceof Error ? `${message}: ${cause.message}` : message
}
