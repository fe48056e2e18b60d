// The traffic of a simulated interface as a pure function of time, so that its counters are the same in every process and any
// history of them can be computed.

/** Mean size of a simulated packet. */
export const meanPacketOctets = 850n
/** Start of all counters of simulated devices, ms since 1970. */
export const countersSince = Date.UTC(2025, 0, 1)

/**
 * Waves as [period in seconds, share of the mean, phase]: day, week, and shorter ones that look like noise. Their
 * shares sum to less than 1.
 */
const waves = [
  [86_400, 0.45, -2.1],
  [604_800, 0.12, 0.4],
  [43_200, 0.12, 1.1],
  [7_013, 0.06, 0.3],
  [1_741, 0.06, 2.2],
  [389, 0.08, 4.1],
  [97, 0.05, 5.3],
] as const

/**
 * Returns the octets since `countersSince` of an interface with this mean rate; never falls. `seed` shifts the shorter waves. Angles are
 * reduced to one turn first: the cosine of a large angle takes ten times as long.
 */
export function octetsAt(at: number, meanBps: number, seed: number): bigint {
  const seconds = Math.max(0, (at - countersSince) / 1000)
  let total = seconds
  for (const [index, [period, share, phase]] of waves.entries()) {
    const pace = turn / period
    const shift = index < 3 ? phase : phase + within(seed, turn)
    total += (share / pace) * (Math.cos(shift) - Math.cos(pace * within(seconds, period) + shift))
  }
  return BigInt(Math.floor((meanBps / 8) * total))
}

const turn = 2 * Math.PI
const within = (value: number, period: number): number => value - period * Math.floor(value / period)

/** Seed of an interface: FNV-1a of its name and that of the device. */
export function interfaceSeed(device: string, name: string): number {
  let hash = 0x811c9dc5
  for (const character of `${device} ${name}`) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193)
  return hash >>> 0
}
