import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AuditEntry, RefusedCall } from '../db/audit.ts'
import { Refusals } from './refusals.ts'

const about = {
  teamId: 1,
  actor: 'user:7',
  action: 'authorization.refuse',
  target: 'updateTeam:1',
  requestId: 'first',
}
const aRefusal: RefusedCall = { ...about, code: 'forbidden' }

function setUp() {
  const clock = { now: 0, fails: false }
  const written: AuditEntry[] = []
  const warned: unknown[] = []
  const refusals = new Refusals({
    write: async (entries) => {
      if (clock.fails) throw new Error('the database is unreachable')
      written.push(...entries)
    },
    log: { warn: ((about: unknown) => void warned.push(about)) as never },
    now: () => clock.now,
  })
  return {
    clock,
    written,
    warned,
    refusals,
    counts: () => written.map(({ after }) => (after as { count: number }).count),
  }
}

describe('refusals', () => {
  it('writes the first at once, and those of the next minute as one entry with a count', async () => {
    const { clock, written, refusals, counts } = setUp()
    refusals.note(aRefusal)
    await refusals.flush()
    assert.deepEqual(written, [{ ...about, after: { code: 'forbidden', count: 1 } }])
    for (let at = 0; at < 500; at++) refusals.note({ ...aRefusal, requestId: String(at) })
    clock.now = 59_999
    await refusals.flush()
    assert.deepEqual(counts(), [1])
    clock.now = 60_000
    await refusals.flush()
    assert.deepEqual(counts(), [1, 500])
    clock.now = 200_000
    await refusals.flush()
    refusals.note(aRefusal)
    await refusals.flush()
    assert.deepEqual(counts(), [1, 500, 1])
  })

  it('counts separately by actor, action, target and code', async () => {
    const { written, refusals } = setUp()
    for (const other of [
      {},
      { actor: 'token:a' },
      { action: 'token.refuse' },
      { target: 'updateTeam:2' },
      { code: 'scope_missing' },
      { teamId: 2 },
    ])
      refusals.note({ ...aRefusal, ...other })
    await refusals.flush()
    assert.equal(written.length, 6)
  })

  it('have a readable target, whatever a path contains', async () => {
    const { written, refusals } = setUp()
    refusals.note({ ...aRefusal, target: `getZone:a\0b\u001b\ud800${'c'.repeat(300)}` })
    await refusals.flush()
    assert.equal(written[0]!.target, `getZone:a\ufffdb\ufffd\ufffd${'c'.repeat(187)}`)
  })

  it('are not kept out of the log by one that the database does not accept', async () => {
    const written: string[] = []
    const warned: unknown[] = []
    const refusals = new Refusals({
      write: async (entries) => {
        const targets = entries.map(({ target }) => target)
        if (targets.includes('bad'))
          throw Object.assign(new Error('invalid byte sequence'), { code: '22021' })
        written.push(...targets)
      },
      log: { warn: ((about: unknown) => void warned.push(about)) as never },
    })
    for (const target of ['first', 'bad', 'last']) refusals.note({ ...aRefusal, target })
    await refusals.flush()
    assert.deepEqual(written, ['first', 'last'])
    await refusals.stop()
    assert.deepEqual([written, warned.length], [['first', 'last'], 1])
  })

  it('combines the refusals of an actor with too many targets, without affecting other actors', async () => {
    const { written, refusals, counts } = setUp()
    for (let id = 0; id < 10_000; id++) refusals.note({ ...aRefusal, target: `getTeam:${id}` })
    refusals.note({ ...aRefusal, actor: 'user:8' })
    await refusals.flush()
    assert.equal(written.length, 32)
    assert.equal(
      counts().reduce((sum, count) => sum + count),
      10_001,
    )
    assert.deepEqual(
      written.filter(({ target }) => target === 'anything').map(({ actor, after }) => [actor, after]),
      [['user:7', { code: 'forbidden', count: 9_970 }]],
    )
  })

  it('is bounded for any number of actors, and logs the number of omitted refusals', async () => {
    const { written, warned, refusals } = setUp()
    for (let id = 0; id < 5_000; id++) refusals.note({ ...aRefusal, actor: `user:${id}` })
    await refusals.flush()
    assert.equal(written.length, 1_000)
    assert.deepEqual(warned, [{ count: 4_000 }])
  })

  it('accepts new actors after a minute', async () => {
    const { clock, written, warned, refusals } = setUp()
    for (const turn of [0, 1, 2]) {
      clock.now = turn * 60_000
      for (let id = 0; id < 1_000; id++) refusals.note({ ...aRefusal, actor: `user:${turn}-${id}` })
      await refusals.flush()
      clock.now += 60_000
      await refusals.flush()
    }
    assert.deepEqual([written.length, warned.length], [3_000, 0])
  })

  it('keeps refusals that could not be written, and writes them once', async () => {
    const { clock, warned, refusals, counts } = setUp()
    clock.fails = true
    refusals.note(aRefusal)
    refusals.note(aRefusal)
    await refusals.flush()
    assert.deepEqual([counts(), warned.length], [[], 1])
    clock.fails = false
    refusals.note(aRefusal)
    await refusals.flush()
    await refusals.flush()
    assert.deepEqual(counts(), [3])
  })

  it('writes all pending refusals on stop', async () => {
    const { refusals, counts } = setUp()
    refusals.note(aRefusal)
    await refusals.flush()
    refusals.note(aRefusal)
    refusals.note(aRefusal)
    await refusals.stop()
    assert.deepEqual(counts(), [1, 2])
  })

  it('truncates a target that is too long', async () => {
    const { written, refusals } = setUp()
    refusals.note({ ...aRefusal, target: 'x'.repeat(100_000) })
    await refusals.stop()
    assert.equal(written[0]!.target.length, 200)
  })
})
