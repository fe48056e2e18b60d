import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noteText } from '@pharos/contract/events/delivery-note'
import { mergeObservation } from '../event/event.ts'
import type { Event } from '../event/event.ts'
import { fastnetmonCommunity } from './fastnetmon-community.ts'
import { fixture } from './fixtures.ts'
import { createNotes } from './notes.ts'

const receivedAt = new Date('2026-03-01T12:00:00Z')
const read = (bodies: readonly unknown[], settings: unknown = {}) => {
  const normalise = fastnetmonCommunity.createNormaliser(settings)
  const notes = createNotes(receivedAt)
  const events = new Map<string, Event>()
  for (const one of bodies.flatMap((body) => normalise(body, notes))) {
    const event = mergeObservation(events.get(one.sourceEventId), one, { key: 'fnm', defaults: {} })
    events.set(one.sourceEventId, event)
  }
  return {
    events: [...events.values()],
    notes: notes.list().map((note) => [note.severity, note.place, noteText(note)]),
  }
}

const ban = fixture('fastnetmon-community-ban')
const details = fixture('fastnetmon-community-attack-details')
const unban = fixture('fastnetmon-community-unban')

describe('the notify script of FastNetMon Community', () => {
  test('a ban is a pending event, with rates from the text and flows as its sample', () => {
    const { events, notes } = read([ban])
    assert.deepEqual(notes, [])
    const [event] = events
    assert.equal(event!.sourceEventId, '203.0.113.77/32|1772360100')
    assert.equal(event!.affectedNetwork, '203.0.113.77/32')
    assert.deepEqual([event!.affectedBps, event!.affectedPps], [21_000_000, 1_903])
    assert.deepEqual([event!.status, event!.flags], [['EVENT_PENDING'], ['INCOMING']])
    assert.equal(event!.classificationKey, 'udp.amplification.dns')
    assert.equal(event!.description, 'Incoming UDP amplification (DNS) on 203.0.113.77')
    assert.deepEqual(event!.start, new Date(1_772_360_100_000))
    assert.deepEqual(event!.parsedData.source_ports, [{ port: 53, packets: 7_350, bytes: 10_290_000 }])
    assert.equal(event!.parsedData.top_sources?.length, 20)
  })

  test('all three calls are one event, which ends at the unban', () => {
    const { events, notes } = read([ban, details, unban])
    assert.deepEqual([events.length, notes], [1, []])
    assert.deepEqual([events[0]!.status, events[0]!.end], [['EVENT_ENDED'], new Date(1_772_360_132_000)])
    assert.equal(events[0]!.affectedPps, 1_903)
    assert.deepEqual(
      events[0]!.parsedData.timeline?.map(({ signals, pps }) => [...signals, pps]),
      [
        ['pending', 1_903],
        ['ended', undefined],
      ],
    )
  })

  test('the next ban of the address is another event, and ends one whose unban was lost', () => {
    const next = { ...ban, time: 1_772_363_000, incident: '1772363000', previous: '1772360100' }
    const { events } = read([ban, next])
    assert.deepEqual(
      events.map((event) => [event.sourceEventId, event.status]),
      [
        ['203.0.113.77/32|1772360100', ['EVENT_ENDED']],
        ['203.0.113.77/32|1772363000', ['EVENT_PENDING']],
      ],
    )
  })

  test('without the text, the rate of the arguments is used; an unban may be a black hole that ends', () => {
    const bare = {
      ip: '2001:DB8:A:0::7',
      direction: 'outgoing',
      pps: '500',
      action: 'ban',
      time: 1_772_360_100,
    }
    const { events, notes } = read([bare, { ...bare, action: 'unban' }], { ban: 'blackholed' })
    assert.equal(events[0]!.affectedNetwork, '2001:db8:a::7/128')
    assert.equal(events[0]!.affectedPps, 500)
    assert.deepEqual(events[0]!.status, ['EVENT_ENDED', 'MITIGATION_ENDED'])
    assert.deepEqual(events[0]!.flags, ['OUTGOING', 'IPV6', 'BLACKHOLED'])
    const started = 'The start of the attack is missing: the time of the notification is used instead.'
    assert.deepEqual(notes, [
      ['warning', '/incident', started],
      ['warning', '/incident', started],
    ])
  })

  test('an action that we do not know is an event with a note; one without an address is an error', () => {
    const { events, notes } = read([{ ...ban, action: 'strange', pps: 'many' }])
    assert.deepEqual(events[0]!.status, ['EVENT_PENDING'])
    assert.deepEqual(
      notes.map(([severity, place]) => [severity, place]),
      [
        ['warning', '/pps'],
        ['warning', '/action'],
      ],
    )
    assert.throws(
      () => read([{ ...ban, ip: 'host' }]),
      /^NormaliseError: \/ip: must be an IPv4 or IPv6 address such as/,
    )
    assert.throws(
      () => read([{ ...ban, incident: '', time: null }]),
      /\/incident: the time of the ban is expected/,
    )
  })
})
