// Notes on a delivery of a detector: what could not be read, was left out, changed or ignored. A closed list of codes, each
// with attributes. Codes are stored; the sentences are made here and nowhere else.
import { counted } from '../counted.ts'
import { Type } from 'typebox'
import { Component, Enumeration } from '../scalar.ts'

export type NoteAttrs = Readonly<Record<string, unknown>>
type Text = (attrs: NoteAttrs) => string

/** The text of each code, without a capital letter and a full stop. */
const texts = {
  not_utf8: () => 'the delivery is not UTF-8 text',
  not_json: ({ detail }) => `the delivery is not JSON: ${String(detail)}`,
  kind_unknown: ({ kind }) => `no detector of the kind ${String(kind)} is supported`,
  settings_invalid: ({ detail }) => `the settings of the source are not valid: ${String(detail)}`,
  setting: ({ detail }) => String(detail),
  defect: ({ detail }) => `a defect of Pharos: ${String(detail)}`,
  too_many_events: ({ max }) => `at most ${String(max)} events in one delivery are expected`,
  notes_truncated: ({ count }) => `${counted(count, 'further note is', 'further notes are')} not listed`,

  type: ({ expected, found }) => `${String(expected)} is expected, not ${String(found)}`,
  empty: () => 'is empty',
  number_range: () => 'a number from 0 to 2^53 is expected',
  number_text: ({ value }) => `a decimal number is expected, not ${quoted(value)}`,
  network: ({ detail }) => String(detail),
  time: ({ unit }) => timeTexts[unit as keyof typeof timeTexts] ?? 'a time is expected',
  time_range: ({ min, max }) => `a time between the years ${String(min)} and ${String(max)} is expected`,
  word: ({ value, known }) => `${quoted(value)} is unknown; known are ${listOf(known)}`,
  country: () => 'two capital letters are expected, such as NL',
  timezone: () => 'an IANA time zone is expected, such as Europe/Amsterdam',

  time_future: ({ stated }) =>
    `the time ${String(stated)} is more than a day in the future: the time of receipt is used instead`,
  end_pending: ({ stated }) =>
    `the end ${String(stated)} is in the future or the status is "ongoing": the event stays open`,
  action_missing: () => 'the action is missing: the event counts as detected',
  incident_missing: () => 'the start of the attack is missing: the time of the notification is used instead',
  network_missing: () => 'no network is named: the event is shown to no team',
  ignored: ({ condition }) => `ignored by the settings: ${String(condition)}`,
  not_an_attack: ({ value }) => `ignored: alerts of the class ${quoted(value)} are not attacks`,
  no_events: () => 'the delivery contains no events, as a test message of a detector does',
} satisfies Record<string, Text>

const timeTexts = {
  iso: 'an ISO 8601 time is expected, such as 2026-01-31T12:00:00Z',
  unix: 'a number is expected: seconds since 1970',
  unix_ms: 'a number is expected: milliseconds since 1970',
} as const

const quoted = (value: unknown): string => JSON.stringify(String(value))
const listOf = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))

export type DeliveryNoteCode = keyof typeof texts
export const deliveryNoteCodes = Object.keys(texts) as [DeliveryNoteCode, ...DeliveryNoteCode[]]

/** `error`: this part of the delivery gave no event. `warning`: a detail was left out or changed. `info`: the delivery was read completely. */
export const noteSeverities = ['error', 'warning', 'info'] as const
export type NoteSeverity = (typeof noteSeverities)[number]

/** A note as it is stored. */
export type StoredNote = {
  readonly severity: NoteSeverity
  readonly code: DeliveryNoteCode
  /** JSON pointer (RFC 6901) into the delivery; empty for the whole. */
  readonly place: string
  readonly attrs: NoteAttrs
}

/** Returns the text of a code as a part of a longer line, such as `<place>: <text>`. */
export function noteFragment(code: DeliveryNoteCode, attrs: NoteAttrs): string {
  const text: Text = texts[code]
  return text(attrs)
}

/** Codes whose text contains the effect; any other warning means that the value was left out. */
const replaced: ReadonlySet<DeliveryNoteCode> = new Set([
  'time_future',
  'end_pending',
  'action_missing',
  'incident_missing',
  'network_missing',
])

/** Returns the sentences of a note for people. */
export function noteText({ severity, code, attrs }: StoredNote): string {
  const text = noteFragment(code, attrs)
  const first = `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
  return severity === 'warning' && !replaced.has(code) ? `${first} The value was left out.` : first
}

export const DeliveryNote = Component('DeliveryNote', {
  severity: {
    ...Enumeration('DeliveryNoteSeverity', noteSeverities),
    description:
      '`error`: this part of the delivery gave no event. `warning`: a detail was left out or changed. `info`: nothing was lost',
  },
  code: { ...Enumeration('DeliveryNoteCode', deliveryNoteCodes), description: 'code of the note' },
  place: Type.String({
    description:
      'JSON pointer (RFC 6901) into the delivery, such as `/alerts/3/startsAt`; empty for the whole',
  }),
  attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'attributes of the code' }),
  message: Type.String({ description: 'the note as text' }),
})
