// Any body gives observations that can be merged and stored, or errors; never a crash or a hang. A delivery whose key and
// network survive always gives its event, whatever else is changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { RelatedEventDetail } from '@pharos/contract/events/event'
import { Compile } from 'typebox/compile'
import { deliveryNoteCodes, noteText } from '@pharos/contract/events/delivery-note'
import { canonicalJson } from '../event/json.ts'
import type { Json } from '../event/json.ts'
import { mergeObservation } from '../event/event.ts'
import type { EventObservation } from '../event/event.ts'
import { renderEvent } from '../relate/event-json.ts'
import { fixture, fixtureNames } from './fixtures.ts'
import { sources } from './index.ts'
import { createNotes } from './notes.ts'
import { NormaliseError } from './source.ts'
import type { Normaliser } from './source.ts'
import { cpuMs } from '../../net/testing-time.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(20_000)
const seed = Number(process.env.PHAROS_TEST_SEED ?? 1)
const receivedAt = new Date('2026-03-01T12:00:00Z')

/** mulberry32: small, and the same sequence for the same seed. */
function createRandom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const strange: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  9_007_199_254_740_991,
  9_007_199_254_740_994,
  '',
  ' ',
  '0',
  '\0',
  '\ud800',
  'a\0b',
  'x'.repeat(5_000),
  '203.0.113.77',
  '203.0.113.77/24',
  '0.0.0.0/0',
  '::/0',
  '::ffff:1.2.3.4',
  '2001:db8::1',
  '1.2.3',
  '01.2.3.4',
  '1.2.3.4/33',
  'fe80::1%eth0',
  'ban',
  'unban',
  'host',
  'hostgroup',
  'toString',
  '__proto__',
  'incoming',
  'tcp',
  '2026-02-31T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '2026-01-01',
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  Array.from({ length: 3_000 }, () => '10.0.0.0/8'),
  { '': { '': 1 } },
]

function mutate(value: unknown, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  if (typeof value !== 'object' || value === null || random() < 0.05) return pick(strange)
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value }
  const keys = Object.keys(copy)
  if (keys.length === 0 || random() < 0.1) {
    Reflect.set(copy, pick(['0', 'ip', 'action', '__proto__x', 'packet_dump', 'alerts', 'x']), pick(strange))
    return copy
  }
  const key = pick(keys)
  const fields = copy as Record<string, unknown>
  if (random() >= 0.15) fields[key] = mutate(fields[key], random)
  else if (Array.isArray(copy)) copy.splice(Number(key), 1)
  else delete fields[key]
  return copy
}

const detail = Compile(RelatedEventDetail)

/** Returns the checked observations; an empty list if the body is rejected. */
function check(normalise: Normaliser, body: unknown): readonly EventObservation[] {
  const notes = createNotes(receivedAt)
  let observations
  try {
    observations = normalise(body, notes)
  } catch (error) {
    if (!(error instanceof NormaliseError)) throw error
    assert.ok(error.message.length > 5 && error.message.length < 2_000, 'the message explains what to fix')
    return []
  }
  for (const note of notes.list()) {
    const text = noteText(note)
    assert.ok(deliveryNoteCodes.includes(note.code) && text.length > 5 && text.length < 2_000, text)
    assert.ok(canonicalJson(note.attrs as Json).isWellFormed() && !JSON.stringify(note).includes('\\u0000'))
  }
  for (const observation of observations) {
    const event = mergeObservation(undefined, observation, { key: 'fuzz', defaults: {} })
    const text = canonicalJson(event as unknown as Json)
    assert.ok(text.isWellFormed() && !text.includes('\\u0000'), 'PostgreSQL takes it')
    assert.ok(text.length < 400_000, 'the text is bounded')
    const message = canonicalJson(observation.message?.())
    assert.ok(message.length < 200_000 && message.isWellFormed() && !message.includes('\\u0000'))
    assert.ok(Number.isSafeInteger(event.affectedBps) && Number.isSafeInteger(event.affectedPps))
    assert.ok(event.affectedBps >= 0 && event.affectedPps >= 0)
    assert.ok(event.start.getTime() > 0 && (event.end === null || event.end >= event.start))
    const latest = receivedAt.getTime() + 24 * 3_600_000
    assert.ok(event.start.getTime() <= latest && (event.end?.getTime() ?? 0) <= latest, 'not in the future')
    const record = JSON.parse(`${renderEvent(event, null)}}`) as object
    const answer = {
      ...record,
      parsed_data: { ...event.parsedData, source: observation.message?.() },
      has_attachment: event.hasAttachment,
    }
    assert.ok(detail.Check(answer), `it matches the API schema:  ${JSON.stringify(detail.Errors(answer))}`)
    assert.ok(event.sourceEventId !== '' && event.sourceEventId.length <= 200)
  }
  return observations
}

