import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergeObservation } from '../event.ts'
import type { Event, Observation } from '../event.ts'
import { fastnetmon } from './fastnetmon.ts'
import { fixture } from './fixtures.ts'
import { NormaliseError } from './source.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute))
const normalise = fastnetmon.createNormaliser({})
const read = (name: string, minute = 0): Observation => normalise(fixture(name), at(minute))[0]!
const eventOf = (...observations: Observation[]): Event =>
  observations.reduce<Event | undefined>(
    (event, next) => mergeObservation(event, next, { key: 'fnm', defaults: {} }),
    undefined,
  )!

describe('a ban of one host', () => {
  const event = eventOf(read('fastnetmon-ban'))

  test('is a pending incoming event on the address, with bytes per second converted to bits', () => {
    assert.equal(event.affectedNetwork, '203.0.113.77/32')
    assert.deepEqual(event.status, ['EVENT_PENDING'])
    assert.deepEqual(event.flags, ['INCOMING'])
    assert.equal(event.affectedBps, 9_500_000_000)
    assert.equal(event.affectedPps, 812_345)
    assert.equal(event.sourceResourceId, 'customers')
    assert.equal(event.sourceEventId, '0b8a4c52-6f0e-4d1b-9a57-1f2c3d4e5f60')
    assert.deepEqual([event.start, event.end], [at(0), null])
  })

  test('is classified as an amplification by the source port of its packets', () => {
    assert.equal(event.classificationKey, 'udp.amplification.dns')
    assert.equal(event.description, 'Incoming UDP amplification (DNS) on 203.0.113.77')
    assert.deepEqual(event.parsedData.vectors, ['udp.amplification.dns'])
  })

  test('has senders and ports from the sample, without the responses of the target', () => {
    assert.deepEqual(event.parsedData.source_ports, [{ port: 53, packets: 6144, bytes: 8_669_184 }])
    assert.deepEqual(event.parsedData.top_sources?.[0], {
      address: '198.51.100.10',
      packets: 3072,
      bytes: 4_331_520,
    })
    assert.deepEqual(event.parsedData.protocols, ['udp'])
    assert.deepEqual(event.parsedData.thresholds, {
      threshold: 'mbits',
      direction: 'incoming',
      detected_by: 'automatic',
      flexible: [],
    })
    assert.equal((event.parsedData.source as { action: string }).action, 'ban')
  })

  test('is a black hole from ban to unban, if the settings enable it', () => {
    const blackholes = fastnetmon.createNormaliser({ ban: 'blackholed' })
    const [ban] = blackholes(fixture('fastnetmon-ban'), at(0))
    const [unban] = blackholes(fixture('fastnetmon-unban'), at(5))
    assert.deepEqual(eventOf(ban!).status, ['EVENT_PENDING', 'MITIGATION_ACTIVE'])
    assert.deepEqual(eventOf(unban!, ban!).status, ['EVENT_ENDED', 'MITIGATION_ENDED'])
    assert.deepEqual(eventOf(ban!).flags, ['INCOMING', 'BLACKHOLED'])
  })
})

