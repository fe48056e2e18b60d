// What the Internet Routing Registries say about an announcement: several sources asked in order, their answers kept for a
// while, and one verdict that never passes for want of an answer. It must not know announcements or the database.
import type { Asn } from '../net/asn.ts'
import type { Prefix } from '../net/prefix.ts'
import type { Component } from '../runtime/component.ts'
import type { RouteObject } from './irr-source.ts'

/**
 * - `valid`: an object of exactly this prefix has this origin (or an origin that the as-set has as a member).
 * - `mismatch_asn`: objects of exactly this prefix, but of other origins only.
 * - `mismatch_length`: this origin has an object of a less specific prefix only.
 * - `missing`: none of these.
 * - `unavailable`: a source did not answer, and none of the others says valid; or there is no source at all.
 */
export type IrrState = 'valid' | 'missing' | 'mismatch_asn' | 'mismatch_length' | 'unavailable'

export type IrrVerdict = {
  readonly state: IrrState
  /** What the state rests on: the objects that agree, or those that are in the way. */
  readonly objects: readonly RouteObject[]
  /** The name of the one source that it rests on; null where it rests on all of them, or on none. */
  readonly source: string | null
  /** When the oldest of the answers came that it rests on; null without any. */
  readonly fetched: Date | null
  /** Whether one of those answers was kept from before. */
  readonly cached: boolean
  /** The member by which it is valid, and the sets that lead to it, outermost first. */
  readonly member?: { readonly asn: Asn; readonly through: readonly string[] }
  /** For people, where the state does not say all: which source is down, what is wrong with the as-set. */
  readonly reason?: string
}

export type IrrQuestion = {
  /** The name of an as-set whose members may hold the object instead of the origin ASN. */
  readonly asSet?: string | undefined
  /** Answers that are older are asked for again; 0 for a person who waits for what he has just changed. */
  readonly maxAgeSeconds?: number | undefined
  /** Ends the waiting of this caller. The question itself goes on for others who wait for the same answer. */
  readonly signal?: AbortSignal | undefined
}

/** `found` in the first source, in order, that has the object; an earlier source that is down makes it `unavailable`. */
export type AutNumAnswer =
  | { readonly state: 'found'; readonly text: string; readonly source: string; readonly fetched: Date }
  | { readonly state: 'missing'; readonly fetched: Date }
  | { readonly state: 'unavailable'; readonly reason: string }

export type IrrSourceStatus = {
  readonly name: string
  /** `unknown` until it was asked for the first time. */
  readonly state: 'unknown' | 'up' | 'down'
  readonly since: Date | null
  readonly lastAnswered: Date | null
  /** Why it is down; null when it is not. */
  readonly error: string | null
  /** When it is asked again; null when it is not down. */
  readonly retryAt: Date | null
  readonly serial: string | null
  readonly problems: readonly string[]
}

export interface Irr extends Component {
  /** Never rejects for a source that failed, only by the signal of the question. */
  judge(prefix: Prefix, originAsn: Asn, question?: IrrQuestion): Promise<IrrVerdict>
  autNum(asn: Asn, question?: Omit<IrrQuestion, 'asSet'>): Promise<AutNumAnswer>
  /**
   * Calls `onChange` when verdicts may be others than before: what a source holds changed, or a source is back. Returns
   * how to stop. Only while started.
   */
  watch(onChange: () => void): () => void
  status(): readonly IrrSourceStatus[]
}
