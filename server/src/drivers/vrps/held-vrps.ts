// What every source of VRPs holds, whatever it speaks: the last complete set, how long it is current, and who wants to hear
// of changes. It must not answer from a set that has expired, and knows no protocol.
import { setImmediate as breathe } from 'node:timers/promises'
import type { CurrentVrps, TouchedPrefixes } from '../../byoip/registry/rpki.ts'
import type { Prefix } from '../../net/prefix.ts'
import { vrpPrefix } from '../../net/roa-table.ts'
import type { RoaTable, VrpBits } from '../../net/roa-table.ts'

/** When the source last said that the set is right, and until when that holds; null is for good. */
export type Confirmed = { readonly asOf: Date; readonly expires: Date | null }

/** Above this many, judging everything again costs no more than finding out what is touched. */
const touchedMax = 5_000
const timerMsMax = 2 ** 31 - 1

export class HeldVrps {
  readonly #now: () => Date
  readonly #listeners = new Set<(touched: TouchedPrefixes) => void>()
  #table: RoaTable | undefined
  #confirmed: Confirmed | undefined
  #expiry: NodeJS.Timeout | undefined
  /** Whether listeners know it as current. */
  #isCurrent = false

  constructor(now: () => Date) {
    this.#now = now
  }

  /** The last complete set, current or not; for comparing with what comes. */
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

  /** Another complete set, at once. Resolves with what it touched when the listeners have been told. */
  async replace(table: RoaTable, confirmed: Confirmed): Promise<TouchedPrefixes> {
    const before = this.#table
    const wasCurrent = this.#isCurrent
    this.#table = table
    this.#confirm(confirmed)
    if (!before || !wasCurrent) return 'all'
    const touched = await touchedBetween(before, table)
    this.#tell(touched)
    return touched
  }

  /** Changes the set as a whole and in one go. */
  apply(withdrawn: readonly VrpBits[], announced: readonly VrpBits[], confirmed: Confirmed): void {
    const wasCurrent = this.#isCurrent
    this.#table?.apply({ withdrawn, announced })
    this.#confirm(confirmed)
    if (wasCurrent) this.#tell(prefixesOf(withdrawn, announced))
  }

  /** The source says that nothing has changed. */
  confirm(confirmed: Confirmed): void {
    this.#confirm(confirmed)
  }

  /** Stops the clock; what is held stays. */
  stop(): void {
    clearTimeout(this.#expiry)
  }

  #confirm(confirmed: Confirmed): void {
    this.#confirmed = confirmed
    this.#check()
  }

  /** Tells of the step into and out of being current, and waits for the next one. */
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
    if (touched !== 'all' && touched.length === 0) return
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

/** Prefixes at which the two differ, found a slice at a time: 800,000 VRPs are a second of work. */
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