describe('the other actions', () => {
  test('an attack_status reports that it is ongoing', () => {
    assert.deepEqual(eventOf(read('fastnetmon-attack-status')).status, ['EVENT_ONGOING'])
  })

  test('only a ban has current rates: later deliveries repeat them', () => {
    const event = eventOf(
      read('fastnetmon-ban'),
      read('fastnetmon-attack-status', 3),
      read('fastnetmon-unban', 7),
    )
    assert.deepEqual(
      event.parsedData.timeline?.map((sample) => [sample.at, ...sample.signals, sample.bps]),
      [
        [at(0).toISOString(), 'pending', event.affectedBps],
        [at(3).toISOString(), 'ongoing', undefined],
        [at(7).toISOString(), 'ended', undefined],
      ],
    )
  })

  test('an unban is the end at the time of receipt, and a ban that is repeated later does not reopen it', () => {
    const event = eventOf(read('fastnetmon-ban'), read('fastnetmon-unban', 7), read('fastnetmon-ban', 9))
    assert.deepEqual([event.start, event.end, event.status], [at(0), at(7), ['EVENT_ENDED']])
  })

  test('all five in any order give one event that differs only in its times', () => {
    const names = ['ban', 'partial-block', 'attack-status', 'partial-unblock', 'unban'].map(
      (name) => `fastnetmon-${name}`,
    )
    const timeless = (event: Event) => ({
      ...event,
      start: 0,
      end: 0,
      mergeState: { ...event.mergeState, start: 0, over: 0, mitigationOver: 0 },
      parsedData: {
        ...event.parsedData,
        peaks: [event.affectedBps, event.affectedPps],
        timeline: event.parsedData.timeline?.map(({ signals, bps }) => `${signals} ${bps ?? ''}`).toSorted(),
      },
    })
    const expected = timeless(eventOf(...names.map((name, minute) => read(name, minute))))
    for (let turn = 0; turn < names.length; turn++) {
      const turned = [...names.slice(turn), ...names.slice(0, turn)]
      assert.deepEqual(timeless(eventOf(...turned.map((name, minute) => read(name, minute)))), expected)
      const reversed = turned.toReversed()
      assert.deepEqual(timeless(eventOf(...reversed.map((name, minute) => read(name, minute)))), expected)
    }
  })

  test('partial_block and partial_unblock are a mitigation with its rules', () => {
    const blocked = eventOf(read('fastnetmon-ban'), read('fastnetmon-partial-block', 1))
    assert.deepEqual(blocked.status, ['EVENT_PENDING', 'MITIGATION_ACTIVE'])
    assert.deepEqual(blocked.parsedData.mitigation?.actions, ['ban', 'partial_block'])
    assert.deepEqual(blocked.parsedData.mitigation?.rules, [
      {
        source_ports: [53],
        destination_prefix: '203.0.113.77/32',
        protocols: ['udp'],
        action_type: 'discard',
        action: {},
      },
    ])
    const unblocked = mergeObservation(blocked, read('fastnetmon-partial-unblock', 2), {
      key: 'fnm',
      defaults: {},
    })
    assert.deepEqual(unblocked.status, ['EVENT_PENDING', 'MITIGATION_ENDED'])
    assert.equal(unblocked.end, null)
  })

  test('without a ban, as in FlowSpec mode, partial_unblock is the end', () => {
    const event = eventOf(read('fastnetmon-partial-block'), read('fastnetmon-partial-unblock', 2))
    assert.deepEqual([event.status, event.end], [['EVENT_ENDED', 'MITIGATION_ENDED'], at(2)])
  })
})

