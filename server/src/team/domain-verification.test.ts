import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  nextDaily,
  nextPending,
  transition,
  type DomainState,
  type DomainCheck,
} from './domain-verification.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const start = new Date('2026-03-01T10:00:00Z')
const later = (ms: number, from = start) => new Date(from.getTime() + ms)

const pending: DomainState = {
  verified: null,
  pendingSince: start,
  lastCheck: null,
  lastCheckResult: null,
  missed: 0,
  due: start,
}
const check = (record: DomainCheck['record'], rest: Partial<DomainCheck> = {}): DomainCheck => ({
  record,
  claimed: false,
  onRequest: false,
  ...rest,
})
const verified = transition(7, pending, check('valid'), start).after

/** Returns the state after these checks, each when it is due. */
function after(state: DomainState, ...checks: DomainCheck[]): DomainState {
  return checks.reduce((before, one) => transition(7, before, one, before.due!).after, state)
}

describe('a pending domain', () => {
  it('is verified as soon as the record is found', () => {
    const result = transition(7, pending, check('valid'), later(hourMs))
    assert.equal(result.kind, 'verify')
    assert.deepEqual(result.after.verified, later(hourMs))
    assert.equal(result.after.lastCheckResult, 'valid')
  })

  it('is not verified if another team has the domain, which is reported', () => {
    const result = transition(7, pending, check('valid', { claimed: true }), start)
    assert.equal(result.kind, 'keep')
    assert.equal(result.after.verified, null)
    assert.equal(result.after.lastCheckResult, 'claimed')
  })

  it('is unverified until the record is found, whichever team has the domain', () => {
    for (const record of ['missing', 'mismatch', 'unavailable'] as const)
      for (const claimed of [true, false]) {
        const { kind, after } = transition(7, pending, check(record, { claimed }), start)
        assert.deepEqual([kind, after.verified, after.lastCheckResult], ['keep', null, record])
      }
  })

  it('is checked within the minute on the first day, hourly from the third on, and for 30 days', () => {
    const waitAt = (age: number) => nextPending(start, later(age))!.getTime() - later(age).getTime()
    for (const age of [0, hourMs, dayMs - 1, dayMs]) assert.ok(waitAt(age) <= 50_000, `${age}`)
    for (const age of [2 * dayMs, 29 * dayMs]) assert.equal(waitAt(age), hourMs)
    assert.ok(waitAt(1.5 * dayMs) > minuteMs && waitAt(1.5 * dayMs) < hourMs)
    assert.equal(nextPending(start, later(30 * dayMs)), null)
  })

  it('can be verified by hand after its checks were stopped', () => {
    const stopped = transition(7, pending, check('missing'), later(31 * dayMs)).after
    assert.equal(stopped.due, null)
    assert.equal(
      transition(7, stopped, check('valid', { onRequest: true }), later(40 * dayMs)).kind,
      'verify',
    )
  })
})

describe('a verified domain', () => {
  it('is checked every day at the same time', () => {
    const days = after(verified, check('valid'), check('valid'))
    assert.equal(days.due!.getTime() - after(verified, check('valid')).due!.getTime(), dayMs)
  })

  it('is checked at a time of day that depends on its row', () => {
    const time = fc.date({ min: new Date('2026-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), time, (id, now) => {
        const due = nextDaily(id, now)
        const wait = due.getTime() - now.getTime()
        assert.ok(wait >= dayMs / 2 - 1 && wait <= 1.5 * dayMs + 1, `${wait}`)
        assert.equal(nextDaily(id, due).getTime() - due.getTime(), dayMs)
      }),
    )
    const hours = new Set(Array.from({ length: 100 }, (_, id) => nextDaily(id + 1, start).getUTCHours()))
    assert.equal(hours.size, 24)
  })

  it('loses its verification after three daily checks in a row without the record', () => {
    const missed = after(verified, check('missing'), check('mismatch'))
    assert.deepEqual(missed.verified, start)
    const { kind, after: lost } = transition(7, missed, check('missing'), missed.due!)
    assert.equal(kind, 'lose')
    assert.equal(lost.verified, null)
    assert.deepEqual(lost.pendingSince, missed.due)
    assert.equal(after(lost, check('valid')).verified !== null, true)
  })

  it('keeps its verification if the record is found again', () => {
    const twice = [check('missing'), check('missing'), check('valid'), check('missing'), check('missing')]
    assert.deepEqual(after(verified, ...twice).verified, start)
  })

  it('does not count as missing without an answer, or after a check on request', () => {
    const silent = after(verified, ...Array.from({ length: 200 }, () => check('unavailable')))
    assert.deepEqual([silent.verified, silent.missed], [start, 0])
    let state = after(verified, check('missing'), check('missing'))
    for (let at = 0; at < 10; at++) {
      const result = transition(
        7,
        state,
        check('missing', { onRequest: true }),
        later(at * hourMs, state.lastCheck!),
      )
      assert.equal(result.kind, 'keep')
      assert.deepEqual(result.after.due, state.due)
      state = result.after
    }
    assert.equal(state.missed, 2)
  })

  it('loses its verification exactly after three misses with nothing but unanswered checks between them', () => {
    const checks = fc.array(
      fc.record({
        record: fc.constantFrom('valid', 'missing', 'mismatch', 'unavailable'),
        claimed: fc.boolean(),
        onRequest: fc.boolean(),
      }),
      { maxLength: 40 },
    ) as fc.Arbitrary<DomainCheck[]>
    fc.assert(
      fc.property(checks, (all) => {
        let [state, misses] = [verified, 0]
        for (const one of all) {
          const { kind, after: next } = transition(7, state, one, state.due!)
          if (one.record === 'valid') misses = 0
          else if (one.record !== 'unavailable' && !one.onRequest) misses++
          assert.equal(kind === 'lose', misses === 3)
          assert.equal(next.verified === null, misses === 3)
          assert.ok(next.due)
          if (kind === 'lose') return
          state = next
        }
      }),
    )
  })
})
