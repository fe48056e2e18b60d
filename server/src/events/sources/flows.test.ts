import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mergeObservation, type Event } from '../event/event.ts'
import { fixture } from './fixtures.ts'
import { flows, parseDefaults } from './flows.ts'
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

  it('say how sure the detector is, beside the thresholds', () => {
    const report = { ...fixture('flows-ongoing'), peak_lower_bps: 1_900_000_000, samples: 1200, share: 0.98 }
    const [observation] = flows.createNormaliser({})(
      { ...report, peak_lower_pps: 'many' },
      createNotes(new Date()),
    )
    assert.deepEqual(observation!.seen.thresholds, {
      bps: 1_000_000_000,
      lower_bps: 1_900_000_000,
      samples: 1200,
      leading_share: 0.98,
    })
  })
})

describe('the default threshold', () => {
  it('is read from the settings of the source', () => {
    assert.deepEqual(parseDefaults({ bps: 1e9, ratio: 4, network_bps: 2e9, network_pps: 9 }), [
      { bps: 1e9, ratio: 4, networkBps: 2e9, networkPps: 9 },
    ])
    assert.deepEqual(parseDefaults({ location: 'ams' }), [])
  })

  it('that is wrong is refused with its place', () => {
    const cases: [unknown, RegExp][] = [
      [{ ratio: 2 }, /settings.*bps or pps is required/],
      [{ bps: 0 }, /settings\.bps/],
      [{ bps: '1G' }, /settings\.bps/],
      [{ bps: 1, ratio: 1 }, /settings\.ratio/],
      [{ bps: 1, bsp: 2 }, /settings\.bsp/],
      [{ thresholds: [{ bps: 1 }] }, /settings\.thresholds/],
    ]
    for (const [settings, message] of cases) assert.throws(() => flows.createNormaliser(settings), message)
  })
})
