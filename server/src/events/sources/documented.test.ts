// The mappings in docs/detectors are valid, and read the examples beside them.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { mergeObservation } from '../event/event.ts'
import { generic } from './generic.ts'
import { createNotes } from './notes.ts'

const folder = new URL('../../../../docs/detectors/', import.meta.url)
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')

function read(name: string) {
  const normalise = generic.createNormaliser(parse(textOf(`${name}.yaml`)))
  return (change: (text: string) => string = (text) => text) => {
    const notes = createNotes(new Date('2026-03-01T12:00:00Z'))
    const events = normalise(JSON.parse(change(textOf(`${name}-example.json`))), notes).map((one) =>
      mergeObservation(undefined, one, { key: name, defaults: {} }),
    )
    return { events, notes: notes.list().map(({ severity, code, place }) => [severity, code, place]) }
  }
}

test('Grafana: an attack by its fingerprint and start, without the alerts about its data source', () => {
  const readGrafana = read('grafana')
  const { events, notes } = readGrafana()
  const [event, ...others] = events
  assert.deepEqual([others, notes], [[], [['info', 'ignored', '/alerts/1']]])
  assert.equal(event!.sourceEventId, 'c6eadffa33fcdf37|2026-03-01T10:00:00.000Z')
  assert.deepEqual([event!.affectedNetwork, event!.affectedBps], ['203.0.113.77/32', 950_500_001])
  assert.deepEqual([event!.status, event!.classificationKey], [['EVENT_ONGOING'], 'udp.flood'])
  const resolved = readGrafana((text) =>
    text
      .replace(
        '"firing",\n      "labels": { "alertname": "Inbound',
        '"resolved",\n      "labels": { "alertname": "Inbound',
      )
      .replace('0001-01-01T00:00:00Z', '2026-03-01T11:30:00+01:00'),
  ).events[0]!
  assert.deepEqual(
    [resolved.sourceEventId, resolved.status, resolved.end],
    [event!.sourceEventId, ['EVENT_ENDED'], new Date('2026-03-01T10:30:00Z')],
  )
})

test('ntopng: an engaged host alert, and its release', () => {
  const readNtopng = read('ntopng')
  const { events, notes } = readNtopng()
  const [event, ...others] = events
  assert.deepEqual([others, notes], [[], [['info', 'ignored', '/alerts/1']]])
  assert.equal(event!.sourceEventId, '203.0.113.77@0|7|1772359200')
  assert.deepEqual([event!.affectedNetwork, event!.status], ['203.0.113.77/32', ['EVENT_ONGOING']])
  const released = readNtopng((text) => text.replace('"engage",', '"release", "tstamp_end": 1772359500,'))
    .events[0]!
  assert.deepEqual(
    [released.sourceEventId, released.status, released.end],
    [event!.sourceEventId, ['EVENT_ENDED'], new Date(1_772_359_500_000)],
  )
  // Its Lua code sends the current time as the end of an open alert.
  const open = readNtopng((text) => text.replace('"engage",', '"engage", "tstamp_end": 1772359201,'))
  assert.deepEqual([open.events[0]!.status, open.events[0]!.end], [['EVENT_ONGOING'], null])
  assert.ok(open.notes.some(([, code]) => code === 'end_pending'))
})

test('every mapping and example is tested', () => {
  const text = readFileSync(import.meta.filename, 'utf8')
  const files = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/.test(name))
  const untested = files.filter((name) => !text.includes(`read('${name.replace(/(-example)?\.\w+$/, '')}')`))
  assert.deepEqual([files.length, untested], [4, []])
})
