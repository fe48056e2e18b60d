// The VRPs of a source, whatever its protocol: the last complete set, its expiry, and the listeners of changes. It must
// not answer from an expired set, and knows no protocol. A set that is suddenly empty or much smaller is withheld: it
// may come from a reinstalled cache, and ROAs do not disappear in large numbers. So is a set that lost a trust anchor,
// or in which many announcements of Pharos lose their validity.
import { setImmediate as breathe } from 'node:timers/promises'
import type { CurrentVrps, Suspicion, TouchedPrefixes } from '../../registry/vrp-source.ts'
import {
  createAnnouncedOrigins,
  originText,
  type AnnouncedOrigin,
  type AnnouncedOrigins,
} from '../../registry/objects/announced-origins.ts'
import {
  areGone,
  areSimilar,
  isLargeDifference,
  isSuspiciousLoss,
  lostOriginsMax,
  type TrustAnchors,
} from '../../registry/objects/loss.ts'
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
  /** How long a suspicious set must stay the same before it is used. 0: without delay. */
  readonly confirmMs: number
}

/** `size`: that at the start of the confirmation time, which restarts when the set changes much. */
type Withheld = Suspicion & {
  readonly confirmed: Confirmed
  readonly anchors: TrustAnchors
  readonly size: number
  readonly sinceMs: number
}

/** The losses of a set compared with the current one. */
type Loss = {
  readonly isSmaller: boolean
  /** Our announcements that it does not validate any longer, if they are many. */
  readonly origins: readonly AnnouncedOrigin[]
  /** The VRPs of trust anchors that it has no longer. */
  readonly anchors: TrustAnchors
}

