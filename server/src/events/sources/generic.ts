// Normaliser for detectors without their own: the settings define the JSON pointer (RFC 6901) of each field, its unit,
// and the meaning of the detector's words. docs/detectors.md describes every setting, with mappings for products.
//
//   events: /alerts                      a list, or a single object; default: the body itself
//   events: [/groups, /alerts]           lists inside of lists
//   ignore: [{ at: /severity, is: [info, debug] }]        also `not`, and `absent: true`
//   fields:
//     id: /fingerprint                   required: the detector's key of the event
//     id: [/fingerprint, /startsAt]      composed, if the key names the alert rule instead of the attack
//     network: /labels/target            an address or a CIDR, or a list of them; host bits are cleared
//     network: { first: [/labels/target, /labels/ip] }      the first that is present
//     network: { at: /entity, until: '@' }                  the text before "@"
//     start: { at: /startsAt, unit: iso }           iso (default), unix, unix_ms
//     bps: { at: /rate, unit: mbps }     bps, kbps, ..., bytes_per_second, ...
//     bps: { at: /labels/bps, text: true }          a number in text form
//     threshold_bps: { at: /limit, unit: mbps }     the exceeded limit; threshold_pps likewise
//     country: { value: NL }             a constant
//   words:
//     status: { firing: [ongoing], resolved: [ended] }
//     classification: { "DNS Amp": udp.amplification.dns }
import { eventFlags, eventSignals } from '@pharos/contract/events/event'
import type { EventFlag, EventSignal } from '@pharos/contract/events/event'
import { isClassification } from '@pharos/contract/events/classification'
import type { Prefix } from '../../net/prefix.ts'
import type { EventTexts, EventObservation, ObservedData } from '../event/event.ts'
import { abridgeJson, cleanText } from '../event/json.ts'
import type { JsonObject } from '../event/json.ts'
import { compileIgnore, createFieldReader, isAbsent, mappedKey } from './generic-fields.ts'
import type { EventFields, FieldReader, IgnoreRule } from './generic-fields.ts'
import { compilePointer } from './pointer.ts'
import { readNetwork, readNetworks, readObject, readOptionalText, readText } from './reading.ts'
import type { ReportFields } from './reading.ts'
import { readCountry, readKindSettings, readTimezone } from './settings.ts'
import { NormaliseError, observationsMax, settingError } from './source.ts'
import type { Normaliser, Notes, Source } from './source.ts'

const mappingNames = ['events', 'ignore', 'fields', 'words'] as const

export const generic: Source = {
  kind: 'generic',
  label: 'any detector that sends JSON',
  createNormaliser: (settings) => createMappedNormaliser(readKindSettings(settings, mappingNames)),
  eventKeyOf: mappedKey,
}

/** Compiles a mapping: the settings `events`, `ignore`, `fields` and `words`. Throws NormaliseError. */
export function createMappedNormaliser({
  events = '',
  ignore = [],
  fields,
  words = {},
}: ReportFields): Normaliser {
  const locate = compileEvents(events)
  const ignored = compileIgnore(ignore)
  const read = createFieldReader(readObject(fields, 'settings.fields'))
  const meanings = readMeanings(words)
  return (body, notes) => {
    const found = locate(body)
    if (found.length > observationsMax) {
      throw new NormaliseError(String([events].flat()[0]), 'too_many_events', { max: observationsMax })
    }
    if (found.length === 0) notes.add('info', '', 'no_events')
    return found.flatMap((event) => notes.item(() => normaliseEvent(event, notes, read, ignored, meanings)))
  }
}

/** An event of the delivery, and its place. */
type Located = { readonly value: unknown; readonly place: string }

/** Compiles the setting `events`: the pointer of a list or an object, or one pointer per level of nested lists. */
function compileEvents(setting: unknown): (body: unknown) => readonly Located[] {
  const levels = [setting].flat().map((text, index) => ({
    get: compilePointer(text, Array.isArray(setting) ? `settings.events.${index}` : 'settings.events'),
    at: String(text),
  }))
  if (levels.length === 0) throw settingError('settings.events', 'at least one JSON pointer is expected')
  const unwrap = (found: Located, level: number): readonly Located[] => {
    const step = levels[level]
    if (!step) return [found]
    const place = `${found.place}${step.at}`
    const value = step.get(found.value)
    if (!Array.isArray(value)) return unwrap({ value, place }, level + 1)
    return value.flatMap((one, at) => unwrap({ value: one, place: `${place}/${at}` }, level + 1))
  }
  return (body) => unwrap({ value: body, place: '' }, 0)
}

