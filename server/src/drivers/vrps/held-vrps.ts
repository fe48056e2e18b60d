// The VRPs of a source, whatever its protocol: the last complete set, how long it is current, and who is notified of changes.
// It must not answer from an expired set, and knows no protocol. A set that is suddenly empty or much smaller is held back:
// a reinstalled cache looks like that, and ROAs do not disappear in large numbers at once.
import { setImmediate as breathe } from 'node:timers/promises'
import type { CurrentVrps, Suspicion, TouchedPrefixes } from '../../registry/vrp-source.ts'
import { isSuspiciousLoss, isVeryOther } from '../../registry/objects/loss.ts'
import type { Prefix } from '../../net/prefix.ts'
import { vrpPrefix } from '../../registry/objects/vrp.ts'
import type { RoaTable } from '../../registry/objects/roa-table.ts'
import type { VrpBits } from '../../registry/objects/vrp.ts'

/** When the source last confirmed the set, and when the set expires; null: never. */
export type Confirmed = { readonly asOf: Date; readonly expires: Date | null }

/** Above this number, judging all announcements again costs no more than determining which are touched. */
const touchedMax = 5_000
const timerMsMax = 2 ** 31 - 1

export type HeldVrpsOptions = {
  readonly now: () => Date
  /** How long a suspicious set must stay as it is before it is used. 0: it is used at once. */
  readonly confirmMs: number
}

/** `size`: that at the start of the confirmation time, which restarts when the set changes much. */
type Aside = Suspicion & { readonly confirmed: Confirmed; readonly size: number; readonly sinceMs: number }

export class HeldVrps {
  readonly #now: () => Date
  readonly #confirmMs: number
  readonly #listeners = new Set<(touched: TouchedPrefixes) => void>()
  #table: RoaTable | undefined
  #confirmed: Confirmed | undefined
  #expiry: NodeJS.Timeout | undefined
  #aside: Aside | undefined
  /** Decreasing sizes of the set within the confirmation time, oldest first: several small losses count as a large one. */
  #sizes: { readonly atMs: number; readonly size: number }[] = []
  /** Whether listeners were last notified that it is current. */
  #isCurrent = false

  constructor({ now, confirmMs }: HeldVrpsOptions) {
    this.#now = now
    this.#confirmMs = confirmMs
  }

  /** The last complete set, current or not; new sets are compared with it. */
  get table(): RoaTable | undefined {
    return this.#table
  }

  get confirmed(): Confirmed | undefined {
    return this.#confirmed
  }

