// Normaliser for detectors without one of their own: the settings define the JSON pointer (RFC 6901) of each field, its
// unit, and the meaning of the detector's words.
//
//   events: /alerts                      a list, or a single object; default: the body itself
//   fields:
//     id: /fingerprint                   the only required one: the detector's key of the event
//     network: /labels/target            an address or a CIDR, or a list of them; host bits are cleared
//     start: { at: /startsAt, unit: iso }           iso (default), unix, unix_ms
//     bps: { at: /rate, unit: mbps }     bps, kbps, ..., bytes_per_second, ...
//     threshold_bps: { at: /limit, unit: mbps }     the exceeded limit; threshold_pps likewise
//     country: { value: NL }             a constant
//   words:
//     status: { firing: [ongoing], resolved: [ended] }
//     classification: { "DNS Amp": udp.amplification.dns }
import { eventFlags, eventSignals } from '@pharos/contract/analysis'
import type { EventFlag, EventSignal } from '@pharos/contract/analysis'
import { isClassification } from '@pharos/contract/classification'
import type { Prefix } from '../../net/prefix.ts'
import type { EventTexts, Observation, Seen } from '../event.ts'
import { abridgeJson } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { createFieldReader } from './generic-fields.ts'
import type { FieldReader } from './generic-fields.ts'
import { compilePointer } from './pointer.ts'
import { readKey, readNetwork, readObject, readOptionalText } from './reading.ts'
import { readCountry, readKindSettings, readTimezone } from './settings.ts'
import { NormaliseError, observationsMax } from './source.ts'
import type { Source } from './source.ts'

export const generic: Source = {
  kind: 'generic',
  label: 'any detector that sends JSON',
  createNormaliser(settings) {
    const { events = '', fields, words = {} } = readKindSettings(settings, ['events', 'fields', 'words'])
    const eventsOf = compilePointer(events, 'settings.events')
    const read = createFieldReader(readObject(fields, 'settings.fields'))
    const meanings = readMeanings(words)
    return (body, receivedAt) => {
      const found = eventsOf(body)
      if (!Array.isArray(found)) return [normalise(found, String(events), receivedAt, read, meanings)]
      if (found.length > observationsMax) {
        throw new NormaliseError(
          String(events),
          `at most ${observationsMax} events in one delivery are expected`,
        )
      }
      return found.map((event, at) => normalise(event, `${events}/${at}`, receivedAt, read, meanings))
    }
  },
}

function normalise(
  event: unknown,
  place: string,
  receivedAt: Date,
  reader: FieldReader,
  meanings: Meanings,
): Observation {
  const fields = reader(readObject(event, place), place)
  const direction = meanings.direction(fields.raw('direction'), fields.placeOf('direction'))
  const classification = meanings.classification(
    fields.raw('classification'),
    fields.placeOf('classification'),
  )
  return {
    sourceEventId: readKey(keyText(fields.raw('id')), fields.placeOf('id')),
    receivedAt,
    observedAt: fields.time('observed') ?? null,
    weight: 0,
    start: fields.time('start') ?? null,
    end: fields.time('end') ?? null,
    signals: meanings.status(fields.raw('status'), fields.placeOf('status')),
    flags: [...direction, ...meanings.flags(fields.raw('flags'), fields.placeOf('flags'))],
    networks: readNetworks(fields.raw('network'), fields.placeOf('network')),
    bps: fields.amount('bps') ?? null,
    pps: fields.amount('pps') ?? null,
    ratesAreRepeated: false,
    texts: textsOf(fields, classification),
    seen: seenOf(fields, event),
  }
}

type ReadFields = ReturnType<FieldReader>

/** Event keys may be numbers or strings. */
function keyText(id: unknown): unknown {
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id
}

function readNetworks(value: unknown, place: string): Prefix[] {
  if (value === undefined || value === null || value === '') return []
  if (!Array.isArray(value)) return [readNetwork(value, place, true)]
  return value.slice(0, 1_000).map((network, at) => readNetwork(network, `${place}/${at}`, true))
}

function textsOf(fields: ReadFields, classification: string | undefined): Partial<EventTexts> {
  const text = (name: 'description' | 'location' | 'location_id' | 'resource_id', lengthMax: number) =>
    readOptionalText(fields.raw(name), fields.placeOf(name), lengthMax)
  const checked = (name: 'country' | 'timezone', read: (value: unknown, place: string) => string) =>
    readOptionalText(fields.raw(name), fields.placeOf(name)) === undefined
      ? undefined
      : read(fields.raw(name), fields.placeOf(name))
  const texts: { [name in keyof EventTexts]: string | undefined } = {
    classificationKey: classification,
    description: text('description', 400),
    sourceLocation: text('location', 200),
    sourceLocationId: text('location_id', 200),
    sourceResourceId: text('resource_id', 200),
    sourceCountry: checked('country', readCountry),
    sourceTimezone: checked('timezone', readTimezone),
  }
  return Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined))
}

