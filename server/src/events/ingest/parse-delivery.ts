// Parses deliveries: from the bytes of one delivery to observations, notes and a result. Pure; used for stored
// deliveries and for validation without storing.
import { noteFragment, type StoredNote } from '@pharos/contract/events/delivery-note'
import { hash } from 'node:crypto'
import { eventIdOf, stampOf } from '../event/event.ts'
import type { EventSource, EventObservation } from '../event/event.ts'
import { cleanText, type JsonObject } from '../event/json.ts'
import { later, type Stated } from '../event/merge-rules.ts'
import type { SourceRow } from './source.store.ts'
import { sourceOfKind } from '../sources/index.ts'
import { createNotes } from '../sources/notes.ts'
import { defaultTexts } from '../sources/settings.ts'
import { NormaliseError } from '../sources/source.ts'
import type { Normaliser, Notes } from '../sources/source.ts'

/** A configured source, ready to read its deliveries. */
export type SourceReader = { readonly source: EventSource; readonly normalise: Normaliser }

/** Returns the reader of a source. If its settings are invalid, each delivery fails with the reason. */
export function createSourceReader({ key, kind, settings, place }: SourceRow): SourceReader {
  try {
    const detector = sourceOfKind(kind)
    if (!detector) throw new NormaliseError('', 'kind_unknown', { kind })
    const normalise = withSettingsError(() => detector.createNormaliser(settings))
    return { source: { key, defaults: defaultTexts(settings, place) }, normalise }
  } catch (error) {
    return {
      source: { key, defaults: {} },
      normalise: () => {
        throw error
      },
    }
  }
}

function withSettingsError(create: () => Normaliser): Normaliser {
  try {
    return create()
  } catch (error) {
    if (!(error instanceof NormaliseError)) throw error
    throw new NormaliseError('', 'settings_invalid', { detail: error.message })
  }
}

/** An observation with the id of its event. */
export type IdentifiedObservation = { readonly eventId: string; readonly observation: EventObservation }

export type ReadState = 'done' | 'partial' | 'failed'

/** `partial`: some items of the delivery could not be read. `error` is the first error as text. */
export type ParsedDelivery = {
  readonly state: ReadState
  readonly error: string | null
  readonly notes: readonly StoredNote[]
  readonly observations: readonly IdentifiedObservation[]
}

/**
 * Parses one delivery. Never throws: a defect of Pharos is an error of the delivery, which can be replayed after a fix.
 * `id` is the stored delivery, to which its events then refer.
 */
export function parseDelivery(
  { source, normalise }: SourceReader,
  body: Buffer,
  receivedAt: Date,
  id?: number,
): ParsedDelivery {
  const notes = createNotes(receivedAt)
  try {
    const delivery =
      id === undefined ? {} : { delivery: { id, received: receivedAt.getTime(), hash: hashOf(body) } }
    const observations = normalise(parseBody(body), notes).map((observation) => ({
      eventId: eventIdOf(source.key, observation.sourceEventId),
      observation: observation.message ? { ...observation, ...delivery } : observation,
    }))
    return resultOf(observations, notes)
  } catch (error) {
    const { place, code, attrs } = errorOf(error)
    notes.add('error', place, code, attrs)
    return resultOf([], notes)
  }
}

/** 128 bits: only equality matters, and an order that is the same everywhere. */
const hashOf = (body: Buffer): string => hash('sha256', body, 'hex').slice(0, 32)

/** Returns the detector's own message about the event, abridged: the latest message in the observations. */
export function detectorMessageOf(
  observations: readonly IdentifiedObservation[],
  wanted: string,
): JsonObject | undefined {
  let latest: Stated<JsonObject> | undefined
  for (const { eventId: id, observation } of observations) {
    if (id !== wanted || !observation.message) continue
    latest = later(latest, { value: observation.message(), stamp: stampOf(observation) })
  }
  return latest?.value
}

function resultOf(observations: readonly IdentifiedObservation[], notes: Notes): ParsedDelivery {
  const list = notes.list()
  const state = notes.errors === 0 ? 'done' : observations.length > 0 ? 'partial' : 'failed'
  const first = list.find(({ severity }) => severity === 'error')
  return { state, error: first ? errorText(first) : null, notes: list, observations }
}

/** Returns the result of a delivery that could be read, and then not be stored. */
export function failedDelivery(error: unknown): ParsedDelivery {
  const note: StoredNote = { severity: 'error', ...errorOf(error) }
  return { state: 'failed', error: errorText(note), notes: [note], observations: [] }
}

const errorMax = 1_000

function errorText({ place, code, attrs }: StoredNote): string {
  const text = noteFragment(code, attrs)
  return cleanText(place === '' ? text : `${place}: ${text}`, errorMax)
}

function errorOf(error: unknown): Pick<StoredNote, 'place' | 'code' | 'attrs'> {
  if (error instanceof NormaliseError) {
    return { place: error.place, code: error.code, attrs: error.attrs }
  }
  return { place: '', code: 'defect', attrs: { detail: cleanText(String(error), errorMax) } }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseBody(body: Buffer): unknown {
  let text
  try {
    text = utf8.decode(body)
  } catch {
    throw new NormaliseError('', 'not_utf8')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new NormaliseError('', 'not_json', { detail: cleanText((error as Error).message, 300) })
  }
}
