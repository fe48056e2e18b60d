import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergeObservation } from '../event/event.ts'
import type { Event } from '../event/event.ts'
import { alertmanager } from './alertmanager.ts'
import { fixture } from './fixtures.ts'
import { createNotes } from './notes.ts'

const receivedAt = new Date('2026-03-01T12:00:00Z')

/** Merges the events of several deliveries, as the ingest loop does. */
function merged(bodies: readonly unknown[], settings: unknown = {}): Event[] {
  const normalise = alertmanager.createNormaliser(settings)
  const events = new Map<string, Event>()
  for (const body of bodies) {
    for (const one of normalise(body, createNotes(receivedAt))) {
      const event = mergeObservation(events.get(one.sourceEventId), one, { key: 'am', defaults: {} })
      events.set(one.sourceEventId, event)
    }
  }
  return [...events.values()]
}

type Alert = Record<string, object | string>
const firing = fixture('alertmanager-firing') as { alerts: Alert[] }
const withAlert = (change: object) => ({ ...firing, alerts: [{ ...firing.alerts[0], ...change }] })

describe('an Alertmanager webhook', () => {
  test('gives an event for each alert of the batch', () => {
    const [host, carpet] = merged([firing])
    assert.equal(host!.sourceEventId, '1a30ba71cca2921f|2026-03-01T10:00:00.123Z')
    assert.equal(host!.affectedNetwork, '203.0.113.77/32')
    assert.deepEqual([host!.affectedBps, host!.affectedPps], [950_500_000, 88_000])
    assert.deepEqual([host!.status, host!.flags], [['EVENT_ONGOING'], ['INCOMING']])
    assert.equal(host!.classificationKey, 'udp.flood')
    assert.equal(host!.description, 'UDP flood to 203.0.113.77')
    assert.deepEqual([host!.start, host!.end], [new Date('2026-03-01T10:00:00.123Z'), null])
    assert.equal(carpet!.affectedNetwork, '2001:db8:10::/48')
  })

  test('a second attack under the same fingerprint is a second event, and the end of the first finds the first', () => {
    const second = withAlert({ startsAt: '2026-03-01T11:00:00Z' })
    const events = merged([firing, fixture('alertmanager-resolved'), second, firing])
    const ofHost = events.filter(({ affectedNetwork }) => affectedNetwork === '203.0.113.77/32')
    assert.deepEqual(
      ofHost.map((event) => [event.status, event.end?.toISOString() ?? null]),
      [
        [['EVENT_ENDED'], '2026-03-01T10:20:00.123Z'],
        [['EVENT_ONGOING'], null],
      ],
    )
  })

  test('accepts other names of labels, and settings override every default', () => {
    const labels = { alertname: 'x', victim: '198.51.100.7', ip: '203.0.113.9', severity: 'page' }
    const [byDefault] = merged([withAlert({ labels })])
    assert.equal(byDefault!.affectedNetwork, '203.0.113.9/32')
    const settings = {
      fields: { network: '/labels/victim', id: '/fingerprint' },
      words: { status: { firing: ['pending'] } },
      ignore: [{ at: '/labels/severity', is: 'info' }],
    }
    const [event] = merged([withAlert({ labels })], settings)
    assert.equal(event!.affectedNetwork, '198.51.100.7/32')
    assert.equal(event!.sourceEventId, '1a30ba71cca2921f')
    assert.deepEqual(event!.status, ['EVENT_PENDING'])
    assert.deepEqual(merged([fixture('alertmanager-resolved')], settings)[0]!.status, ['EVENT_ENDED'])
    assert.deepEqual(merged([withAlert({ labels: { ...labels, severity: 'info' } })], settings), [])
  })

  test('settings report what to fix', () => {
    assert.throws(
      () => alertmanager.createNormaliser({ fields: { ip: '/labels/ip' } }),
      /settings\.fields\.ip: is unknown/,
    )
    assert.throws(() => alertmanager.createNormaliser({ label: 'ip' }), /settings\.label: is unknown/)
  })
})