function normaliseEvent(
  { value, place }: Located,
  notes: Notes,
  reader: FieldReader,
  ignored: IgnoreRule,
  meanings: Meanings,
): readonly EventObservation[] {
  const event = readObject(value, place)
  const condition = ignored(event)
  if (condition !== undefined) {
    notes.add('info', place, 'ignored', { condition })
    return []
  }
  const fields = reader(event, place, notes)
  const sourceEventId = fields.key()
  const networks = readNetworkField(fields, notes)
  const status = meanings.status(fields, notes)
  return [
    {
      sourceEventId,
      receivedAt: notes.receivedAt,
      observedAt: fields.time('observed') ?? null,
      weight: 0,
      start: fields.time('start') ?? null,
      end: readEnd(fields, status, notes) ?? null,
      // Without a status the delivery only reports that the event exists.
      signals: status ?? ['pending'],
      flags: [...meanings.direction(fields, notes), ...meanings.flags(fields, notes)],
      networks,
      bps: fields.amount('bps') ?? null,
      pps: fields.amount('pps') ?? null,
      ratesAreRepeated: false,
      texts: textsOf(fields, meanings.classification(fields, notes), notes),
      seen: seenOf(fields, notes),
      message: () => abridgeJson(event) as JsonObject,
    },
  ]
}

/** Some detectors send the time at which an ongoing alert expires, or the current time, as its end. A stated `ongoing` takes precedence. */
function readEnd(
  fields: EventFields,
  status: readonly EventSignal[] | undefined,
  notes: Notes,
): Date | undefined {
  const isOpen = status !== undefined && !status.includes('ended')
  if (!isOpen) return fields.time('end')
  const end = fields.time('end', true)
  if (end === undefined || (end <= notes.receivedAt && !status.includes('ongoing'))) return end
  notes.add('info', fields.placeOf('end'), 'end_pending', { stated: end.toISOString() })
  return undefined
}

function readNetworkField(fields: EventFields, notes: Notes): Prefix[] {
  const [value, place] = [fields.raw('network'), fields.placeOf('network')]
  if (isAbsent(value) || (Array.isArray(value) && value.length === 0)) {
    notes.add('info', place, 'network_missing')
    return []
  }
  return Array.isArray(value) ? readNetworks(value, place, notes) : [readNetwork(value, place, true)]
}

type TextName = 'description' | 'location' | 'location_id' | 'resource_id' | 'country' | 'timezone'

function textsOf(fields: EventFields, classification: string | undefined, notes: Notes): Partial<EventTexts> {
  const optional = (name: TextName, read: (value: unknown, place: string) => string | undefined) => {
    const value = fields.raw(name)
    return isAbsent(value) ? undefined : notes.optional(() => read(value, fields.placeOf(name)))
  }
  const text = (name: TextName, lengthMax: number) =>
    optional(name, (value, place) => readOptionalText(value, place, lengthMax))
  const texts: { [name in keyof EventTexts]: string | undefined } = {
    classificationKey: classification,
    description: text('description', 400),
    sourceLocation: text('location', 200),
    sourceLocationId: text('location_id', 200),
    sourceResourceId: text('resource_id', 200),
    sourceCountry: optional('country', readCountry),
    sourceTimezone: optional('timezone', readTimezone),
  }
  return Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined))
}

function seenOf(fields: EventFields, notes: Notes): ObservedData {
  const bytes = fields.amount('total_bytes')
  const packets = fields.amount('total_packets')
  const thresholds = Object.entries({
    bps: fields.amount('threshold_bps'),
    pps: fields.amount('threshold_pps'),
  }).filter(([, rate]) => rate !== undefined)
  const protocols = [fields.raw('protocols') ?? []].flat().slice(0, 50)
  return {
    protocols: protocols.flatMap((word) => {
      const text = isAbsent(word)
        ? undefined
        : notes.optional(() => readText(word, fields.placeOf('protocols'), 20))
      return text === undefined ? [] : [text.toLowerCase()]
    }),
    ...(thresholds.length > 0 ? { thresholds: Object.fromEntries(thresholds) as JsonObject } : {}),
    ...(bytes === undefined ? {} : { total_bytes: bytes }),
    ...(packets === undefined ? {} : { total_packets: packets }),
  }
}

