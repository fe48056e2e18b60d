// The port to a detector's format: converts one delivery into observations. A normaliser is pure: the same body,
// settings and time of receipt give the same observations, so that stored deliveries can be replayed.
import {
  noteFragment,
  type DeliveryNoteCode,
  type NoteAttrs,
  type NoteSeverity,
  type StoredNote,
} from '@pharos/contract/events/delivery-note'
import type { EventObservation } from '../event/event.ts'

/** The collector of a delivery's notes, which a normaliser gets; notes.ts implements it. */
export type Notes = {
  /** The time of receipt of the delivery. */
  readonly receivedAt: Date
  add(severity: NoteSeverity, place: string, code: DeliveryNoteCode, attrs?: NoteAttrs): void
  /** Returns the value, or undefined with a warning if it cannot be read. */
  optional<T>(read: () => T): T | undefined
  /** Returns the result of one item of a list; an empty list and an error if it cannot be parsed. */
  item<T>(read: () => readonly T[]): readonly T[]
  /** Number of items that could not be read. */
  readonly errors: number
  /** Returns at most 100 notes, errors first. */
  list(): readonly StoredNote[]
}

/**
 * Converts the parsed JSON body of one delivery. Only the key and the network of an event are essential: other invalid
 * values are skipped with a note, and a list item without a key or network does not affect the others. Throws
 * NormaliseError if the delivery as a whole is invalid.
 */
export type Normaliser = (body: unknown, notes: Notes) => readonly EventObservation[]

export type Source = {
  /** `sources.kind` in the platform file. */
  readonly kind: string
  readonly label: string
  /** Parses the `settings` of a source of this kind; throws NormaliseError if they are invalid. */
  createNormaliser(settings: unknown): Normaliser
  /** Returns the key of an event from the text of a client, as deliveries have it; without the function it is `writtenKey`. */
  eventKeyOf?(text: string, settings: unknown): string
}

/** An error in a delivery or in settings, with its place. */
export class NormaliseError extends Error {
  /** A JSON pointer, or a dotted path of settings such as `settings.fields.id`; empty for the whole. */
  readonly place: string
  readonly code: DeliveryNoteCode
  readonly attrs: NoteAttrs

  constructor(place: string, code: DeliveryNoteCode, attrs: NoteAttrs = {}) {
    const text = noteFragment(code, attrs)
    super(place === '' ? text : `${place}: ${text}`)
    this.name = 'NormaliseError'
    this.place = place
    this.code = code
    this.attrs = attrs
  }
}

/** Returns the error of a setting, with a text for the operator. */
export const settingError = (place: string, detail: string): NormaliseError =>
  new NormaliseError(place, 'setting', { detail })

/** A delivery with more observations is rejected, to bound the size of a batch. */
export const observationsMax = 10_000
