// Any body gives observations that can be merged and stored, or a NormaliseError; never a crash or a hang.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RelatedEventDetail } from '@pharos/contract/analysis'
import { Compile } from 'typebox/compile'
import { canonicalJson } from '../json.ts'
import type { Json } from '../json.ts'
import { mergeObservation } from '../event.ts'
import { renderEvent } from '../event-json.ts'
import { fixture, fixtureNames } from './fixtures.ts'
import { sources } from './index.ts'
import { NormaliseError } from './source.ts'
import type { Normaliser } from './source.ts'
import { cpuMs } from '../../net/testing-time.ts'

const runs = 50_000 * (process.env.PHAROS_TEST_LONG ? 100 : 1)
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

function check(normalise: Normaliser, body: unknown): void {
  let observations
  try {
    observations = normalise(body, receivedAt)
  } catch (error) {
    if (!(error instanceof NormaliseError)) throw error
    assert.ok(error.message.length > 5 && error.message.length < 2_000, 'the message explains what to fix')
    return
  }
  for (const observation of observations) {
    const event = mergeObservation(undefined, observation, { key: 'fuzz', defaults: {} })
    const text = canonicalJson(event as unknown as Json)
    assert.ok(text.isWellFormed() && !text.includes('\\u0000'), 'PostgreSQL takes it')
    assert.ok(text.length < 400_000, 'the text is bounded')
    assert.ok(Number.isSafeInteger(event.affectedBps) && Number.isSafeInteger(event.affectedPps))
    assert.ok(event.affectedBps >= 0 && event.affectedPps >= 0)
    assert.ok(event.start.getTime() > 0 && (event.end === null || event.end >= event.start))
    const record = JSON.parse(`${renderEvent(event, null)}}`) as object
    const answer = { ...record, parsed_data: event.parsedData, has_attachment: event.hasAttachment }
    assert.ok(detail.Check(answer), `it matches the API schema:  ${JSON.stringify(detail.Errors(answer))}`)
    assert.ok(event.sourceEventId !== '' && event.sourceEventId.length <= 200)
  }
}

const settings: Record<string, unknown> = { fastnetmon: {}, generic: fixture('generic-settings') }

for (const source of Object.values(sources)) {
  test(`${source.kind}: ${runs} mutated deliveries`, () => {
    const random = createRandom(seed)
    const normalise = source.createNormaliser(settings[source.kind])
    const bodies = fixtureNames(`${source.kind}-`)
      .filter((name) => !name.endsWith('-settings'))
      .map(fixture)
    assert.ok(bodies.length > 0)
    let slowestMs = 0
    for (let run = 0; run < runs; run++) {
      let body: unknown = bodies[run % bodies.length]
      for (let change = 1 + Math.floor(random() * 4); change > 0; change--) body = mutate(body, random)
      const before = cpuMs()
      try {
        check(normalise, body)
      } catch (error) {
        throw new Error(`run ${run} of seed ${seed}: ${JSON.stringify(body)?.slice(0, 2_000)}`, {
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
  check(sources.generic!.createNormaliser(settings.generic), alerts)
  assert.ok(cpuMs() - before < 20_000)
})