const noAnchors: TrustAnchors = new Map()

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
  #anchors: TrustAnchors = noAnchors
  #announced = createAnnouncedOrigins([])
  /** Our announcements that lost their validity, with the time: several small losses count as a large one. */
  #lostAtMs = new Map<string, number>()
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

  setAnnounced(origins: AnnouncedOrigins): void {
    this.#announced = origins
  }

  /** The set that is withheld. */
  suspicion(): Suspicion | undefined {
    return this.#withheld
  }

  /** Why the source's last set is not used; null if it is. For operators. */
  describeSuspicion(): string | null {
    if (!this.#withheld) return null
    const { loss, until } = this.#withheld
    return `${loss}; not used until ${until.toISOString()}, or until another source confirms it`
  }

  /** Milliseconds until the withheld set is used if the source confirms it then; undefined without one. */
  get withheldForMs(): number | undefined {
    return this.#withheld && Math.max(0, this.#withheld.sinceMs + this.#confirmMs - performance.now())
  }

  /** Uses the withheld set. */
  accept(): void {
    if (!this.#withheld) return
    const { table, confirmed, anchors } = this.#withheld
    void this.#use(table, confirmed, anchors, true)
  }

  /**
   * Replaces the complete set. Resolves with the touched prefixes after listeners were notified; with an empty result
   * if the set is withheld.
   */
  async replace(
    table: RoaTable,
    confirmed: Confirmed,
    anchors: TrustAnchors = noAnchors,
  ): Promise<TouchedPrefixes> {
    return this.#useOrWithhold(table, confirmed, anchors)
  }

  /**
   * Applies changes to the source's last set atomically. Returns false, without changing anything, if the current set would
   * become suspicious: the caller must then request the complete set.
   */
  apply(withdrawn: readonly VrpBits[], announced: readonly VrpBits[], confirmed: Confirmed): boolean {
    const delta = { withdrawn, announced }
    if (this.#withheld) {
      this.#withheld.table.apply(delta)
      void this.#useOrWithhold(this.#withheld.table, confirmed, this.#withheld.anchors)
      return true
    }
    const sizeAfter = (this.#table?.size ?? 0) + announced.length - withdrawn.length
    if (this.#confirmMs > 0 && isSuspiciousLoss(this.#sizeBefore(), sizeAfter)) return false
    const wasCurrent = this.#isCurrent
    if (!this.#applyGuarded(delta)) return false
    this.#recordSize(sizeAfter)
    this.#confirm(confirmed)
    if (wasCurrent) this.#notifyTouched(prefixesOf(withdrawn, announced))
    return true
  }

  /** The source confirmed that the set is unchanged. */
  confirm(confirmed: Confirmed): void {
    if (this.#withheld) void this.#useOrWithhold(this.#withheld.table, confirmed, this.#withheld.anchors)
    else this.#confirm(confirmed)
  }

  /** Stops the timers; the VRPs are kept. */
  stop(): void {
    clearTimeout(this.#expiry)
  }

  /** Applies the delta to the current set. Returns false, and undoes it, if too many of our announcements lose their validity. */
  #applyGuarded(delta: { readonly withdrawn: readonly VrpBits[]; readonly announced: readonly VrpBits[] }) {
    const table = this.#table
    // Only a withdrawal takes validity away.
    if (!table || this.#confirmMs === 0 || delta.withdrawn.length === 0) {
      table?.apply(delta)
      return true
    }
    const before = this.#announced.validIn(table)
    const removed = delta.withdrawn.filter((vrp) => table.remove(vrp))
    const added = delta.announced.filter((vrp) => table.add(vrp))
    const lost = this.#lostBetween(before, this.#announced.validIn(table))
    if (lost.length <= lostOriginsMax(this.#announced.list.length)) {
      this.#recordLost(lost)
      return true
    }
    table.apply({ withdrawn: added, announced: removed })
    return false
  }

  /** Returns our announcements that are not valid after a change, and were before it or within the confirmation time. */
  #lostBetween(before: Uint8Array, after: Uint8Array): AnnouncedOrigin[] {
    const sinceMs = performance.now() - this.#confirmMs
    for (const [text, atMs] of this.#lostAtMs) if (atMs < sinceMs) this.#lostAtMs.delete(text)
    return this.#announced.list.filter(
      (origin, at) => after[at] === 0 && (before[at] === 1 || this.#lostAtMs.has(originText(origin))),
    )
  }

  /** Repeated losses keep the time of the first. */
  #recordLost(lost: readonly AnnouncedOrigin[]): void {
    const times = lost.map((origin) => {
      const text = originText(origin)
      return [text, this.#lostAtMs.get(text) ?? performance.now()] as const
    })
    this.#lostAtMs = new Map(times)
  }

  /** Returns our announcements that the current set validates, or did within the confirmation time, and another set does not. */
  #lostIn(table: RoaTable): AnnouncedOrigin[] {
    if (!this.#table || this.#table === table) return []
    return this.#lostBetween(this.#announced.validIn(this.#table), this.#announced.validIn(table))
  }

  /** Returns the suspicious losses of a set that would replace the current one; undefined without any. */
  #lossOf(table: RoaTable): Loss | undefined {
    const isSmaller = isSuspiciousLoss(this.#sizeBefore(), table.size)
    const lost = this.#lostIn(table)
    const origins = lost.length > lostOriginsMax(this.#announced.list.length) ? lost : []
    const anchors = new Map([...this.#anchors].filter(([, vrps]) => areGone(vrps, table)))
    return isSmaller || origins.length + anchors.size > 0 ? { isSmaller, origins, anchors } : undefined
  }

  /** Uses the set, or withholds it. */
  async #useOrWithhold(
    table: RoaTable,
    confirmed: Confirmed,
    anchors: TrustAnchors,
  ): Promise<TouchedPrefixes> {
    const loss = this.#lossOf(table)
    if (!loss) return this.#use(table, confirmed, anchors, false)
    const before = this.#sizeBefore() ?? 0
    const nowMs = performance.now()
    const { size, sinceMs, since } =
      this.#withheld && !isLargeDifference(this.#withheld.size, table.size)
        ? this.#withheld
        : { size: table.size, sinceMs: nowMs, since: this.#now() }
    if (nowMs - sinceMs >= this.#confirmMs) return this.#use(table, confirmed, anchors, true)
    const isNew = !this.#withheld
    const until = new Date(since.getTime() + this.#confirmMs)
    const found = {
      loss: lossText(loss, table.size, before, this.#announced.list.length),
      isConfirmedBy: (other: RoaTable) => isConfirmed(loss, table, other),
    }
    this.#withheld = { table, confirmed, anchors, before, ...found, since, until, size, sinceMs }
    if (isNew) this.#notify([])
    return []
  }

  async #use(
    table: RoaTable,
    confirmed: Confirmed,
    anchors: TrustAnchors,
    isAccepted: boolean,
  ): Promise<TouchedPrefixes> {
    const before = this.#table
    this.#recordLost(isAccepted ? [] : this.#lostIn(table))
    this.#anchors = anchors
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

function lossText(
  { isSmaller, origins, anchors }: Loss,
  size: number,
  before: number,
  announced: number,
): string {
  const parts = [
    ...(isSmaller ? [`it has ${size} VRPs instead of ${before || 'some'}`] : []),
    ...(anchors.size > 0 ? [`it has no VRPs of the trust anchor ${[...anchors.keys()].join(', ')}`] : []),
    ...(origins.length > 0
      ? [
          `it takes validity from ${origins.length} of ${announced} announcements, such as ${originText(origins[0]!)}`,
        ]
      : []),
  ]
  return parts.join('; ')
}

/**
 * Returns whether another set has the same losses: it has about the same VRPs, no VRPs of the trust anchors, and
 * validates few of the announcements.
 */
function isConfirmed({ isSmaller, origins, anchors }: Loss, table: RoaTable, other: RoaTable): boolean {
  if (other.size === 0 || (isSmaller && !areSimilar(table, other))) return false
  if (![...anchors.values()].every((vrps) => areGone(vrps, other))) return false
  const stillValid = createAnnouncedOrigins(origins)
    .validIn(other)
    .reduce((sum, one) => sum + one, 0)
  return stillValid <= origins.length * 0.2
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