function seenOf(fields: ReadFields, event: unknown): Seen {
  const bytes = fields.amount('total_bytes')
  const packets = fields.amount('total_packets')
  const thresholds = Object.entries({
    bps: fields.amount('threshold_bps'),
    pps: fields.amount('threshold_pps'),
  }).filter(([, rate]) => rate !== undefined)
  const protocols = [fields.raw('protocols') ?? []]
    .flat()
    .filter((word) => typeof word === 'string' && word !== '')
  return {
    protocols: protocols
      .slice(0, 50)
      .map((word) => readKey(word, fields.placeOf('protocols'), 20).toLowerCase()),
    ...(thresholds.length > 0 ? { thresholds: Object.fromEntries(thresholds) as JsonObject } : {}),
    ...(bytes === undefined ? {} : { total_bytes: bytes }),
    ...(packets === undefined ? {} : { total_packets: packets }),
    source: abridgeJson(event) as JsonObject,
  }
}

type Meaning<T> = (word: unknown, place: string) => T
type Meanings = {
  readonly status: Meaning<EventSignal[]>
  readonly direction: Meaning<EventFlag[]>
  readonly classification: Meaning<string | undefined>
  readonly flags: Meaning<EventFlag[]>
}

const byDefault = {
  status: Object.fromEntries(eventSignals.map((signal) => [signal, [signal]])),
  direction: { incoming: ['INCOMING'], outgoing: ['OUTGOING'], internal: ['INTERNAL'] },
} satisfies Record<string, Record<string, readonly string[]>>

/** Maps the detector's words; an unmapped word is an error, so that the operator maps it. */
function readMeanings(value: unknown): Meanings {
  const words = readObject(value, 'settings.words')
  for (const name of Object.keys(words)) {
    if (!['status', 'direction', 'classification'].includes(name)) {
      throw new NormaliseError(
        `settings.words.${name}`,
        'is unknown; known are status, direction, classification',
      )
    }
  }
  const status = readLists(words.status ?? byDefault.status, 'settings.words.status', eventSignals)
  const direction = readLists(words.direction ?? byDefault.direction, 'settings.words.direction', eventFlags)
  const classification = readClassifications(words.classification ?? {})
  return {
    // Without a status the delivery only reports that the event exists.
    status: (word, place) => (isAbsent(word) ? ['pending'] : explained(status, word, place)),
    direction: (word, place) => (isAbsent(word) ? [] : explained(direction, word, place)),
    classification: (word) => {
      if (isAbsent(word)) return undefined
      const ours = classification.get(String(word)) ?? String(word)
      return isClassification(ours) && ours !== 'unknown' ? ours : undefined
    },
    flags: (list, place) =>
      [isAbsent(list) ? [] : list].flat(1).map((flag) => {
        if ((eventFlags as readonly unknown[]).includes(flag)) return flag as EventFlag
        throw new NormaliseError(place, `each of them one of ${eventFlags.join(', ')} is expected`)
      }),
  }
}

function isAbsent(word: unknown): boolean {
  return word === undefined || word === null || word === ''
}

function explained<T>(meanings: ReadonlyMap<string, T[]>, word: unknown, place: string): T[] {
  const meaning = meanings.get(String(word))
  if (meaning) return meaning
  throw new NormaliseError(
    place,
    `${JSON.stringify(String(word).slice(0, 50))} is not among the words of the settings: ${[...meanings.keys()].join(', ')}`,
  )
}

function readLists<T extends string>(value: unknown, place: string, known: readonly T[]): Map<string, T[]> {
  const entries = Object.entries(readObject(value, place)).map(([word, meaning]) => {
    const list = [meaning].flat()
    if (list.every((item) => known.includes(item as T))) return [word, list as T[]] as const
    throw new NormaliseError(`${place}.${word}`, `one or several of ${known.join(', ')} are expected`)
  })
  return new Map(entries)
}

function readClassifications(value: unknown): Map<string, string> {
  const entries = Object.entries(readObject(value, 'settings.words.classification')).map(([word, ours]) => {
    if (typeof ours === 'string' && isClassification(ours)) return [word, ours] as const
    throw new NormaliseError(`settings.words.classification.${word}`, 'a key of the dictionary is expected')
  })
  return new Map(entries)
}