describe('other scopes and versions', () => {
  test('an attack on a hostgroup affects all of its networks, with host bits cleared', () => {
    const event = eventOf(read('fastnetmon-hostgroup-ban'), read('fastnetmon-hostgroup-unban', 3))
    assert.equal(event.affectedNetwork, '203.0.113.0/24')
    assert.deepEqual(event.parsedData.networks, ['203.0.113.0/24', '198.51.100.128/25'])
    assert.deepEqual(event.flags, ['INCOMING', 'CARPET_BOMB'])
    assert.equal(event.classificationKey, 'carpet.udp')
    assert.equal(event.description, 'Incoming carpet bombing (UDP) on hostgroup customers')
    assert.deepEqual(event.status, ['EVENT_ENDED'])
  })

  test('a host without networks of its group in the delivery is an event without a network', () => {
    const { hostgroup_networks: _, ...body } = fixture('fastnetmon-hostgroup-ban')
    assert.equal(eventOf(normalise(body, at(0))[0]!).affectedNetwork, null)
  })

  test('an IPv6 host is converted to its canonical form', () => {
    const event = eventOf(read('fastnetmon-ipv6-ban'))
    assert.equal(event.affectedNetwork, '2001:db8:10::77/128')
    assert.deepEqual(event.flags, ['OUTGOING', 'IPV6'])
    assert.equal(event.classificationKey, 'tcp.syn_flood')
    assert.equal(event.affectedBps, 784_000_000)
  })

  test('two protocols with a quarter of the packets each are several vectors', () => {
    const event = eventOf(read('fastnetmon-multi-vector-ban'))
    assert.deepEqual(event.parsedData.vectors, ['tcp.syn_flood', 'udp.flood'])
    assert.deepEqual(event.flags, ['INCOMING', 'MULTI_VECTOR'])
    assert.equal(event.classificationKey, 'tcp.syn_flood')
  })

  test('a delivery of an older version without scope, counters and detailed sample is accepted', () => {
    const event = eventOf(read('fastnetmon-old-ban'))
    assert.deepEqual(event.flags, ['OUTGOING'])
    assert.equal(event.classificationKey, 'tcp.rst_flood')
    assert.deepEqual(event.parsedData.destination_ports, [{ port: 8842, packets: 1, bytes: 54 }])
  })
})

describe('an unreadable delivery reports what to fix', () => {
  const failure = (change: (body: Record<string, never>) => unknown, name = 'fastnetmon-ban') => {
    const body = structuredClone(fixture(name)) as never
    try {
      normalise(change(body) ?? body, at(0))
    } catch (error) {
      assert.ok(error instanceof NormaliseError, String(error))
      return error.message
    }
    return assert.fail('the delivery was accepted')
  }
  const cases: [string, (body: Record<string, object>) => unknown, string][] = [
    ['a list', () => [], 'an object is expected, not an array'],
    ['no action', (body) => ({ ...body, action: undefined }), 'action: a string is expected, not undefined'],
    [
      'an unknown action',
      (body) => ({ ...body, action: 'toString' }),
      'action: one of ban, partial_block, attack_status, unban, partial_unblock is expected',
    ],
    [
      'no details',
      (body) => ({ ...body, attack_details: null }),
      'attack_details: an object is expected, not null',
    ],
    [
      'no uuid',
      (body) => ({ ...body, attack_details: { ...body.attack_details, attack_uuid: '  ' } }),
      'attack_details.attack_uuid: is empty',
    ],
    ['a name for an address', (body) => ({ ...body, ip: 'host' }), 'ip: not an IPv4 or IPv6 address'],
    [
      'a mapped address',
      (body) => ({ ...body, ip: '::ffff:203.0.113.77' }),
      'ip: IPv4-mapped IPv6: write 203.0.113.77',
    ],
    [
      'an unknown scope',
      (body) => ({ ...body, alert_scope: 'x' }),
      'alert_scope: "host" or "hostgroup" is expected',
    ],
    [
      'a rate as text',
      (body) => ({ ...body, attack_details: { ...body.attack_details, total_incoming_traffic: '1' } }),
      'attack_details.total_incoming_traffic: a number is expected, not a string',
    ],
    [
      'a rate out of range',
      (body) => ({ ...body, attack_details: { ...body.attack_details, total_incoming_traffic: 1e300 } }),
      'attack_details.total_incoming_traffic: a number from 0 to 2^53 is expected',
    ],
  ]
  for (const [name, change, message] of cases) {
    test(name, () => assert.equal(failure(change as never), message))
  }

  test('unknown settings', () => {
    assert.throws(
      () => fastnetmon.createNormaliser({ baan: 1 }),
      /settings\.baan: is unknown; known are ban, location, timezone, country/,
    )
    assert.throws(() => fastnetmon.createNormaliser({ timezone: '+02:00' }), /settings\.timezone/)
    assert.throws(() => fastnetmon.createNormaliser({ country: 'nl' }), /settings\.country/)
  })
})
