// Refused calls for the audit log: counted in memory and written every second, outside of requests. Repeated refusals
// of an actor become one entry per minute with a count, so that a flood cannot fill the disk.
import { type AuditEntry, type RefusedCall } from '../db/audit.ts'
import { isRefusedValue } from '../db/write-rows.ts'
import type { Log } from '../runtime/log.ts'

export type RefusalsDeps = {
  readonly write: (entries: readonly AuditEntry[]) => Promise<void>
  readonly log: Pick<Log, 'warn'>
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number
}

const flushEveryMs = 1_000
const entryEveryMs = 60_000
/** Limit of distinct refusals of one actor per minute; further ones are counted together, without a target. */
const kindsOfActorMax = 30
/** Limit of distinct refusals per minute in this process; only the number of further ones is logged. */
const kindsMax = 1_000
const targetMax = 200

type Kind = {
  readonly key: string
  readonly refusal: RefusedCall
  /** Number of refusals not yet written. */
  count: number
  /** Time of the next possible entry. */
  due: number
}

export class Refusals {
  readonly #deps: RefusalsDeps
  readonly #now: () => number
  readonly #kinds = new Map<string, Kind>()
  readonly #kindsOfActor = new Map<string, number>()
  #omitted = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(deps: RefusalsDeps) {
    this.#deps = deps
    this.#now = deps.now ?? (() => performance.now())
  }

  /** Bound, so that it can be passed as a callback. */
  readonly note = (refusal: RefusedCall): void => {
    const kind = this.#kindOf({ ...refusal, target: cleanTarget(refusal.target) })
    if (kind) kind.count += 1
    else this.#omitted += 1
    this.#schedule()
  }

  /** Writes the refusals that are due. After a failure they are retried, unless the database refuses their content. */
  flush(): Promise<void> {
    return this.#write((kind) => kind.due <= this.#now())
  }

  /** Writes all pending refusals. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#write(() => true)
  }

  #kindOf(refusal: RefusedCall): Kind | undefined {
    const { actor, action } = refusal
    const known = this.#kinds.get(keyOf(refusal))
    if (known) return known
    const ofActor = this.#kindsOfActor.get(actor) ?? 0
    // One slot per action and code is reserved for the combined refusals.
    const isOverLimit = ofActor >= kindsOfActorMax && refusal.target !== anything
    if (isOverLimit) return this.#kindOf({ ...refusal, target: anything })
    if (this.#kinds.size >= kindsMax) return undefined
    const kind = { key: keyOf(refusal), refusal: { ...refusal, actor, action }, count: 0, due: 0 }
    this.#kinds.set(kind.key, kind)
    this.#kindsOfActor.set(actor, ofActor + 1)
    return kind
  }

  #write(isDue: (kind: Kind) => boolean): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeDue(isDue))
    return this.#writing
  }

  async #writeDue(isDue: (kind: Kind) => boolean): Promise<void> {
    this.#removeExpired()
    const due = [...this.#kinds.values()].filter((kind) => kind.count > 0 && isDue(kind))
    const counts = due.map(({ count }) => count)
    for (const kind of due) Object.assign(kind, { count: 0, due: this.#now() + entryEveryMs })
    const entries = due.map((kind, at) => ({ kind, entry: entryOf(kind.refusal, counts[at]!) }))
    const isDone = entries.length === 0 || (await this.#tryWrite(entries))
    for (const one of isDone || entries.length === 1 ? [] : entries) await this.#tryWrite([one])
    if (this.#omitted > 0)
      this.#deps.log.warn({ count: this.#omitted }, 'refused calls omitted from the audit log')
    this.#omitted = 0
  }

  /**
   * Returns false if the database refuses the entries themselves: several are then written one by one, so that a single
   * one cannot keep the others out of the log; a single one is dropped.
   */
  async #tryWrite(entries: readonly { kind: Kind; entry: RefusalEntry }[]): Promise<boolean> {
    try {
      await this.#deps.write(entries.map(({ entry }) => entry))
      return true
    } catch (error) {
      const isKept = !isRefusedValue(error)
      for (const { kind, entry } of isKept ? entries : []) {
        kind.count += entry.after.count
        kind.due = 0
      }
      if (isKept || entries.length === 1)
        this.#deps.log.warn({ err: error, isKept }, 'refused calls were not written to the audit log')
      return isKept
    }
  }

  #removeExpired(): void {
    for (const { key, refusal, count, due } of this.#kinds.values()) {
      if (count > 0 || due > this.#now()) continue
      this.#kinds.delete(key)
      const left = this.#kindsOfActor.get(refusal.actor)! - 1
      if (left > 0) this.#kindsOfActor.set(refusal.actor, left)
      else this.#kindsOfActor.delete(refusal.actor)
    }
  }

  /** Runs only while refusals are pending: an idle process has no timer. */
  #schedule(): void {
    if (this.#timer || this.#stopped) return
    this.#timer = setTimeout(async () => {
      await this.flush()
      this.#timer = undefined
      if (this.#kinds.size > 0) this.#schedule()
    }, flushEveryMs).unref()
  }
}

const anything = 'anything'

/** A path can contain any character, also U+0000, which PostgreSQL does not store. */
const cleanTarget = (target: string): string =>
  target.slice(0, targetMax).replace(/[\p{Cc}\p{Cs}]/gu, '\uFFFD')

const keyOf = ({ teamId, actor, action, target, code }: RefusedCall): string =>
  JSON.stringify([teamId, actor, action, target, code])

type RefusalEntry = AuditEntry & { readonly after: { readonly code: string; readonly count: number } }

function entryOf({ code, ...entry }: RefusedCall, count: number): RefusalEntry {
  return { ...entry, after: { code, count } }
}
