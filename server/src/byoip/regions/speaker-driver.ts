// The driver of one kind of router: its settings in the platform file, and the factory of its speakers. Drivers import it by
// type only; drivers/speakers.ts lists them.
import type { TSchema } from 'typebox'
import type { RouteSettings } from './plan.ts'
import type { Speaker } from './speaker.ts'

/** The settings of a speaker in the platform file, without its name. They contain paths of key files, never keys. */
export type SpeakerSettings = Readonly<Record<string, unknown>>

/** `path` leads from the speaker to the setting. */
export type SpeakerProblem = { readonly path: readonly (string | number)[]; readonly message: string }

export type SpeakerDriver = {
  /** The value of `kind` in the settings. */
  readonly kind: string
  /** The schema of the settings, from which forms are made. */
  readonly settings: TSchema
  /** Returns the problems of settings of this kind; an empty list means that `create` accepts them. Reads no file. */
  check(settings: SpeakerSettings): readonly SpeakerProblem[]
  /**
   * Returns a text that is unique to a router and owner; undefined if such speakers do not exclude each other. Two speakers with
   * the same text would treat each other's routes as their own, and withdraw them.
   */
  ownerOf(settings: SpeakerSettings): string | undefined
  /**
   * Creates the speaker from checked settings, without connecting; throws if a key file cannot be read. `router` is a unique name
   * for logs: that of the region, or `region/name`.
   */
  create(settings: SpeakerSettings, router: string): Speaker
  /** Returns the next hops that the router's settings define for its routes. */
  nextHopsOf(settings: SpeakerSettings): Pick<RouteSettings, 'nextHop4' | 'nextHop6'>
}
