// The VRPs of a source, whatever its protocol: the last complete set, how long it is current, and who is notified of changes.
// It must not answer from an expired set, and knows no protocol. A set that is suddenly empty or much smaller is withheld:
// a reinstalled cache looks like that, and ROAs do not disappear in large numbers at once.
import { setImmediate as breathe } from 'node:timers/promises'
import type { CurrentVrps, Suspicion, TouchedPrefixes } from '../../registry/vrp-source.ts'
import { isSuspiciousLoss, isLargeDifference } from '../../registry/objects/loss.ts'
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
type Withheld = Suspicion & { readonly confirmed: Confirmed; readonly size: number; readonly sinceMs: number }

export class HeldVrps {
  readonly #now: () => Date
  readonly #confirmMs: number
  readonly #listeners = new Set<(touched: TouchedPrefixes) => void>()
  #table: RoaTable | undefined
  #confirmed: Confirmed | undefined
  #expiry: NodeJS.Timeout | undefined
  #withheld: Withheld | undefined
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

  /** The set that is withheld. */
  suspicion(): Suspicion | undefined {
    return this.#withheld
  }

  /** Why the source's last set is not used; null if it is. For operators. */
  describeSuspicion(): string | null {
    if (!this.#withheld) return null
    const { table, before, until } = this.#withheld
    return `it has ${table.size} VRPs instead of ${before || 'some'}; not used until ${until.toISOString()}, or until another source confirms it`
  }

  /** Milliseconds until the withheld set is used if the source confirms it then; undefined without one. */
  get withheldForMs(): number | undefined {
    return this.#withheld && Math.max(0, this.#withheld.sinceMs + this.#confirmMs - performance.now())
  }

  /** Uses the withheld set. */
  accept(): void {
    if (this.#withheld) void this.#use(this.#withheld.table, this.#withheld.confirmed, true)
  }

  /** Sets another complete set. Resolves with the touched prefixes once listeners were notified; with none if it is withheld. */
  async replace(table: RoaTable, confirmed: Confirmed): Promise<TouchedPrefixes> {
    return this.#useOrWithhold(table, confirmed)
  }

  /**
   * Applies changes to the source's last set atomically. Returns false, without changing anything, if the current set would
   * become suspicious: the caller must then request the complete set.
   */
  apply(withdrawn: readonly VrpBits[], announced: readonly VrpBits[], confirmed: Confirmed): boolean {
    const delta = { withdrawn, announced }
    if (this.#withheld) {
      this.#withheld.table.apply(delta)
      void this.#useOrWithhold(this.#withheld.table, confirmed)
      return true
    }
    const sizeAfter = (this.#table?.size ?? 0) + announced.length - withdrawn.length
    if (this.#confirmMs > 0 && isSuspiciousLoss(this.#sizeBefore(), sizeAfter)) return false
    const wasCurrent = this.#isCurrent
    this.#table?.apply(delta)
    this.#recordSize(sizeAfter)
    this.#confirm(confirmed)
    if (wasCurrent) this.#notifyTouched(prefixesOf(withdrawn, announced))
    return true
  }

  /** The source confirmed that nothing has changed. */
  confirm(confirmed: Confirmed): void {
    if (this.#withheld) void this.#useOrWithhold(this.#withheld.table, confirmed)
    else this.#confirm(confirmed)
  }

  /** Stops the timers; the VRPs are kept. */
  stop(): void {
    clearTimeout(this.#expiry)
  }

  /** Uses the set, or withholds it. */
  async #useOrWithhold(table: RoaTable, confirmed: Confirmed): Promise<TouchedPrefixes> {
    const before = this.#sizeBefore()
    if (!isSuspiciousLoss(before, table.size)) return this.#use(table, confirmed, false)
    const nowMs = performance.now()
    const { size, sinceMs, since } =
      this.#withheld && !isLargeDifference(this.#withheld.size, table.size)
        ? this.#withheld
        : { size: table.size, sinceMs: nowMs, since: this.#now() }
    if (nowMs - sinceMs >= this.#confirmMs) return this.#use(table, confirmed, true)
    const isNew = !this.#withheld
    const until = new Date(since.getTime() + this.#confirmMs)
    this.#withheld = { table, confirmed, before: before ?? 0, since, until, size, sinceMs }
    if (isNew) this.#notify([])
    return []
  }

  async #use(table: RoaTable, confirmed: Confirmed, isAccepted: boolean): Promise<TouchedPrefixes> {
    const before = this.#table
    const wasCurrent = this.#isCurrent
    const wasSuspicious = this.#withheld !== undefined
    this.#withheld = undefined
    this.#table = table
    if (isAccepted) this.#sizes = []
    this.#recordSize(table.size)
    this.#confirm(confirmed)
    if (!before || !wasCurrent) return 'all'
    const touched = await touchedBetween(before, table)
    if (wasSuspicious && touched.length === 0) this.#notify([])
    this.#notifyTouched(touched)
    return touched
  }

  /** The greatest size within the confirmation time; undefined before the first set. */
  #sizeBefore(): number | undefined {
    const sinceMs = performance.now() - this.#confirmMs
    // Each size is valid until the next one.
    while (this.#sizes.length > 1 && this.#sizes[1]!.atMs < sinceMs) this.#sizes.shift()
    return this.#sizes[0]?.size
  }

  #recordSize(size: number): void {
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
    this.#notifyTouched('all')
  }

  #notifyTouched(touched: TouchedPrefixes): void {
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