/** Settings, and the pointers of the key and the network of an event of each kind. */
const kinds: Record<string, { settings: unknown; essential: readonly string[] }> = {
  flows: { settings: {}, essential: ['id', 'network'] },
  fastnetmon: { settings: {}, essential: ['attack_details/attack_uuid', 'ip', 'hostgroup_networks'] },
  'fastnetmon-community': { settings: {}, essential: ['ip', 'incident'] },
  alertmanager: {
    settings: {},
    essential: ['alerts/*/fingerprint', 'alerts/*/startsAt', 'alerts/*/labels/network'],
  },
  sightline: {
    settings: {},
    essential: [
      'data/id',
      'data/attributes/subobject/host_address',
      'data/*/id',
      'data/*/attributes/subobject/host_address',
      'data/*/attributes/alert_class',
    ],
  },
  generic: {
    settings: fixture('generic-settings'),
    essential: ['alerts/*/fingerprint', 'alerts/*/labels/target'],
  },
}
const names = Object.keys(sources)

/** Returns the body with the values that `original` has at the path, creating or replacing objects and lists on the way. */
function restore(body: unknown, original: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path
  if (name === undefined) return original
  if (typeof original !== 'object' || original === null) return body
  if (Array.isArray(original) !== (name === '*')) return body
  if (Array.isArray(original)) {
    const items = Array.isArray(body) ? body : []
    return original.map((one, at) => restore(items[at], one, rest))
  }
  const from = original as Record<string, unknown>
  const isFields = typeof body === 'object' && body !== null && !Array.isArray(body)
  const fields: Record<string, unknown> = isFields ? { ...body } : {}
  // A value that the original does not have is removed: it would be another network.
  if (from[name] === undefined) delete fields[name]
  else fields[name] = restore(fields[name], from[name], rest)
  return fields
}

const essence = (observations: readonly EventObservation[]): string[] =>
  observations
    .filter(({ networks }) => networks.length > 0)
    .map(({ sourceEventId, networks }) => `${sourceEventId} ${networks.toSorted().join()}`)

for (const source of Object.values(sources)) {
  test(`${source.kind}: ${runs} mutated deliveries`, () => {
    const random = createRandom(seed)
    const { settings, essential } = kinds[source.kind]!
    const normalise = source.createNormaliser(settings)
    const bodies = fixtureNames(source.kind, names).map(fixture)
    assert.ok(bodies.length > 0)
    const expected = bodies.map((body) => essence(check(normalise, body)))
    assert.ok(expected.some((events) => events.length > 0))
    let slowestMs = 0
    for (let run = 0; run < runs; run++) {
      const original = bodies[run % bodies.length]
      let body: unknown = original
      for (let change = 1 + Math.floor(random() * 4); change > 0; change--) body = mutate(body, random)
      const surviving = essential.reduce((one, path) => restore(one, original, path.split('/')), body)
      const before = cpuMs()
      try {
        if (!isDeepStrictEqual(body, surviving)) check(normalise, body)
        const events = essence(check(normalise, surviving))
        for (const event of expected[run % bodies.length]!) {
          assert.ok(events.includes(event), `${event} is not among ${events.join('; ')}`)
        }
      } catch (error) {
        throw new Error(`run ${run} of seed ${seed}: ${JSON.stringify(surviving)?.slice(0, 2_000)}`, {
          cause: error,
        })
      }
      slowestMs = Math.max(slowestMs, cpuMs() - before)
    }
    assert.ok(slowestMs < 5_000, `the slowest took ${slowestMs} ms`)
  })
}

test('a body of ten megabytes is parsed or rejected fast enough for the loop', () => {
  const line = 'x'.repeat(1_000)
  const ban = {
    ...fixture('fastnetmon-ban'),
    packet_dump: Array.from({ length: 10_000 }, () => line),
    packet_dump_detailed: [],
  }
  const alerts = {
    alerts: Array.from({ length: 10_000 }, (_, i) => ({ fingerprint: `f${i}`, status: 'firing', x: line })),
  }
  const before = cpuMs()
  check(sources.fastnetmon!.createNormaliser({}), ban)
  check(sources.generic!.createNormaliser(kinds['generic']!.settings), alerts)
  assert.ok(cpuMs() - before < 20_000)
})