  current(): CurrentVrps | undefined {
    if (!this.#table || !this.#confirmed) return undefined
    const { asOf, expires } = this.#confirmed
    return expires !== null && this.#now() >= expires ? undefined : { table: this.#table, asOf }
  }

  onChange(listener: (touched: TouchedPrefixes) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The set that is held back. */
  suspicion(): Suspicion | undefined {
    return this.#aside
  }

  /** Why the source's last set is not used; null if it is. For operators. */
  doubt(): string | null {
    if (!this.#aside) return null
    const { table, before, until } = this.#aside
    return `it has ${table.size} VRPs instead of ${before || 'some'}; not used until ${until.toISOString()}, or until another source confirms it`
  }

  /** Milliseconds until the held-back set is used if the source confirms it then; undefined without one. */
  get asideForMs(): number | undefined {
    return this.#aside && Math.max(0, this.#aside.sinceMs + this.#confirmMs - performance.now())
  }

  /** Uses the held-back set. */
  accept(): void {
    if (this.#aside) void this.#use(this.#aside.table, this.#aside.confirmed, true)
  }

  /** Sets another complete set. Resolves with the touched prefixes once listeners were notified; with none if it is held back. */
  async replace(table: RoaTable, confirmed: Confirmed): Promise<TouchedPrefixes> {
    return this.#consider(table, confirmed)
  }

  /**
   * Applies changes to the source's last set atomically. Returns false, without changing anything, if the current set would
   * become suspicious: the caller must then request the complete set.
   */
  apply(withdrawn: readonly VrpBits[], announced: readonly VrpBits[], confirmed: Confirmed): boolean {
    const delta = { withdrawn, announced }
    if (this.#aside) {
      this.#aside.table.apply(delta)
      void this.#consider(this.#aside.table, confirmed)
      return true
    }
    const sizeAfter = (this.#table?.size ?? 0) + announced.length - withdrawn.length
    if (this.#confirmMs > 0 && isSuspiciousLoss(this.#sizeBefore(), sizeAfter)) return false
    const wasCurrent = this.#isCurrent
    this.#table?.apply(delta)
    this.#noteSize(sizeAfter)
    this.#confirm(confirmed)
    if (wasCurrent) this.#tell(prefixesOf(withdrawn, announced))
    return true
  }

  /** The source confirmed that nothing has changed. */
  confirm(confirmed: Confirmed): void {
    if (this.#aside) void this.#consider(this.#aside.table, confirmed)
    else this.#confirm(confirmed)
  }

  /** Stops the timers; the VRPs are kept. */
  stop(): void {
    clearTimeout(this.#expiry)
  }

  /** Uses the set, or holds it back. */
  async #consider(table: RoaTable, confirmed: Confirmed): Promise<TouchedPrefixes> {
    const before = this.#sizeBefore()
    if (!isSuspiciousLoss(before, table.size)) return this.#use(table, confirmed, false)
    const nowMs = performance.now()
    const { size, sinceMs, since } =
      this.#aside && !isVeryOther(this.#aside.size, table.size)
        ? this.#aside
        : { size: table.size, sinceMs: nowMs, since: this.#now() }
    if (nowMs - sinceMs >= this.#confirmMs) return this.#use(table, confirmed, true)
    const isNews = !this.#aside
    const until = new Date(since.getTime() + this.#confirmMs)
    this.#aside = { table, confirmed, before: before ?? 0, since, until, size, sinceMs }
    if (isNews) this.#notify([])
    return []
  }

  async #use(table: RoaTable, confirmed: Confirmed, isAccepted: boolean): Promise<TouchedPrefixes> {
    const before = this.#table
    const wasCurrent = this.#isCurrent
    const wasSuspicious = this.#aside !== undefined
    this.#aside = undefined
    this.#table = table
    if (isAccepted) this.#sizes = []
    this.#noteSize(table.size)
    this.#confirm(confirmed)
    if (!before || !wasCurrent) return 'all'
    const touched = await touchedBetween(before, table)
    if (wasSuspicious && touched.length === 0) this.#notify([])
    this.#tell(touched)
    return touched
  }

  /** The greatest size within the confirmation time; undefined before the first set. */
  #sizeBefore(): number | undefined {
    const sinceMs = performance.now() - this.#confirmMs
    // Each size is valid until the next one.
    while (this.#sizes.length > 1 && this.#sizes[1]!.atMs < sinceMs) this.#sizes.shift()
    return this.#sizes[0]?.size
  }

  #noteSize(size: number): void {
    while (this.#sizes.length > 0 && this.#sizes.at(-1)!.size <= size) this.#sizes.pop()
    this.#sizes.push({ atMs: performance.now(), size })
  }

  #confirm(confirmed: Confirmed): void {
    this.#confirmed = confirmed
    this.#check()
  }

  /** Notifies listeners if the set became current or expired, and schedules the next check. */
  #check(): void {
    clearTimeout(this.#expiry)
    const isCurrent = this.current() !== undefined
    const expires = this.#confirmed?.expires
    if (isCurrent && expires) {
      const leftMs = Math.max(1, expires.getTime() - this.#now().getTime())
      this.#expiry = setTimeout(() => this.#check(), Math.min(leftMs, timerMsMax))
      this.#expiry.unref()
    }
    if (isCurrent === this.#isCurrent) return
    this.#isCurrent = isCurrent
    this.#tell('all')
  }

  #tell(touched: TouchedPrefixes): void {
    if (touched.length > 0) this.#notify(touched)
  }

  #notify(touched: TouchedPrefixes): void {
    for (const listener of this.#listeners) listener(touched)
  }
}

function prefixesOf(...lists: readonly (readonly VrpBits[])[]): TouchedPrefixes {
  const found = new Set<Prefix>()
  for (const list of lists) {
    for (const vrp of list) {
      found.add(vrpPrefix(vrp))
      if (found.size > touchedMax) return 'all'
    }
  }
  return [...found]
}

/** Returns the prefixes at which the two differ, computed in slices: 800,000 VRPs take a second. */
async function touchedBetween(before: RoaTable, after: RoaTable): Promise<TouchedPrefixes> {
  const found = new Set<Prefix>()
  for (const [one, other] of [
    [before, after],
    [after, before],
  ] as const) {
    let place = 0
    do {
      place = one.scan(place, 5_000, (vrp) => {
        if (!other.has(vrp)) found.add(vrpPrefix(vrp))
      })
      if (found.size > touchedMax) return 'all'
      if (place !== 0) await breathe()
    } while (place !== 0)
  }
  return [...found]
}
