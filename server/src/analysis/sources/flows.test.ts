import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrefix } from '../../net/prefix.ts'
import { mergeObservation, type Event } from '../event.ts'
import { fixture } from './fixtures.ts'
import { flows, readThresholds } from './flows.ts'
import { createNotes } from './notes.ts'

describe("the detector's own deliveries", () => {
  it('are one event from the first report to the end', () => {
    const notes = createNotes(new Date('2026-03-01T12:01:00Z'))
    const normalise = flows.createNormaliser({})
    const observations = [fixture('flows-ongoing'), fixture('flows-ended')].flatMap((body) =>
      normalise(body, notes),
    )
    let event: Event | undefined
    for (const one of observations) event = mergeObservation(event, one, { key: 'detector', defaults: {} })
    assert.deepEqual(notes.list(), [])
    assert.deepEqual([event!.status, event!.flags], [['EVENT_ENDED'], ['INCOMING']])
    assert.equal(event!.affectedNetwork, '203.0.113.7/32')
    assert.deepEqual([event!.affectedBps, event!.affectedPps], [2_040_000_000, 204_000])
    assert.equal(event!.classificationKey, 'udp.amplification.dns')
    assert.deepEqual(event!.end, new Date('2026-03-01T11:59:40Z'))
    assert.equal(event!.parsedData.total_packets, 16_320_000)
  })
})

describe('thresholds', () => {
  it('are read from the settings of the source', () => {
    const thresholds = [
      { bps: 1e9, ratio: 4 },
      { team: 'acme', pps: 1000 },
      { prefix: '203.0.113.0/24', bps: 1e6, network_bps: 2e6, network_pps: 9 },
    ]
    assert.deepEqual(readThresholds({ thresholds }), [
      { bps: 1e9, ratio: 4 },
      { team: 'acme', pps: 1000 },
      { prefix: parsePrefix('203.0.113.0/24'), bps: 1e6, networkBps: 2e6, networkPps: 9 },
    ])
    assert.deepEqual(readThresholds({}), [])
  })

  it('that are wrong are refused with their place', () => {
    const cases: [unknown, RegExp][] = [
      [{ thresholds: {} }, /settings\.thresholds/],
      [{ thresholds: [{ team: 'acme' }] }, /settings\.thresholds\.0.*bps or pps is required/],
      [{ thresholds: [{ bps: 0 }] }, /settings\.thresholds\.0\.bps/],
      [{ thresholds: [{ bps: '1G' }] }, /settings\.thresholds\.0\.bps/],
      [{ thresholds: [{ bps: 1, ratio: 1 }] }, /settings\.thresholds\.0\.ratio/],
      [{ thresholds: [{ bps: 1, bsp: 2 }] }, /settings\.thresholds\.0\.bsp/],
      [{ thresholds: [{ bps: 1, prefix: '203.0.113.0/33' }] }, /settings\.thresholds\.0\.prefix/],
      [{ threshold: [] }, /settings\.threshold/],
    ]
    for (const [settings, message] of cases) assert.throws(() => flows.createNormaliser(settings), message)
  })
})
