// The table of the schedule, and 10,000 random sequences of events against the fields that it replaced, which are the model here.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  afterEvent,
  firstSchedule,
  fullAfterMs,
  fullAfterMsMax,
  nextRun,
  retryAfterMs,
  type NextRun,
  type Schedule,
  type ScheduleEvent,
} from './schedule.ts'

const intervalMs = 30_000

/** What a region needs of its schedule. */
interface Subject {
  /** When the timer fires. */
  readonly timerMs: number | undefined
  next(nowMs: number, isSameLease: boolean): NextRun
  start(): void
  readAll(): void
  fire(): void
  finish(outcome: FullOutcome | 'failed', nowMs: number): void
  finishQuickly(full: QuickOutcome, nowMs: number): void
}

type FullOutcome = 'read' | 'readPartly' | 'preempted'
type QuickOutcome = 'none' | 'soon' | 'now' | 'failed'

class Tabled implements Subject {
  #schedule: Schedule = firstSchedule
  timerMs: number | undefined

  next(nowMs: number, isSameLease: boolean): NextRun {
    if (!isSameLease) this.#after('readAll', nowMs)
    return nextRun(this.#schedule, nowMs)
  }
  start = () => this.#after('started', 0)
  readAll = () => this.#after('readAll', 0)
  fire(): void {
    this.timerMs = undefined
    this.#after('timer', 0)
  }
  finish = (outcome: FullOutcome | 'failed', nowMs: number) => this.#after(outcome, nowMs)
  finishQuickly(full: QuickOutcome, nowMs: number): void {
    const events = { none: undefined, soon: 'changed', now: 'readAll', failed: 'failed' } as const
    const event = events[full]
    if (event) this.#after(event, nowMs)
  }

  #after(event: ScheduleEvent, nowMs: number): void {
    const { schedule, fullInMs } = afterEvent(this.#schedule, event, nowMs, intervalMs)
    this.#schedule = schedule
    if (fullInMs !== undefined) this.timerMs = nowMs + fullInMs
  }
}

class Fields implements Subject {
  #isKnown = false
  #fullDue: 'now' | 'later' | undefined
  #changedMs: number | undefined
  #failedRuns = 0
  timerMs: number | undefined

