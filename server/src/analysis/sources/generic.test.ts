import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergeObservation } from '../event.ts'
import { fixture } from './fixtures.ts'
import { generic } from './generic.ts'
import { defaultTexts } from './settings.ts'

const receivedAt = new Date('2026-03-01T12:00:00Z')
const settings = fixture('generic-settings')
const read = (body: unknown, given: unknown = settings) =>
  generic
    .createNormaliser(given)(body, receivedAt)
    .map((observation) =>
      mergeObservation(undefined, observation, { key: 'am', defaults: defaultTexts(given, undefined) }),
    )

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

  const failures: [string, unknown, unknown, RegExp][] = [
    ['no id', [{}], undefined, /^\/0\/id: a string is expected, not undefined/],
    [
      'an unmapped word',
      [{ id: 'a', s: 'open' }],
      { status: '/s' },
      /^\/0\/s: "open" is not among the words/,
    ],
    ['an invalid network', [{ id: 'a', n: '10.0.0.0/33' }], { network: '/n' }, /^\/0\/n: the length after/],
    [
      'milliseconds instead of seconds',
      [{ id: 'a', t: 1_767_225_600_000 }],
      { start: { at: '/t', unit: 'unix' } },
      /^\/0\/t: a time between/,
    ],
    ['an invalid time', [{ id: 'a', t: 'noon' }], { start: '/t' }, /^\/0\/t: an ISO 8601 time/],
    ['an invalid flag', [{ id: 'a', f: ['X'] }], { flags: '/f' }, /^\/0\/f: each of them one of INCOMING/],
    ['an invalid country', [{ id: 'a', c: 'Holland' }], { country: '/c' }, /^\/0\/c: two capital letters/],
    ['not an object', ['a'], undefined, /^\/0: an object is expected, not a string/],
    ['nothing', undefined, undefined, /^an object is expected, not undefined/],
  ]
  for (const [name, body, fields, message] of failures) {
    test(`reports what to fix: ${name}`, () => {
      assert.throws(() => read(body, { fields: { id: '/id', ...(fields as object) } }), {
        name: 'NormaliseError',
        message,
      })
    })
  }

  const mistakes: [string, unknown, RegExp][] = [
    ['no fields', {}, /^settings\.fields: an object is expected/],
    ['no id', { fields: {} }, /^settings\.fields\.id: is missing/],
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
      { fields: { id: { at: '/id', unit: 'bps' } } },
      /id\.unit: this field has no unit/,
    ],
    ['not a pointer', { fields: { id: 'id' } }, /^settings\.fields\.id: a JSON pointer is expected/],
    ['a bad escape', { fields: { id: '/a~2' } }, /^settings\.fields\.id: a JSON pointer is expected/],
    ['both value and pointer', { fields: { id: { at: '/id', value: 1 } } }, /\{ at, unit \} or \{ value \}/],
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
