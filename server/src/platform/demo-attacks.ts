// The attacks of the demo: whom they hit, with what, how hard and how long. Invented, but with the proportions that
// detectors see: the same target again and again, most attacks small and short, a few large. Pure.
import { createDice, type Dice } from './demo-dice.ts'

export type Vector = {
  readonly protocol: 'udp' | 'tcp' | 'icmp'
  /** Of UDP: the service that is abused; absent where the source ports are random. */
  readonly sourcePort?: number
  readonly destinationPort?: number
  readonly tcpFlags?: string
  readonly packetBytes: number
  /** Answers of amplifiers are larger than a packet: this part of them comes in fragments. */
  readonly fragments?: number
  /** As the source flow-alarms names it; absent where it knows no word for it. */
  readonly alarm?: string
  readonly weight: number
}

const vectors: readonly Vector[] = [
  {
    protocol: 'udp',
    sourcePort: 53,
    packetBytes: 1_380,
    fragments: 0.5,
    alarm: 'DNS reflection',
    weight: 22,
  },
  { protocol: 'udp', sourcePort: 123, packetBytes: 468, alarm: 'NTP reflection', weight: 15 },
  { protocol: 'udp', sourcePort: 389, packetBytes: 1_440, fragments: 0.4, weight: 9 },
  { protocol: 'udp', sourcePort: 11_211, packetBytes: 1_400, weight: 4 },
  { protocol: 'udp', sourcePort: 1_900, packetBytes: 350, weight: 6 },
  { protocol: 'udp', destinationPort: 27_015, packetBytes: 560, alarm: 'UDP flood', weight: 14 },
  { protocol: 'tcp', destinationPort: 443, tcpFlags: 'syn', packetBytes: 60, alarm: 'SYN flood', weight: 16 },
  { protocol: 'tcp', destinationPort: 443, tcpFlags: 'ack', packetBytes: 64, weight: 8 },
  { protocol: 'tcp', destinationPort: 25, tcpFlags: 'rst', packetBytes: 60, weight: 2 },
  { protocol: 'icmp', packetBytes: 84, alarm: 'ICMP flood', weight: 4 },
]

/** A network that is attacked, and the group that the detector has put it into. */
export type Target = { readonly network: string; readonly group: string; readonly weight: number }

/** Networks of demo/platform.yaml, and one that no team holds. */
const targets: readonly Target[] = [
  { network: '203.0.113.64/26', group: 'game_servers', weight: 24 },
  { network: '203.0.113.0/26', group: 'web', weight: 20 },
  { network: '198.51.100.0/24', group: 'mail', weight: 12 },
  { network: '2001:db8:a::/48', group: 'web', weight: 8 },
  { network: '2001:db8:1000::/36', group: 'cloud', weight: 4 },
  { network: '192.0.2.0/24', group: 'other_servers', weight: 17 },
  { network: '198.18.128.0/22', group: 'other_shop', weight: 8 },
  { network: '2001:db8:b::/48', group: 'other_servers', weight: 4 },
  { network: '198.18.200.0/24', group: 'global', weight: 3 },
]

export type Attack = {
  readonly number: number
  readonly target: Target
  /** The address; of an attack on the whole network, that network. */
  readonly victim: string
  readonly isCarpet: boolean
  readonly vectors: readonly Vector[]
  readonly isOutgoing: boolean
  readonly bitsPerSecond: number
  readonly start: Date
  /** Null: it is not over. */
  readonly end: Date | null
}

const attackCount = 300
const historyMs = 30 * 86_400_000
const minuteMs = 60_000
/** How long ago the attacks that are not over began. */
const ongoingMinutes = [4, 11, 26, 47]

/** The attacks of the 30 days before `now`, in no order; the last ones are still going on. */
export function demoAttacks(now: Date): readonly Attack[] {
  const dice = createDice(2026)
  const attacks: Attack[] = []
  while (attacks.length < attackCount - ongoingMinutes.length) {
    attacks.push(...campaign(dice, now, attacks.length, attackCount - ongoingMinutes.length))
  }
  for (const [index, minutes] of ongoingMinutes.entries()) {
    const start = new Date(now.getTime() - minutes * minuteMs)
    const target = targets[[0, 5, 3, 1][index]!]!
    attacks.push(attackOn(dice, attacks.length, target, start, null))
  }
  return attacks
}

/** One target, attacked once or a few times within some hours. */
function campaign(dice: Dice, now: Date, from: number, below: number): Attack[] {
  const target = pickWeighted(dice, targets)
  const count = Math.min(below - from, Math.ceil(dice.around(2, 0.8)))
  const attacks: Attack[] = []
  let agoMs = 2 * minuteMs * 60 + dice.roll() * (historyMs - 2 * minuteMs * 60)
  for (let at = 0; at < count && agoMs > 60 * minuteMs; at++) {
    const lengthMs = Math.min(agoMs - 10 * minuteMs, Math.max(90_000, dice.around(11 * minuteMs, 0.9)))
    const start = now.getTime() - agoMs
    attacks.push(attackOn(dice, from + attacks.length, target, new Date(start), new Date(start + lengthMs)))
    agoMs -= lengthMs + dice.around(50 * minuteMs, 0.8)
  }
  return attacks
}

function attackOn(dice: Dice, number: number, target: Target, start: Date, end: Date | null): Attack {
  const isCarpet = dice.isLucky(0.06)
  const first = pickWeighted(dice, vectors)
  const second = dice.isLucky(0.12) ? pickWeighted(dice, vectors) : first
  return {
    number,
    target,
    victim: isCarpet ? target.network : addressIn(dice, target.network),
    isCarpet,
    vectors: second.protocol === first.protocol ? [first] : [first, second],
    // Now and then a customer's machine is the attacker.
    isOutgoing: !isCarpet && dice.isLucky(0.04),
    bitsPerSecond: Math.round(Math.min(240e9, Math.max(80e6, dice.around(2.4e9, 1.2)))),
    start,
    end,
  }
}

function pickWeighted<T extends { readonly weight: number }>(dice: Dice, from: readonly T[]): T {
  let left = dice.roll() * from.reduce((sum, { weight }) => sum + weight, 0)
  return from.find(({ weight }) => (left -= weight) < 0) ?? from.at(-1)!
}

/** One of the first few addresses: attackers come back to the same machines. */
function addressIn(dice: Dice, network: string): string {
  const [address] = network.split('/') as [string]
  if (address.includes(':')) return `${address}${dice.between(1, 9)}`
  const octets = address.split('.').map(Number)
  return [...octets.slice(0, 3), octets[3]! + dice.between(1, 14)].join('.')
}