  next(nowMs: number, isSameLease: boolean): NextRun {
    const isKnown = this.#isKnown && isSameLease
    if (isKnown && !this.#fullDue) return { kind: 'quick' }
    const isOverdue = this.#changedMs !== undefined && nowMs - this.#changedMs >= fullAfterMsMax
    return { kind: 'full', isPreemptible: this.#fullDue === 'later' && isKnown && !isOverdue }
  }
  start(): void {
    this.#fullDue = undefined
  }
  readAll(): void {
    this.#fullDue = 'now'
  }
  fire(): void {
    this.timerMs = undefined
    this.#fullDue ??= 'later'
  }
  finish(outcome: FullOutcome | 'failed', nowMs: number): void {
    if (outcome === 'failed') return this.#fail(nowMs)
    if (outcome === 'preempted') return this.#fullSoon(nowMs)
    this.#isKnown = true
    this.#failedRuns = 0
    this.#changedMs = undefined
    if (outcome === 'readPartly') this.#fullSoon(nowMs)
    else this.timerMs = nowMs + intervalMs
  }
  finishQuickly(full: QuickOutcome, nowMs: number): void {
    if (full === 'now') this.readAll()
    if (full === 'soon') this.#fullSoon(nowMs)
    if (full === 'failed') this.#fail(nowMs)
  }

  #fail(nowMs: number): void {
    this.#isKnown = false
    this.timerMs = nowMs + Math.min(retryAfterMs * 2 ** this.#failedRuns++, intervalMs)
  }
  #fullSoon(nowMs: number): void {
    this.#changedMs ??= nowMs
    this.timerMs = nowMs + Math.min(fullAfterMs, this.#changedMs + fullAfterMsMax - nowMs, intervalMs)
  }
}

type Between = { readonly afterMs: number; readonly readAll: boolean }
type Step = Between & {
  readonly isSameLease: boolean
  /** While the run is under way. */
  readonly during: Between
  readonly full: FullOutcome | 'failed'
  readonly quick: QuickOutcome
}

const between = fc.record({
  afterMs: fc.oneof(fc.nat(3_000), fc.constantFrom(0, fullAfterMs, fullAfterMsMax, intervalMs)),
  readAll: fc.boolean(),
})
const rarely = fc.integer({ min: 0, max: 7 }).map((one) => one > 0)
const step: fc.Arbitrary<Step> = fc
  .tuple(between, between, rarely, rarely)
  .chain(([before, during, isSameLease, isQuiet]) =>
    fc.record({
      afterMs: fc.constant(before.afterMs),
      readAll: fc.constant(before.readAll && !isQuiet),
      isSameLease: fc.constant(isSameLease),
      during: fc.constant({ ...during, readAll: during.readAll && !isQuiet }),
      full: fc.constantFrom<Step['full']>('read', 'read', 'read', 'readPartly', 'preempted', 'failed'),
      quick: fc.constantFrom<QuickOutcome>('none', 'soon', 'soon', 'now', 'failed'),
    }),
  )

/** Returns which runs begin, and the times of the timer. */
function play(subject: Subject, steps: readonly Step[], met?: Set<string>): unknown[] {
  const seen: unknown[] = []
  let nowMs = 0
  const pass = ({ afterMs, readAll }: Between): void => {
    nowMs += afterMs
    if (subject.timerMs !== undefined && subject.timerMs <= nowMs) subject.fire()
    if (readAll) subject.readAll()
  }
  for (const one of steps) {
    pass(one)
    const next = subject.next(nowMs, one.isSameLease)
    met?.add(JSON.stringify(next))
    seen.push(next)
    if (next.kind === 'full') subject.start()
    pass(one.during)
    if (next.kind === 'quick') subject.finishQuickly(one.quick, nowMs)
    else subject.finish(one.full === 'preempted' && !next.isPreemptible ? 'read' : one.full, nowMs)
    seen.push(subject.timerMs)
  }
  return seen
}

describe('the schedule of a region', () => {
  it('is that of the fields before it, in 10,000 sequences', () => {
    const met = new Set<string>()
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        assert.deepEqual(play(new Tabled(), steps, met), play(new Fields(), steps))
      }),
      { numRuns: 10_000 },
    )
    assert.equal(met.size, 3, 'every kind of run')
  })

  const schedule = (state: Schedule['state'], changedMs?: number): Schedule => ({
    state,
    changedMs,
    failedRuns: 0,
  })

  it('begins with a full run that nothing preempts', () => {
    assert.deepEqual(nextRun(firstSchedule, 0), { kind: 'full', isPreemptible: false })
  })

  it('reads again if it must while a full run is under way', () => {
    let { schedule: at } = afterEvent(firstSchedule, 'started', 0, intervalMs)
    at = afterEvent(at, 'readAll', 1, intervalMs).schedule
    at = afterEvent(at, 'read', 2, intervalMs).schedule
    assert.deepEqual(nextRun(at, 3), { kind: 'full', isPreemptible: false })
  })

  it('lets changes preempt a full run for 15 seconds', () => {
    assert.deepEqual(
      [fullAfterMsMax - 1, fullAfterMsMax].map((nowMs) => nextRun(schedule('due', 0), nowMs)),
      [
        { kind: 'full', isPreemptible: true },
        { kind: 'full', isPreemptible: false },
      ],
    )
  })

  it('delays the full run with each change of a burst, and not beyond 15 seconds', () => {
    const delays: (number | undefined)[] = []
    let at = schedule('known')
    for (const nowMs of [0, 1_000, 14_000, 15_000]) {
      const next = afterEvent(at, 'changed', nowMs, intervalMs)
      delays.push(next.fullInMs)
      at = next.schedule
    }
    assert.deepEqual(delays, [1_500, 1_500, 1_000, 0])
  })

  it('doubles the delay of each failed run up to the interval', () => {
    const delays: (number | undefined)[] = []
    let at = schedule('known')
    for (let run = 0; run < 7; run++) {
      const next = afterEvent(at, 'failed', 0, intervalMs)
      delays.push(next.fullInMs)
      at = next.schedule
    }
    assert.deepEqual(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })
})
