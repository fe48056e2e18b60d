// The driver of one kind of scrubber: its settings in the platform file, and the factory of its scrubbers. Drivers import it by type
// only; drivers/scrubbers.ts lists them.
import type { TSchema } from 'typebox'
import type { CompiledList, RuleHits, RuleId, Scrubber } from './scrubber.ts'

/** The settings of a scrubber in the platform file, with their `kind`. They contain paths of key files, never keys. */
export type ScrubberSettings = { readonly kind: string } & Readonly<Record<string, unknown>>

/** `path` leads from the settings to the invalid one. */
export type ScrubberProblem = { readonly path: readonly (string | number)[]; readonly message: string }

export type ScrubberDriver = {
  /** The value of `kind` in the settings. */
  readonly kind: string
  /** The schema of the settings, from which forms are made. */
  readonly settings: TSchema
  /** Returns the problems of settings of this kind; an empty list means that `create` accepts them. Reads no file. */
  check(settings: Readonly<Record<string, unknown>>): readonly ScrubberProblem[]
  /**
   * Returns a text that is unique to an enforcing program and owner; undefined if such scrubbers do not exclude each other. Two
   * scrubbers with the same text would remove each other's rules.
   */
  ownerOf(settings: ScrubberSettings): string | undefined
  /** Creates the scrubber from checked settings, without connecting; throws if a key file cannot be read. */
  create(settings: ScrubberSettings, options: ScrubberOptions): Scrubber
}

export type ScrubberOptions = {
  /** Unique name of the scrubber. */
  readonly name: string
  /** `rules_max` of the platform file. */
  readonly rulesMax: number
  /** For scrubbers that forward no packets; without it they have no hits. */
  readonly estimateHits?: EstimateHits
}

/** Returns the packets and octets of stored flows that each rule of the lists would have matched from `start` to before `end`. */
export type EstimateHits = (
  lists: readonly CompiledList[],
  start: Date,
  end: Date,
) => Promise<ReadonlyMap<RuleId, RuleHits>>
