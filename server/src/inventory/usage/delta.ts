// The increase of an interface's counters between two readings, or the reason why it is unknown. A dropped increase is missing,
// not zero. It must not guess: a spike is never stored.
import { type CounterName, type CounterRow, type CounterValues, mapCounters } from './reading.ts'

export type DropReason =
  /** sysUpTime went back. */
  | 'restart'
  /** ifCounterDiscontinuityTime changed (RFC 2863). */
  | 'discontinuity'
  /** The MAC address or the type of the interface changed. */
  | 'replaced'
  /** A counter went back, and a wrap cannot explain it. */
  | 'counter_back'
  /** More octets than the port can transfer in that time. */
  | 'too_fast'
  /** Octets stood still while packets were counted. */
  | 'stale'
  /** Readings more than 15 minutes apart. */
  | 'gap'
  /** The clocks of the device and of this machine disagree, or this machine's went back. */
  | 'clock'
  /** The readings have different counters: of another size, or one reading has no octets. */
  | 'other_counters'

export type CountedDelta = {
  readonly kind: 'counted'
  /** By this machine's clock, whole ms since 1970. */
  readonly startMs: number
  readonly endMs: number
  readonly values: CounterValues
  /** From 32-bit counters, which may have wrapped more than once. */
  readonly isApproximate: boolean
  /** A clock was set by more than 5 s in between. */
  readonly isClockStep: boolean
}

export type DroppedDelta = {
  readonly kind: 'dropped'
  readonly reason: DropReason
  /** With `gap`: the increase, for billing by volume; its distribution over time is unknown. */
  readonly values: CounterValues | null
}

export type PortFacts = {
  /** Null: unknown. */
  readonly speedBps: number | null
  /** The MAC address or type of the interface changed between the readings. */
  readonly isReplaced: boolean
}

const gapMaxMs = 15 * 60_000
const clockStepMs = 5_000
/** sysUpTime is a TimeTicks value of 32 bits: it wraps after 497 days (RFC 2578 section 7.1.8). */
const uptimeModulus = 2 ** 32
const counter32Modulus = 2n ** 32n
/** No port is faster. */
const limitBps = 100e12
/** Fewer may have come between the reading of one counter and that of another one. */
const stalePackets = 10n
/** A frame of Ethernet has at least 64 octets, and 20 of preamble and gap. */
const frameBitsMin = 84 * 8

/** Returns the increase from one reading of an interface to the next one. */
export function deltaOf(before: CounterRow, after: CounterRow, port: PortFacts): CountedDelta | DroppedDelta {
  const [startMs, endMs] = [Math.round(before.at), Math.round(after.at)]
  const deviceMs = deviceGapMs(before, after)
  const interval = { gapMs: Math.max(endMs - startMs, deviceMs), speedBps: port.speedBps }
  const reason = port.isReplaced ? 'replaced' : clockProblem(endMs - startMs, before, after)
  if (reason) return dropped(reason)
  if (isDiscontinuous(before, after)) return dropped('discontinuity')
  if (before.bits !== after.bits || octetsAppeared(before, after)) return dropped('other_counters')
  const increases = mapCounters((name) => increaseOf(name, before, after, interval))
  if (wentBack(before, after, increases)) return dropped('counter_back')
  if (isTooFast(increases, interval)) return dropped('too_fast')
  if (isStale(increases)) return dropped('stale')
  const values = withoutImpossible(increases, interval)
  if (interval.gapMs > gapMaxMs) return { kind: 'dropped', reason: 'gap', values }
  const isClockStep = Math.abs(endMs - startMs - deviceMs) > clockStepMs
  return { kind: 'counted', startMs, endMs, values, isApproximate: after.bits === 32, isClockStep }
}

const dropped = (reason: DropReason): DroppedDelta => ({ kind: 'dropped', reason, values: null })

/** The time between two readings by the device's clock, over a wrap of it. */
function deviceGapMs(before: CounterRow, after: CounterRow): number {
  const elapsed = after.uptimeCs - before.uptimeCs
  return 10 * (elapsed < 0 ? elapsed + uptimeModulus : elapsed)
}

/**
 * A smaller uptime is a wrap if the time over the wrap is the time that has passed here, otherwise a restart. A larger one hides a
 * restart if the device has started since the reading before.
 */
