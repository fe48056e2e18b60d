// Changes of a session from one reading to the next.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bgpResetReasonOf } from '@pharos/contract/reason/bgp-reset-reason'
import type { SeenBgpSession } from './seen-session.ts'
import { advanceSession, type Session } from './session-change.ts'

const seen = (changes: Partial<SeenBgpSession> = {}): SeenBgpSession => ({
  instance: '',
  peer: '192.0.2.130',
  peerAsn: 64_496,
  state: 'established',
  establishedSeconds: 600,
  prefixes: [],
  error: null,
  ...changes,
})
const start = Date.parse('2026-03-01T00:00:00Z')
const minuteMs = 60_000
const holdTimer = { code: 4, subcode: 0, text: 'hold time expired' }

/** Readings of every minute. */
function follow(...readings: readonly SeenBgpSession[]) {
  let session: Session | undefined
  return readings.map((reading, at) => {
    const next = advanceSession(session, reading, start + at * minuteMs)
    session = next.session
    return next
  })
}

test('a session that goes on changes nothing, and its start does not move with the clock of the device', () => {
  const [first, second] = follow(seen(), seen({ establishedSeconds: 661 }))
  assert.equal(first!.change, undefined)
  assert.equal(second!.change, undefined)
  assert.equal(second!.session.establishedMs, start - 600_000)
  assert.equal(second!.session.reset, null)
})

test('a session that ends is reset with the reason of the device, and one that comes back keeps it', () => {
  const [, ended, again] = follow(
    seen(),
    seen({ state: 'idle', establishedSeconds: 5, error: holdTimer }),
    seen({ establishedSeconds: 20 }),
  )
  assert.deepEqual(ended!.change?.reset, { atMs: start + minuteMs, isExact: true, ...holdTimer })
  assert.deepEqual([ended!.change?.before, ended!.change?.after], ['established', 'idle'])
  assert.deepEqual([again!.change?.before, again!.change?.reset], ['idle', null])
  assert.deepEqual(again!.session.reset, { atMs: start + minuteMs, isExact: true, ...holdTimer })
})

test('a session that was reset between two readings is found by its age', () => {
  const [, again] = follow(seen(), seen({ establishedSeconds: 20, error: holdTimer }))
  assert.deepEqual([again!.change?.before, again!.change?.after], ['established', 'established'])
  assert.equal(again!.session.reset?.atMs, start + minuteMs - 20_000)
})

test('a state that the device does not name is no reset', () => {
  const [, unnamed] = follow(seen(), seen({ state: 'unknown', establishedSeconds: null }))
  assert.equal(unnamed!.change, undefined)
  assert.equal(unnamed!.session.reset, null)
})

test('a session that ends while its state is unknown is reset, at the time that the device tells or at none', () => {
  const unknown = seen({ state: 'unknown', establishedSeconds: null })
  const [, , told] = follow(
    seen(),
    unknown,
    seen({ state: 'idle', establishedSeconds: 70, error: holdTimer }),
  )
  const atMs = start + 2 * minuteMs - 70_000
  assert.deepEqual(told!.change?.reset, { atMs, isExact: true, ...holdTimer })
  assert.deepEqual([told!.change?.before, told!.change?.after], ['established', 'idle'])
  const [, , , untold, again] = follow(
    seen(),
    seen({ establishedSeconds: 660 }),
    unknown,
    seen({ state: 'active', establishedSeconds: null }),
    unknown,
  )
  // It was last known to be established a minute after the start.
  const none = { code: 0, subcode: 0, text: '' }
  assert.deepEqual(untold!.change?.reset, { atMs: start + minuteMs, isExact: false, ...none })
  assert.deepEqual(again!.session.reset, untold!.change?.reset)
})

test('a session that goes on over an unknown state changes nothing, and one that came back in it was reset', () => {
  const unknown = seen({ state: 'unknown', establishedSeconds: null })
  const [, , same] = follow(seen(), unknown, seen({ establishedSeconds: 720 }))
  assert.deepEqual([same!.change, same!.session.reset], [undefined, null])
  assert.equal(same!.session.establishedMs, start - 600_000)
  const [, , back] = follow(seen(), unknown, seen({ establishedSeconds: 20 }))
  assert.deepEqual([back!.change?.before, back!.change?.after], ['established', 'established'])
  assert.equal(back!.session.reset?.atMs, start + 2 * minuteMs - 20_000)
  const [, , up] = follow(seen({ state: 'idle' }), unknown, seen({ establishedSeconds: 20 }))
  assert.deepEqual([up!.change?.before, up!.change?.reset], ['idle', null])
})

test('states before it is established are no change, and nor is a session that is seen first', () => {
  const all = follow(seen({ state: 'idle' }), seen({ state: 'active' }), seen({ state: 'disabled' }))
  assert.ok(all.every(({ change }) => change === undefined))
})

test('a NOTIFICATION has a reason', () => {
  const reasons = [
    [0, 0, 'unknown'],
    [6, 1, 'prefix_limit'],
    [6, 99, 'other'],
    [4, 0, 'hold_timer'],
    [2, 2, 'wrong_asn'],
    [3, 1, 'invalid_message'],
    [5, 0, 'other'],
  ] as const
  for (const [code, subcode, reason] of reasons) assert.equal(bgpResetReasonOf(code, subcode), reason)
})
