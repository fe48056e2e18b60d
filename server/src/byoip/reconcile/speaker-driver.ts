// The driver of one kind of router: its settings in the platform file, and the factory of its speakers. Drivers import it by
// type only; drivers/speakers.ts lists them.
import type { RouteSettings } from './plan.ts'
import type { Speaker } from './speaker.ts'

/** The settings of a speaker as the platform file writes them, without its name. They hold paths of key files, never keys. */
export type SpeakerSettings = Readonly<Record<string, unknown>>

/** `path` leads from the speaker to the setting. */
export type SpeakerProblem = { readonly path: readonly (string | number)[]; readonly message: string }

export type SpeakerDriver = {
  /** The value of `kind` in the settings. */
  readonly kind: string
  /** Returns what is wrong with settings of this kind; none means that `create` accepts them. Reads no file. */
  check(settings: SpeakerSettings): readonly SpeakerProblem[]
  /**
   * Returns a text that only speakers with the same router and owner have; undefined if they do not exclude each other. Two such
   * speakers would take each other's routes for their own, and withdraw them.
   */
  ownerOf(settings: SpeakerSettings): string | undefined
  /**
   * Creates the speaker from checked settings, not connected yet; throws if a key file cannot be read. `router` is a unique name
   * for logs: that of the region, or `region/name`.
   */
  create(settings: SpeakerSettings, router: string): Speaker
  /** Returns the next hops that the router's settings give its routes. */
  nextHopsOf(settings: SpeakerSettings): Pick<RouteSettings, 'nextHop4' | 'nextHop6'>
}