function clockProblem(gapMs: number, before: CounterRow, after: CounterRow): DropReason | undefined {
  if (gapMs <= 0) return 'clock'
  const deviceMs = deviceGapMs(before, after)
  const isEqual = Math.abs(deviceMs - gapMs) <= clockStepMs + gapMs / 1_000
  if (after.uptimeCs < before.uptimeCs) return isEqual ? undefined : 'restart'
  if (10 * after.uptimeCs < gapMs - clockStepMs && !isEqual) return 'restart'
  const isNear = deviceMs <= 1.1 * gapMs + 60_000 && deviceMs >= 0.9 * gapMs - 60_000
  return isNear ? undefined : 'clock'
}

function isDiscontinuous(before: CounterRow, after: CounterRow): boolean {
  return (
    before.discontinuity !== null &&
    after.discontinuity !== null &&
    before.discontinuity !== after.discontinuity
  )
}

function octetsAppeared(before: CounterRow, after: CounterRow): boolean {
  return (
    (before.octetsIn === null) !== (after.octetsIn === null) ||
    (before.octetsOut === null) !== (after.octetsOut === null)
  )
}

type Interval = { readonly gapMs: number; readonly speedBps: number | null }

/** Null: unknown. Only octets and packets of 32 bits are taken over a wrap: errors do not come as fast. */
function increaseOf(
  name: CounterName,
  before: CounterRow,
  after: CounterRow,
  interval: Interval,
): bigint | null {
  const [from, to] = [before[name], after[name]]
  if (from === null || to === null) return null
  if (to >= from) return to - from
  const unitBits = name.startsWith('octets') ? 8 : name.startsWith('packets') ? frameBitsMin : null
  if (after.bits !== 32 || unitBits === null) return null
  return wrappedIncrease(from, to, unitBits, interval)
}

/** One wrap is assumed if the readings are less than half of the shortest time of a wrap apart. */
function wrappedIncrease(
  from: bigint,
  to: bigint,
  unitBits: number,
  { gapMs, speedBps }: Interval,
): bigint | null {
  if (!speedBps || from >= counter32Modulus) return null
  const wrapMs = (Number(counter32Modulus) * unitBits * 1000) / speedBps
  const increase = to + counter32Modulus - from
  const max = (speedBps / 1000 / unitBits) * maxTimeMs(gapMs)
  return gapMs < wrapMs / 2 && Number(increase) <= max ? increase : null
}

/** Octets and packets that went back are a reset of all counters; errors and discards alone are unknown. */
function wentBack(before: CounterRow, after: CounterRow, values: CounterValues): boolean {
  return (['octetsIn', 'octetsOut', 'packetsIn', 'packetsOut'] as const).some(
    (name) => before[name] !== null && after[name] !== null && values[name] === null,
  )
}

/** Every packet has octets: without an increase of them the counter does not count. */
const isStale = ({ octetsIn, octetsOut, packetsIn, packetsOut }: CounterValues): boolean =>
  (octetsIn === 0n && (packetsIn ?? 0n) >= stalePackets) ||
  (octetsOut === 0n && (packetsOut ?? 0n) >= stalePackets)

/** Clocks are not exact, and the counters of a device may be up to 2 s older or younger than its answer. */
const maxTimeMs = (gapMs: number): number => 1.05 * (gapMs + 2_000)

/** More packets than the port can transfer are unknown; the octets are as they are. */
function withoutImpossible(values: CounterValues, { gapMs, speedBps }: Interval): CounterValues {
  const bps = Math.min(speedBps || limitBps, limitBps)
  const max = (bps / 1_000 / frameBitsMin) * maxTimeMs(gapMs)
  return mapCounters((name) => {
    const value = values[name]
    return value === null || name.startsWith('octets') || Number(value) <= max ? value : null
  })
}

function isTooFast(values: CounterValues, { gapMs, speedBps }: Interval): boolean {
  const bps = Math.min(speedBps || limitBps, limitBps)
  const max = (bps / 8_000) * maxTimeMs(gapMs)
  return [values.octetsIn, values.octetsOut].some((octets) => octets !== null && Number(octets) > max)
}
