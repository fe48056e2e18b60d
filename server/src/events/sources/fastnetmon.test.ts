import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noteText } from '@pharos/contract/events/delivery-note'
import { mergeObservation } from '../event/event.ts'
import type { Event, EventObservation } from '../event/event.ts'
import { fastnetmon } from './fastnetmon.ts'
import { fixture } from './fixtures.ts'
import { createNotes } from './notes.ts'
import { NormaliseError } from './source.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute))
const normalise = fastnetmon.createNormaliser({})
const read = (name: string, minute = 0): EventObservation =>
  normalise(fixture(name), createNotes(at(minute)))[0]!
const eventOf = (...observations: EventObservation[]): Event =>
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
    assert.equal(read('fastnetmon-ban').message!()['action'], 'ban')
  })

  test('is a black hole from ban to unban, if the settings enable it', () => {
    const blackholes = fastnetmon.createNormaliser({ ban: 'blackholed' })
    const [ban] = blackholes(fixture('fastnetmon-ban'), createNotes(at(0)))
    const [unban] = blackholes(fixture('fastnetmon-unban'), createNotes(at(5)))
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
    assert.equal(eventOf(normalise(body, createNotes(at(0)))[0]!).affectedNetwork, null)
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

type Body = Record<string, object>
const detail = (name: string, value: unknown) => (body: Body) => ({
  ...body,
  attack_details: { ...body.attack_details, [name]: value },
})

describe('a delivery without key or network reports what to fix', () => {
  const failure = (change: (body: Body) => unknown, name = 'fastnetmon-ban') => {
    try {
      normalise(change(fixture(name) as never), createNotes(at(0)))
    } catch (error) {
      assert.ok(error instanceof NormaliseError, String(error))
      return error.message
    }
    return assert.fail('the delivery was accepted')
  }
  const cases: [string, (body: Body) => unknown, string][] = [
    ['a list', () => [], 'an object is expected, not an array'],
    [
      'no details',
      (body) => ({ ...body, attack_details: null }),
      '/attack_details: an object is expected, not null',
    ],
    ['no uuid', detail('attack_uuid', '  '), '/attack_details/attack_uuid: is empty'],
    [
      'a name for an address',
      (body) => ({ ...body, ip: 'host' }),
      '/ip: must be an IPv4 or IPv6 address such as 203.0.113.7 or 2001:db8::7',
    ],
    [
      'a mapped address',
      (body) => ({ ...body, ip: '::ffff:203.0.113.77' }),
      '/ip: IPv4-mapped IPv6: write 203.0.113.77',
    ],
  ]
  for (const [name, change, message] of cases) {
    test(name, () => assert.equal(failure(change), message))
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

describe('a detail that cannot be read is left out and noted', () => {
  const whole = eventOf(read('fastnetmon-ban'))
  const noted = (change: (body: Body) => unknown, name = 'fastnetmon-ban') => {
    const notes = createNotes(at(0))
    const event = eventOf(normalise(change(fixture(name) as never), notes)[0]!)
    return { event, notes: notes.list().map((note) => [note.severity, note.place, noteText(note)]) }
  }
  const actions = 'attack_details, ban, partial_block, attack_status, unban, partial_unblock'
  const cases: [string, (body: Body) => unknown, string, string][] = [
    [
      'no action',
      (body) => ({ ...body, action: undefined }),
      '/action',
      'The action is missing: the event counts as detected.',
    ],
    [
      'an unknown action',
      (body) => ({ ...body, action: 'toString' }),
      '/action',
      `"toString" is unknown; known are ${actions}. The value was left out.`,
    ],
    [
      'an empty scope',
      (body) => ({ ...body, alert_scope: '' }),
      '/alert_scope',
      '"" is unknown; known are host, hostgroup. The value was left out.',
    ],
    [
      'an unknown scope',
      (body) => ({ ...body, alert_scope: 'x' }),
      '/alert_scope',
      '"x" is unknown; known are host, hostgroup. The value was left out.',
    ],
    [
      'a rate as text',
      detail('total_incoming_traffic', '1'),
      '/attack_details/total_incoming_traffic',
      'A number is expected, not a string. The value was left out.',
    ],
    [
      'a rate out of range',
      detail('total_incoming_traffic', 1e300),
      '/attack_details/total_incoming_traffic',
      'A number from 0 to 2^53 is expected. The value was left out.',
    ],
    [
      'rules that are no list',
      (body) => ({ ...body, flow_spec_rules: 'drop' }),
      '/flow_spec_rules',
      'An array is expected, not a string. The value was left out.',
    ],
    [
      'a hostgroup that is no text',
      detail('host_group', 7),
      '/attack_details/host_group',
      'A string is expected, not a number. The value was left out.',
    ],
  ]
  for (const [name, change, place, message] of cases) {
    test(name, () => {
      const { event, notes } = noted(change)
      assert.deepEqual(notes, [['warning', place, message]])
      assert.deepEqual([event.id, event.affectedNetwork], [whole.id, whole.affectedNetwork])
      assert.deepEqual(event.status, ['EVENT_PENDING'])
      assert.equal(event.affectedPps, whole.affectedPps)
    })
  }

  test('a scope that contradicts the target, and a network of a group among others', () => {
    const contradicting = noted((body) => ({ ...body, alert_scope: 'hostgroup' }))
    assert.equal(contradicting.event.affectedNetwork, '203.0.113.77/32')
    const group = noted(
      (body) => ({ ...body, alert_scope: '', hostgroup_networks: ['203.0.113.0/24', '10.0.0.0/33'] }),
      'fastnetmon-hostgroup-ban',
    )
    assert.equal(group.event.affectedNetwork, '203.0.113.0/24')
    assert.deepEqual(
      group.notes.map(([, place]) => place),
      ['/alert_scope', '/hostgroup_networks/1'],
    )
  })

  test('a uuid of any length is one key', () => {
    const long = noted(detail('attack_uuid', 'u'.repeat(300))).event.sourceEventId
    const other = noted(detail('attack_uuid', 'u'.repeat(301))).event.sourceEventId
    assert.match(long, /^sha256:[0-9a-f]{64}$/)
    assert.notEqual(long, other)
  })
})
