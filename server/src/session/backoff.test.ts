import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  forgottenAfterMs,
  freeFailures,
  judgeAttempt,
  longestWaitMs,
  noFailures,
  waitMsAfter,
  type Failures,
} from './backoff.ts'

const start = Date.UTC(2026, 2, 1)
const gap = fc.oneof(fc.nat(3_000), fc.nat(longestWaitMs * 2), fc.nat(forgottenAfterMs * 2))

/** Returns the admitted attempts among attempts at these intervals, all failing. */
function failAll(gapsMs: readonly number[]): { at: number; known: Failures }[] {
  const through: { at: number; known: Failures }[] = []
  let known = noFailures
  let at = start
  for (const ms of gapsMs) {
    at += ms
    const verdict = judgeAttempt(known, new Date(at))
    if (verdict.kind === 'refused') continue
    known = verdict.next
    through.push({ at, known })
  }
  return through
}

describe('the delay', () => {
  it('is zero for five failures, then doubles from one second to 15 minutes', () => {
    const waits = Array.from({ length: 20 }, (_, failures) => waitMsAfter(failures) / 1000)
    assert.deepEqual(waits, [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900, 900])
    assert.equal(waitMsAfter(1_000_000_000), longestWaitMs)
  })

  it('never decreases with more failures', () => {
    fc.assert(fc.property(fc.nat(), fc.nat(50), (n, more) => waitMsAfter(n + more) >= waitMsAfter(n)))
  })
})

describe('attempts that all fail', () => {
  it('are at least the required delay apart', () => {
    fc.assert(
      fc.property(fc.array(gap, { maxLength: 200 }), (gaps) => {
        const through = failAll(gaps)
        for (const [index, { at }] of through.entries()) {
          const before = through[index - 1]
          if (!before) continue
          assert.ok(at - before.at >= waitMsAfter(before.known.failures))
        }
      }),
    )
  })

  it('are never refused for longer than the maximum delay', () => {
    fc.assert(
      fc.property(fc.array(gap, { maxLength: 100 }), (gaps) => {
        const known = failAll(gaps).at(-1)?.known ?? noFailures
        const later = new Date(known.latest.getTime() + longestWaitMs)
        assert.equal(judgeAttempt(known, later).kind, 'counted')
      }),
    )
  })

  it('return the exact time at which the next one is admitted', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(longestWaitMs), (failures, sinceMs) => {
        const known = { failures, latest: new Date(start) }
        const now = start + sinceMs
        const verdict = judgeAttempt(known, new Date(now))
        if (verdict.kind === 'counted') return
        assert.equal(judgeAttempt(known, new Date(now + verdict.waitMs)).kind, 'counted')
        assert.equal(judgeAttempt(known, new Date(now + verdict.waitMs - 1)).kind, 'refused')
      }),
    )
  })

  it('are limited per day, whatever their timing', () => {
    // A burst of five, 1 + 2 + ... + 512 s for the next ten, then one every 15 minutes.
    const most = freeFailures + 10 + Math.ceil(forgottenAfterMs / longestWaitMs)
    fc.assert(
      fc.property(fc.array(fc.nat(120_000), { minLength: 500, maxLength: 800 }), (gaps) => {
        const through = failAll(gaps).filter(({ at }) => at - start < forgottenAfterMs)
        assert.ok(through.length <= most, `${through.length}`)
      }),
      { numRuns: 30 },
    )
  })

  it('expire a day after the latest', () => {
    const known = { failures: 30, latest: new Date(start) }
    const verdict = judgeAttempt(known, new Date(start + forgottenAfterMs))
    assert.deepEqual(verdict, {
      kind: 'counted',
      next: { failures: 1, latest: new Date(start + forgottenAfterMs) },
    })
  })

  it('do not wait longer if a clock was set back', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(forgottenAfterMs * 3), (failures, backMs) => {
        const verdict = judgeAttempt({ failures, latest: new Date(start) }, new Date(start - backMs))
        assert.ok(verdict.kind === 'counted' || verdict.waitMs <= longestWaitMs)
      }),
    )
  })
})
