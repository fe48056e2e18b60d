// The port to a detector's format: converts one delivery into observations. A normaliser is pure: the same body,
// settings and time of receipt give the same observations, so that stored deliveries can be replayed.
import type { Observation } from '../event.ts'

/** Converts the parsed JSON body of one delivery. Throws NormaliseError. */
export type Normaliser = (body: unknown, receivedAt: Date) => readonly Observation[]

export type Source = {
  /** `sources.kind` in the platform file. */
  readonly kind: string
  readonly label: string
  /** Parses the `settings` of a source of this kind; throws NormaliseError if they are invalid. */
  createNormaliser(settings: unknown): Normaliser
}

/** An error in a delivery or in settings, with its place; the text is for the operator. */
export class NormaliseError extends Error {
  /** Such as `attack_details.attack_uuid`; empty for the whole. */
  readonly place: string

  constructor(place: string, message: string) {
    super(place === '' ? message : `${place}: ${message}`)
    this.name = 'NormaliseError'
    this.place = place
  }
}

/** A delivery with more observations is rejected, to bound the size of a batch. */
export const observationsMax = 10_000
