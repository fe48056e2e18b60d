// The schedule of the runs of one region, pure: which kind of run is next, and when a full run is due. A run is quick if a full one under the
// same lease has succeeded and none is due. Reading a large region takes time: a full run that was only due by time is preempted by rows
// that change meanwhile, unless changes have waited for it too long.

/**
 * - `unread`: the region must be read; the next run is full and cannot be preempted.
 * - `known`: the last full run succeeded, or is under way; the next run is quick.
 * - `due`: a full run is due by time.
 */
export type ScheduleState = 'unread' | 'known' | 'due'

/**
 * - `failed`: a run failed, or another process has the lock and has not read the routers yet.
 * - `readAll`: a router came up, an approval was decided, the lease is new, or a quick run left work.
 * - `timer`: the time of `fullInMs` has passed.
 * - `started`: a full run begins. What happens from now on concerns the run after it.
 */
type Transition = 'readAll' | 'failed' | 'timer' | 'started'

/**
 * - `read`: a full run succeeded. `readPartly`: another one soon can empty more of former routers.
 * - `changed`: a quick run found rows. `preempted`: a full run ended because rows have changed.
 */
export type ScheduleEvent = Transition | 'read' | 'readPartly' | 'changed' | 'preempted'

export type Schedule = {
  readonly state: ScheduleState
  /** Time of the first change since the last full run, of a monotonic clock in milliseconds; undefined if there is none. */
  readonly changedMs: number | undefined
  readonly failedRuns: number
}

/** Delay of the full run after the last change of a burst, and its maximum after the first one. */
export const fullAfterMs = 1_500
export const fullAfterMsMax = 15_000
/** Delay after a failed run; doubled with every further failure. */
export const retryAfterMs = 1_000

export const firstSchedule: Schedule = { state: 'unread', changedMs: undefined, failedRuns: 0 }

const transitions: Record<ScheduleState, Record<Transition, ScheduleState>> = {
  unread: { readAll: 'unread', failed: 'unread', timer: 'unread', started: 'known' },
  known: { readAll: 'unread', failed: 'unread', timer: 'due', started: 'known' },
  due: { readAll: 'unread', failed: 'unread', timer: 'due', started: 'known' },
}

export type Scheduled = {
  readonly schedule: Schedule
  /** When the timer fires next, in place of the time before; undefined: that stays. */
  readonly fullInMs?: number
}

/** Returns the schedule after an event. `intervalMs`: from a full run to the next one if nothing changes. */
export function afterEvent(
  schedule: Schedule,
  event: ScheduleEvent,
  nowMs: number,
  intervalMs: number,
): Scheduled {
  const { state, failedRuns } = schedule
  switch (event) {
    case 'read':
      return { schedule: { state, changedMs: undefined, failedRuns: 0 }, fullInMs: intervalMs }
    case 'readPartly':
      return soon({ state, changedMs: undefined, failedRuns: 0 }, nowMs, intervalMs)
    case 'changed':
    case 'preempted':
      return soon(schedule, nowMs, intervalMs)
    case 'failed':
      return {
        schedule: { ...schedule, state: transitions[state].failed, failedRuns: failedRuns + 1 },
        fullInMs: Math.min(retryAfterMs * 2 ** failedRuns, intervalMs),
      }
    default:
      return { schedule: { ...schedule, state: transitions[state][event] } }
  }
}

/** After a burst of changes, or during one that lasts too long. */
function soon(schedule: Schedule, nowMs: number, intervalMs: number): Scheduled {
  const changedMs = schedule.changedMs ?? nowMs
  return {
    schedule: { ...schedule, changedMs },
    fullInMs: Math.min(fullAfterMs, changedMs + fullAfterMsMax - nowMs, intervalMs),
  }
}

export type NextRun = { readonly kind: 'quick' } | { readonly kind: 'full'; readonly isPreemptible: boolean }

export function nextRun({ state, changedMs }: Schedule, nowMs: number): NextRun {
  if (state === 'known') return { kind: 'quick' }
  const isOverdue = changedMs !== undefined && nowMs - changedMs >= fullAfterMsMax
  return { kind: 'full', isPreemptible: state === 'due' && !isOverdue }
}