type Meaning<T> = (fields: EventFields, notes: Notes) => T
type Meanings = {
  readonly status: Meaning<readonly EventSignal[] | undefined>
  readonly direction: Meaning<readonly EventFlag[]>
  readonly classification: Meaning<string | undefined>
  readonly flags: Meaning<readonly EventFlag[]>
}

const byDefault = {
  status: Object.fromEntries(eventSignals.map((signal) => [signal, [signal]])),
  direction: { incoming: ['INCOMING'], outgoing: ['OUTGOING'], internal: ['INTERNAL'] },
} satisfies Record<string, Record<string, readonly string[]>>

/** Maps the detector's words; an unmapped word is skipped and noted, so that the operator maps it. */
function readMeanings(value: unknown): Meanings {
  const words = readObject(value, 'settings.words')
  for (const name of Object.keys(words)) {
    if (['status', 'direction', 'classification'].includes(name)) continue
    throw settingError(`settings.words.${name}`, 'is unknown; known are status, direction, classification')
  }
  const status = readLists(words.status ?? byDefault.status, 'settings.words.status', eventSignals)
  const direction = readLists(words.direction ?? byDefault.direction, 'settings.words.direction', eventFlags)
  const classification = readClassifications(words.classification ?? {})
  return {
    status: (fields, notes) => explained(status, 'status', fields, notes),
    direction: (fields, notes) => explained(direction, 'direction', fields, notes) ?? [],
    classification(fields, notes) {
      const word = fields.raw('classification')
      if (isAbsent(word)) return undefined
      const ours = classification.get(String(word)) ?? String(word)
      if (isClassification(ours)) return ours === 'unknown' ? undefined : ours
      const known = ['the words of the settings', 'the classification keys']
      notes.add('warning', fields.placeOf('classification'), 'word', { value: shortened(word), known })
      return undefined
    },
    flags(fields, notes) {
      const list = fields.raw('flags')
      const words = isAbsent(list) ? [] : [list].flat(1).slice(0, 50)
      return words.filter((flag): flag is EventFlag => {
        if ((eventFlags as readonly unknown[]).includes(flag)) return true
        const attrs = { value: shortened(flag), known: eventFlags }
        notes.add('warning', fields.placeOf('flags'), 'word', attrs)
        return false
      })
    },
  }
}

function explained<T>(
  meanings: ReadonlyMap<string, readonly T[]>,
  name: 'status' | 'direction',
  fields: EventFields,
  notes: Notes,
): readonly T[] | undefined {
  const word = fields.raw(name)
  if (isAbsent(word)) return undefined
  const meaning = meanings.get(String(word))
  if (meaning) return meaning
  const attrs = { value: shortened(word), known: [...meanings.keys()].slice(0, 20) }
  notes.add('warning', fields.placeOf(name), 'word', attrs)
  return undefined
}

const shortened = (word: unknown): string => cleanText(String(word), 50)

function readLists<T extends string>(value: unknown, place: string, known: readonly T[]): Map<string, T[]> {
  const entries = Object.entries(readObject(value, place)).map(([word, meaning]) => {
    const list = [meaning].flat()
    if (list.every((item) => known.includes(item as T))) return [word, list as T[]] as const
    throw settingError(`${place}.${word}`, `one or several of ${known.join(', ')} are expected`)
  })
  return new Map(entries)
}

function readClassifications(value: unknown): Map<string, string> {
  const entries = Object.entries(readObject(value, 'settings.words.classification')).map(([word, ours]) => {
    if (typeof ours === 'string' && isClassification(ours)) return [word, ours] as const
    throw settingError(`settings.words.classification.${word}`, 'a key of the dictionary is expected')
  })
  return new Map(entries)
}
