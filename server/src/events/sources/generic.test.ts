import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noteText } from '@pharos/contract/events/delivery-note'
import { mergeObservation } from '../event/event.ts'
import type { Event } from '../event/event.ts'
import { fixture } from './fixtures.ts'
import { generic } from './generic.ts'
import { createNotes } from './notes.ts'
import { defaultTexts } from './settings.ts'

const receivedAt = new Date('2026-03-01T12:00:00Z')
const settings = fixture('generic-settings')
const noted = (body: unknown, given: unknown = settings) => {
  const notes = createNotes(receivedAt)
  const source = { key: 'am', defaults: defaultTexts(given, undefined) }
  const events = generic
    .createNormaliser(given)(body, notes)
    .map((observation) => mergeObservation(undefined, observation, source))
  return { events, notes: notes.list().map((note) => [note.severity, note.place, noteText(note)]) }
}
const read = (body: unknown, given?: unknown) => noted(body, given).events
/** Merges the events of several deliveries, as the ingest loop does. */
const merged = (given: unknown, ...bodies: unknown[]) => {
  const events = new Map<string, Event>()
  for (const body of bodies) {
    for (const one of generic.createNormaliser(given)(body, createNotes(receivedAt))) {
      const source = { key: 'am', defaults: {} }
      const event = mergeObservation(events.get(one.sourceEventId), one, source)
      events.set(one.sourceEventId, event)
    }
  }
  return [...events.values()]
}

