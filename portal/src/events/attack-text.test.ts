import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { classificationKeys } from '@pharos/contract/events/classification'
import { bytesPerPacket, nth, rateNow } from './attack-text.ts'
import { meaningOf } from './meaning.ts'
import { shareCards } from './shares.ts'
import { words } from './words.ts'

const now = Date.parse('2026-01-01T12:00:00Z')
const event = { end: null, affected_bps: 9_500_000_000, affected_pps: 861_000, parsed_data: {} }

describe('the figures of an attack', () => {
  it('have the rate of now only while it is ongoing and measured recently', () => {
    const timeline = [
      { at: '2026-01-01T11:57:00Z', signals: [], bps: 9 },
      { at: '2026-01-01T11:58:00Z', signals: [], bps: 8 },
      { at: '2026-01-01T11:59:00Z', signals: [] },
    ]
    assert.equal(rateNow({ ...event, parsed_data: { timeline } }, now), 8)
    assert.equal(
      rateNow({ ...event, end: '2026-01-01T11:59:30Z', parsed_data: { timeline } }, now),
      undefined,
    )
    assert.equal(rateNow({ ...event, parsed_data: { timeline } }, now + 3_600_000), undefined)
    assert.equal(rateNow(event, now), undefined)
  })

  it('have the size of a packet only if both peaks are of one moment', () => {
    assert.equal(bytesPerPacket(event), 1379)
    const peaks = { bps: { value: 1, at: 'a' }, pps: { value: 1, at: 'b' } }
    assert.equal(bytesPerPacket({ ...event, parsed_data: { peaks } }), undefined)
    assert.equal(bytesPerPacket({ ...event, affected_pps: 0 }), undefined)
  })

  it('have ranks in words', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 11, 12, 18, 21, 103].map(nth).join(' '),
      '1st 2nd 3rd 4th 11th 12th 18th 21st 103rd',
    )
  })
})

it('every kind of attack has its sentence', () => {
  for (const key of classificationKeys)
    assert.equal(meaningOf(key) === words.meanings.unknown, key === 'unknown', key)
  assert.equal(meaningOf('amplification'), words.meanings.unknown)
  assert.match(meaningOf('udp.amplification.dns'), /answer DNS requests/)
})

describe('the shares of the traffic', () => {
  it('are bars with the names of ports, in bytes if all have them', () => {
    const [ports] = shareCards({
      source_ports: [
        { port: 53, bytes: 9, packets: 1 },
        { port: 4242, bytes: 1 },
      ],
    })
    assert.deepEqual(ports?.shares, {
      unit: 'bytes',
      items: [
        { label: '53', secondary: 'DNS', value: 9 },
        { label: '4242', value: 1 },
      ],
    })
  })

  it('are names alone without amounts, and nothing at all is left out', () => {
    const cards = shareCards({ destination_ports: [{ port: 443 }, { port: 7 }], top_sources: [] })
    assert.deepEqual(cards, [{ kind: 'destinationPorts', shares: undefined, names: '443 HTTPS, 7' }])
  })
})
