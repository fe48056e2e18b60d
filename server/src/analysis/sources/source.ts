// The port to a detector's format: what one delivery says, in our words. A normaliser is pure: the same body, settings
// and time of receipt give the same observations, so that kept deliveries can be run again.
import type { Observation } from '../event.ts'

/** Takes the parsed JSON body of one delivery. Throws NormaliseError. */
export type Normaliser = (body: unknown, receivedAt: Date) => readonly Observation[]

export type Source = {
  /** `sources.kind` in the platform file. */
  readonly kind: string
  readonly label: string
  /** Reads the `settings` of a source of this kind; throws NormaliseError where they are not valid. */
  createNormaliser(settings: unknown): Normaliser
}

/** What is wrong with a delivery or with settings, and where: text for the operator who has to mend it. */
export class NormaliseError extends Error {
  /** Such as `attack_details.attack_uuid`; empty for the whole. */
  readonly place: string

  constructor(place: string, message: string) {
    super(place === '' ? message : `${place}: ${message}`)
    this.name = 'NormaliseError'
    this.place = place
  }
}

/** More than that in one delivery is refused: a batch of the loop must stay bounded. */
export const observationsMax = 10_000
