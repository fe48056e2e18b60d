import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noteText } from '@pharos/contract/events/delivery-note'
import { mergeObservation } from '../event/event.ts'
import type { Event } from '../event/event.ts'
import { fixture } from './fixtures.ts'
import { createNotes } from './notes.ts'
import { sightline } from './sightline.ts'

const receivedAt = new Date('2026-03-01T12:00:00Z')
const normalise = sightline.createNormaliser({})
const read = (...bodies: unknown[]) => {
  const notes = createNotes(receivedAt)
  const events = new Map<string, Event>()
  for (const one of bodies.flatMap((body) => normalise(body, notes))) {
    const event = mergeObservation(events.get(one.sourceEventId), one, { key: 'sl', defaults: {} })
    events.set(one.sourceEventId, event)
  }
  return {
    events: [...events.values()],
    notes: notes.list().map((note) => [note.severity, note.place, noteText(note)]),
  }
}

describe('a Sightline alert', () => {
  test('is an ongoing event with its misuse types, rates and threshold', () => {
    const { events, notes } = read(fixture('sightline-ongoing'))
    assert.deepEqual(notes, [])
    const [event] = events
    assert.equal(event!.sourceEventId, '4100217')
    assert.equal(event!.affectedNetwork, '203.0.113.77/32')
    assert.deepEqual([event!.affectedBps, event!.affectedPps], [61_250_000, 48_100])
    assert.equal(event!.classificationKey, 'udp.amplification.dns')
    assert.equal(event!.description, 'Incoming UDP amplification (DNS) on 203.0.113.77')
    assert.deepEqual([event!.status, event!.flags], [['EVENT_ONGOING'], ['INCOMING']])
    assert.deepEqual(event!.start, new Date('2026-03-01T10:00:45Z'))
    assert.deepEqual(event!.parsedData.thresholds, { pps: 40_000 })
  })

  test('ends with its stop time', () => {
    const [event] = read(fixture('sightline-ongoing'), fixture('sightline-ended')).events
    assert.deepEqual([event!.status, event!.end], [['EVENT_ENDED'], new Date('2026-03-01T10:14:36Z')])
  })

  test('a list of alerts gives its attacks, reviewed ones with their verdict, and ignores other alerts', () => {
    const { events, notes } = read(fixture('sightline-list'))
    assert.deepEqual(
      events.map((event) => [event.affectedNetwork, event.classificationKey, event.status, event.flags]),
      [
        ['203.0.113.77/32', 'udp.amplification.dns', ['EVENT_ENDED'], ['INCOMING']],
        [
          '2001:db8:10::77/128',
          'tcp.syn_flood',
          ['EVENT_ENDED', 'FALSE_POSITIVE'],
          ['OUTGOING', 'IPV6', 'MULTI_VECTOR'],
        ],
      ],
    )
    assert.deepEqual(notes, [
      ['info', '/data/1/attributes/alert_class', 'Ignored: alerts of the class "bgp" are not attacks.'],
    ])
  })

  test('an alert on a managed object as a whole is an event without a network', () => {
    const body = fixture('sightline-ongoing') as never as {
      data: { attributes: { subobject: Record<string, unknown> } }
    }
    delete body.data.attributes.subobject.host_address
    const { events, notes } = read(body)
    assert.equal(events[0]!.affectedNetwork, null)
    assert.deepEqual(notes, [
      [
        'info',
        '/data/attributes/subobject/host_address',
        'No network is named: the event is shown to no team.',
      ],
    ])
  })

  test('one bad alert of a list does not lose the others', () => {
    const { data } = fixture('sightline-list') as { data: object[] }
    const { events, notes } = read({ data: [null, data[0], { ...data[2], id: '' }] })
    assert.equal(events.length, 1)
    assert.deepEqual(notes, [
      ['error', '/data/0', 'An object is expected, not null.'],
      ['error', '/data/2/id', 'Is empty.'],
    ])
  })
})
