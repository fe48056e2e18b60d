// Counters that a device sends by itself (sFlow): which of two samples is the newer one, and its counters beyond 32 bits. Pure. It must not
// judge increases: readings of all sources are compared in ../usage/delta.ts.

const octetNames = ['inOctets', 'outOctets'] as const
const shortNames = [
  'inUnicast',
  'inMulticast',
  'inBroadcast',
  'inDiscards',
  'inErrors',
  'outUnicast',
  'outMulticast',
  'outBroadcast',
  'outDiscards',
  'outErrors',
] as const
export const sampledNames = [...octetNames, ...shortNames] as const
export type SampledName = (typeof sampledNames)[number]

/** Totals. Null: the agent has no such counter. */
export type SampledCounters = Readonly<Record<SampledName, bigint | null>>

export type SampledInterface = {
  readonly ifIndex: number
  readonly name: string
  /** Time of receipt, ms since 1970. */
  readonly at: number
  readonly uptimeMs: number
  readonly type: number
  readonly speedBps: number
  readonly isAdminUp: boolean
  readonly isOperUp: boolean
  readonly counters: SampledCounters
}

/** A sample as it was sent. */
export type CounterSample = Omit<SampledInterface, 'counters'> & {
  readonly counters: Readonly<Record<SampledName, bigint | number>>
}

const modulus = 2 ** 32
const unknownShort = 2 ** 32 - 1
const unknownOctets = 2n ** 64n - 1n
/** Age difference to the newest datagram from which a datagram counts as overtaken. */
const lateMs = 60_000
const clockStepMs = 5_000

/** Returns the sample to store instead of the known one; undefined for a duplicate or an older sample. */
export function nextSample(
  known: SampledInterface | undefined,
  sample: CounterSample,
): SampledInterface | undefined {
  if (!known) return firstSample(sample)
  const elapsedMs = (((sample.uptimeMs - known.uptimeMs) % modulus) + modulus) % modulus
  if (elapsedMs === 0 || modulus - elapsedMs <= lateMs) return undefined
  const receivedMs = sample.at - known.at
  const isContinued = Math.abs(elapsedMs - receivedMs) <= clockStepMs + receivedMs / 1000
  // Another time than has passed here: the agent has started again, or the clock of this machine was set.
  if (!isContinued) return firstSample(sample)
  return {
    ...sample,
    uptimeMs: known.uptimeMs + elapsedMs,
    counters: mapSampled((name) => extend(name, known.counters[name], sample.counters[name])),
  }
}

const firstSample = (sample: CounterSample): SampledInterface => ({
  ...sample,
  counters: mapSampled((name) => extend(name, null, sample.counters[name])),
})

function extend(name: SampledName, known: bigint | null, sent: bigint | number): bigint | null {
  if (name === 'inOctets' || name === 'outOctets') return sent === unknownOctets ? null : BigInt(sent)
  if (sent === unknownShort) return null
  if (known === null) return BigInt(sent)
  return known + BigInt.asUintN(32, BigInt(sent) - known)
}

/** Returns the result of the function for each counter. */
export function mapSampled(valueOf: (name: SampledName) => bigint | null): SampledCounters {
  const entries = sampledNames.map((name) => [name, valueOf(name)] as const)
  return Object.fromEntries(entries) as Record<SampledName, bigint | null>
}