describe('a mapped source', () => {
  const [firing, resolved] = read(fixture('generic-alerts'))

  test('reads each field from its configured pointer, in the units of the API', () => {
    assert.equal(firing!.sourceEventId, 'f1')
    assert.equal(firing!.affectedNetwork, '203.0.113.77/32')
    assert.equal(firing!.affectedBps, 950_500_000)
    assert.equal(firing!.affectedPps, 88_000)
    assert.equal(firing!.classificationKey, 'udp.amplification.dns')
    assert.equal(firing!.description, 'DNS amplification towards 203.0.113.77')
    assert.deepEqual(firing!.flags, ['INCOMING'])
    assert.deepEqual(firing!.status, ['EVENT_ONGOING'])
    assert.deepEqual([firing!.start, firing!.end], [new Date('2026-03-01T10:00:00.123Z'), null])
    assert.deepEqual([firing!.sourceCountry, firing!.sourceLocationId], ['NL', 'ams'])
  })

  test('accepts several events, networks and UTC offsets; a word without meaning becomes unknown', () => {
    assert.deepEqual(resolved!.parsedData.networks, ['198.51.100.0/24', '198.51.101.0/24'])
    assert.equal(resolved!.classificationKey, 'unknown')
    assert.deepEqual(resolved!.status, ['EVENT_ENDED'])
    assert.deepEqual(
      [resolved!.start, resolved!.end],
      [new Date('2026-03-01T08:00:00Z'), new Date('2026-03-01T08:20:00Z')],
    )
  })

  test('converts a threshold to a rate, and orders rates by their time of measurement', () => {
    const measured = {
      fields: {
        id: '/id',
        observed: '/at',
        bps: { at: '/rate', unit: 'mbps' },
        threshold_bps: { at: '/limit', unit: 'mbps' },
        threshold_pps: '/none',
      },
    }
    const [event] = read([{ id: 'a', at: '2026-03-01T11:58:00Z', rate: 300, limit: 75 }], measured)
    assert.deepEqual(event!.parsedData.thresholds, { bps: 75_000_000 })
    assert.deepEqual(event!.parsedData.timeline, [
      { at: '2026-03-01T11:58:00.000Z', signals: ['pending'], bps: 300_000_000 },
    ])
  })

  test('detects whether a body is one event or a list of them', () => {
    const plain = {
      fields: { id: '/id', start: { at: '/t', unit: 'unix' }, bps: { at: '/b', unit: 'kbytes_per_second' } },
    }
    assert.deepEqual(
      read({ id: 7, t: 1_767_225_600, b: 1.5 }, plain).map((event) => [
        event.sourceEventId,
        event.start,
        event.affectedBps,
      ]),
      [['7', new Date('2026-01-01T00:00:00Z'), 12_000]],
    )
    assert.equal(read([{ id: 'a' }, { id: 'b' }], plain).length, 2)
    assert.deepEqual(read({ id: 'a', t: null }, plain)[0]!.start, receivedAt)
  })

  const lost: [string, unknown, unknown, string, string][] = [
    ['no id', [{}], undefined, '/0/id', 'A string is expected, not undefined.'],
    [
      'an invalid network',
      [{ id: 'a', n: '10.0.0.0/33' }],
      { network: '/n' },
      '/0/n',
      'The length after "/" is a number from 0 to 32.',
    ],
    ['not an object', ['a'], undefined, '/0', 'An object is expected, not a string.'],
    ['nothing', undefined, undefined, '', 'An object is expected, not undefined.'],
  ]
  for (const [name, body, fields, place, message] of lost) {
    test(`an event without key or network reports what to fix: ${name}`, () => {
      const { events, notes } = noted(body, { fields: { id: '/id', ...(fields as object) } })
      assert.deepEqual([events, notes], [[], [['error', place, message]]])
    })
  }

  const left = 'The value was left out.'
  const details: [string, object, object, string][] = [
    [
      'an unmapped status',
      { v: 'open' },
      { status: '/v' },
      `"open" is unknown; known are pending, ongoing, ended, mitigation_active, mitigation_ended, acknowledged, false_positive. ${left}`,
    ],
    [
      'milliseconds instead of seconds',
      { v: 1_767_225_600_000 },
      { start: { at: '/v', unit: 'unix' } },
      `A time between the years 1980 and 2200 is expected. ${left}`,
    ],
    [
      'time 0',
      { v: 0 },
      { start: { at: '/v', unit: 'unix' } },
      `A time between the years 1980 and 2200 is expected. ${left}`,
    ],
    [
      'an invalid time',
      { v: 'noon' },
      { start: '/v' },
      `An ISO 8601 time is expected, such as 2026-01-31T12:00:00Z. ${left}`,
    ],
    [
      'a start in the future',
      { v: '2026-03-03T00:00:00Z' },
      { start: '/v' },
      'The time 2026-03-03T00:00:00.000Z is more than a day in the future: the time of receipt is used instead.',
    ],
    [
      'an end in the future',
      { v: '2026-03-03T00:00:00Z' },
      { end: '/v' },
      'The time 2026-03-03T00:00:00.000Z is more than a day in the future: the time of receipt is used instead.',
    ],
    ['a rate as text', { v: '12' }, { bps: '/v' }, `A number is expected, not a string. ${left}`],
    [
      'a rate with its unit in the text',
      { v: '12 Mbps' },
      { bps: { at: '/v', text: true } },
      `A decimal number is expected, not "12 Mbps". ${left}`,
    ],
    ['a negative rate', { v: -1 }, { pps: '/v' }, `A number from 0 to 2^53 is expected. ${left}`],
    [
      'an invalid flag',
      { v: ['X'] },
      { flags: '/v' },
      `"X" is unknown; known are INCOMING, OUTGOING, INTERNAL, IPV6, CARPET_BOMB, MULTI_VECTOR, BLACKHOLED. ${left}`,
    ],
    [
      'an unknown direction',
      { v: 'up' },
      { direction: '/v' },
      `"up" is unknown; known are incoming, outgoing, internal. ${left}`,
    ],
    [
      'an invalid country',
      { v: 'Holland' },
      { country: '/v' },
      `Two capital letters are expected, such as NL. ${left}`,
    ],
    [
      'a description that is no text',
      { v: {} },
      { description: '/v' },
      `A string is expected, not an object. ${left}`,
    ],
  ]
  for (const [name, values, fields, message] of details) {
    test(`a detail that cannot be read is left out and noted: ${name}`, () => {
      const mapping = { fields: { id: '/id', network: '/n', ...fields } }
      const { events, notes } = noted([{ id: 'a', n: '203.0.113.7', ...values }], mapping)
      assert.deepEqual(notes, [['warning', '/0/v', message]])
      assert.deepEqual(
        events.map((event) => [event.sourceEventId, event.affectedNetwork, event.start]),
        [['a', '203.0.113.7/32', receivedAt]],
      )
    })
  }

  test('one bad event of a batch does not lose the others', () => {
    const { events, notes } = noted(
      [{ id: 'a', n: '203.0.113.7' }, { n: '203.0.113.8' }, 7, { id: 'd', n: ['x', '203.0.113.9'] }],
      { fields: { id: '/id', network: '/n' } },
    )
    assert.deepEqual(
      events.map((event) => [event.sourceEventId, event.affectedNetwork]),
      [
        ['a', '203.0.113.7/32'],
        ['d', '203.0.113.9/32'],
      ],
    )
    assert.deepEqual(
      notes.map(([severity, place]) => [severity, place]),
      [
        ['error', '/1/id'],
        ['error', '/2'],
        ['warning', '/3/n/0'],
      ],
    )
  })

  test('the notes of a delivery are limited, errors first', () => {
    const items = Array.from({ length: 300 }, (_, at) => (at === 299 ? {} : { id: `${at}`, s: 'x' }))
    const { notes } = noted(items, { fields: { id: '/id', network: '/n', status: '/s' } })
    assert.equal(notes.length, 100)
    assert.equal(notes[0]![1], '/299/id')
    assert.equal(notes[99]![2], '500 further notes are not listed.')
  })

  test('a composed id separates the attacks of one alert, and the end finds its attack', () => {
    const mapping = {
      fields: { id: ['/fingerprint', '/startsAt'], start: '/startsAt', end: '/endsAt', status: '/status' },
      words: { status: { firing: ['ongoing'], resolved: ['ended'] } },
    }
    const alert = (startsAt: string, endsAt?: string) => ({
      fingerprint: 'f1',
      startsAt,
      ...(endsAt === undefined ? { status: 'firing' } : { status: 'resolved', endsAt }),
    })
    const events = merged(
      mapping,
      [alert('2026-03-01T08:00:00Z')],
      [alert('2026-03-01T08:00:00Z', '2026-03-01T08:30:00Z')],
      // The same time in another zone and precision.
      [alert('2026-03-01T11:00:00.000+01:00')],
      [alert('2026-03-01T10:00:00Z')],
    )
    assert.deepEqual(
      events.map((event) => [event.sourceEventId, event.status, event.end?.toISOString() ?? null]),
      [
        ['f1|2026-03-01T08:00:00.000Z', ['EVENT_ENDED'], '2026-03-01T08:30:00.000Z'],
        ['f1|2026-03-01T10:00:00.000Z', ['EVENT_ONGOING'], null],
      ],
    )
  })

  test('composed ids of different parts differ, and a long one is hashed', () => {
    const ids = (id: unknown, ...bodies: object[]) =>
      read(bodies, { fields: { id } }).map((event) => event.sourceEventId)
    assert.deepEqual(ids(['/a', '/b'], { a: 'x|y', b: 'z' }, { a: 'x', b: 'y|z' }, { a: 7, b: 'z' }), [
      'x\\|y|z',
      'x|y\\|z',
      '7|z',
    ])
    const [long, other] = ids(['/a', '/b'], { a: 'x'.repeat(300), b: '1' }, { a: 'x'.repeat(300), b: '2' })
    assert.match(long!, /^sha256:[0-9a-f]{64}$/)
    assert.notEqual(long, other)
    assert.match(ids({ at: '/a', hash: true }, { a: 'secret name' })[0]!, /^sha256:/)
    const { notes } = noted([{ a: 'x' }], { fields: { id: ['/a', '/b'] } })
    assert.deepEqual(notes, [['error', '/0/b', 'A string is expected, not undefined.']])
  })

  test('lists inside of lists are unwrapped, and events that meet a condition are ignored', () => {
    const mapping = {
      events: ['/groups', '/alerts'],
      ignore: [
        { at: '/severity', is: ['info', 'debug'] },
        { at: '/kind', not: ['attack'] },
        { at: '/target', absent: true },
      ],
      fields: { id: '/id', network: '/target' },
    }
    const alert = (id: string, fields: object = {}) => ({
      id,
      severity: 'high',
      kind: 'attack',
      target: '203.0.113.7',
      ...fields,
    })
    const body = {
      groups: [
        { alerts: [alert('a'), alert('b', { severity: 'info' })] },
        { alerts: [] },
        { alerts: [alert('c', { kind: 'link' }), alert('d', { target: '' }), alert('e')] },
      ],
    }
    const { events, notes } = noted(body, mapping)
    assert.deepEqual(
      events.map(({ sourceEventId }) => sourceEventId),
      ['a', 'e'],
    )
    assert.deepEqual(notes, [
      ['info', '/groups/0/alerts/1', 'Ignored by the settings: /severity is "info", "debug".'],
      ['info', '/groups/2/alerts/0', 'Ignored by the settings: /kind not "attack".'],
      ['info', '/groups/2/alerts/1', 'Ignored by the settings: /target absent true.'],
    ])
    assert.deepEqual(noted({ groups: [] }, mapping).notes, [
      ['info', '', 'The delivery contains no events, as a test message of a detector does.'],
    ])
  })

  test('the first field that is present, the text before a character, and numbers in text form', () => {
    const mapping = {
      fields: {
        id: '/id',
        network: { first: ['/a', '/b'], until: '@' },
        bps: { at: '/rate', unit: 'kbps', text: true },
      },
    }
    const [event] = read([{ id: 'x', a: '', b: '203.0.113.7@12', rate: ' 12.5 ' }], mapping)
    assert.deepEqual([event!.affectedNetwork, event!.affectedBps], ['203.0.113.7/32', 12_500])
  })

  test('an open event whose end is the time at which it expires stays open', () => {
    const mapping = {
      fields: { id: '/id', network: '/n', end: '/end', status: '/s' },
      words: { status: { firing: ['ongoing'], resolved: ['ended'] } },
    }
    const alert = (s: string, end: string) => [{ id: 'a', n: '203.0.113.7', s, end }]
    const open = noted(alert('firing', '2026-03-05T12:00:00Z'), mapping)
    assert.deepEqual([open.events[0]!.status, open.notes[0]![0]], [['EVENT_ONGOING'], 'info'])
    const [closed] = read(alert('resolved', '2026-03-01T12:04:00Z'), mapping)
    assert.deepEqual(closed!.end, new Date('2026-03-01T12:04:00Z'))
  })

  const mistakes: [string, unknown, RegExp][] = [
    ['no fields', {}, /^settings\.fields: an object is expected/],
    ['no id', { fields: {} }, /^settings\.fields\.id: is missing/],
    ['no part of an id', { fields: { id: [] } }, /^settings\.fields\.id: at least one JSON pointer/],
    [
      'a part that is no pointer',
      { fields: { id: ['/a', 'b'] } },
      /^settings\.fields\.id\.1: a JSON pointer/,
    ],
    [
      'a condition without a test',
      { fields: { id: '/id' }, ignore: [{ at: '/a' }] },
      /^settings\.ignore\.0: \{ at, is \}/,
    ],
    [
      'an unknown test',
      { fields: { id: '/id' }, ignore: [{ at: '/a', like: 'x' }] },
      /^settings\.ignore\.0: \{ at, is \}/,
    ],
    ['no event pointer', { events: [], fields: { id: '/id' } }, /^settings\.events: at least one/],
    [
      'an empty end of a text',
      { fields: { id: '/id', network: { at: '/n', until: '' } } },
      /^settings\.fields\.network\.until: the text before/,
    ],
    [
      'an unknown field',
      { fields: { id: '/id', ip: '/ip' } },
      /^settings\.fields\.ip: is unknown; known are id, network/,
    ],
    [
      'an unknown unit',
      { fields: { id: '/id', bps: { at: '/b', unit: 'MB' } } },
      /^settings\.fields\.bps\.unit: one of bps/,
    ],
    [
      'a unit for a field without one',
      { fields: { id: '/id', network: { at: '/n', unit: 'bps' } } },
      /network\.unit: this field has no unit/,
    ],
    ['not a pointer', { fields: { id: 'id' } }, /^settings\.fields\.id: a JSON pointer is expected/],
    ['a bad escape', { fields: { id: '/a~2' } }, /^settings\.fields\.id: a JSON pointer is expected/],
    [
      'both value and pointer',
      { fields: { id: '/id', network: { at: '/n', value: 1 } } },
      /\{ first \} or \{ value \}/,
    ],
    ['an unknown setting', { fields: { id: '/id' }, map: {} }, /^settings\.map: is unknown/],
    [
      'an unknown word',
      { fields: { id: '/id' }, words: { status: { up: 'over' } } },
      /^settings\.words\.status\.up: one or several of pending/,
    ],
    [
      'an unknown class',
      { fields: { id: '/id' }, words: { classification: { x: 'y' } } },
      /a key of the dictionary/,
    ],
    [
      'unknown words',
      { fields: { id: '/id' }, words: { colour: {} } },
      /^settings\.words\.colour: is unknown/,
    ],
  ]
  for (const [name, given, message] of mistakes) {
    test(`settings report what to fix: ${name}`, () => {
      assert.throws(() => generic.createNormaliser(given), { name: 'NormaliseError', message })
    })
  }
})
