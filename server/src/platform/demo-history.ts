// The demo's history as deliveries: what FastNetMon, and a detector known by a mapping, would have sent during the 30
// days before `now`. Pure; the same `now` gives the same deliveries.
import { demoAttacks, type Attack, type Vector } from './demo-attacks.ts'
import { courseOf } from './demo-course.ts'
import { createDice, type Dice } from './demo-dice.ts'

export type DemoDelivery = {
  readonly sourceKey: string
  readonly deliveryId: string
  readonly received: Date
  readonly body: object
}

/** In the order in which they arrived; none was received after `now`. */
export function demoHistory(now: Date): readonly DemoDelivery[] {
  return demoAttacks(now)
    .flatMap(deliveriesOf)
    .filter(({ received }) => received <= now)
    .toSorted((a, b) => a.received.getTime() - b.received.getTime())
}

function deliveriesOf(attack: Attack): DemoDelivery[] {
  const dice = createDice(attack.number + 1)
  const isAlarm = attack.number % 4 === 3 && !attack.isCarpet && attack.vectors[0]!.alarm !== undefined
  return isAlarm ? alarmsOf(attack, dice) : callbacksOf(attack, dice)
}

const idOf = ({ number }: Attack, what: string): string => `demo-${String(number).padStart(4, '0')}-${what}`

/** FastNetMon: ban, word that it goes on, rules put up and taken down, unban. */
function callbacksOf(attack: Attack, dice: Dice): DemoDelivery[] {
  const details = detailsOf(attack, dice)
  const { start, end } = attack
  const callback = (action: string, what: string, received: Date, more: object = {}): DemoDelivery => ({
    sourceKey: 'fastnetmon',
    deliveryId: idOf(attack, what),
    received,
    body: { action, ...scopeOf(attack), attack_details: details, ...more },
  })
  const deliveries = [callback('ban', 'ban', start, samplesOf(attack, dice))]
  const isBlocked = !attack.isOutgoing && dice.isLucky(0.45)
  if (isBlocked) {
    deliveries.push(
      callback('partial_block', 'block', after(start, dice.between(5, 40)), {
        flow_spec_rules: rulesOf(attack),
      }),
    )
  }
  for (const [at, minutes] of [3, 10, 30].entries()) {
    const received = after(start, minutes * 60 + dice.between(0, 20))
    if (end === null || received < end)
      deliveries.push(callback('attack_status', `status-${at + 1}`, received))
  }
  if (end === null) return deliveries
  if (isBlocked) {
    deliveries.push(callback('partial_unblock', 'unblock', end, { flow_spec_rules: rulesOf(attack) }))
  }
  deliveries.push(callback('unban', 'unban', after(end, dice.between(1, 30))))
  return deliveries
}

function after(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000)
}

function scopeOf({ isCarpet, target, victim }: Attack): object {
  if (!isCarpet) return { alert_scope: 'host', ip: victim }
  return {
    alert_scope: 'hostgroup',
    hostgroup_name: target.group,
    parent_hostgroup_name: '',
    hostgroup_networks: [target.network],
  }
}

const isIpv6 = ({ victim }: Attack): boolean => victim.includes(':')

/** The counters of the whole attack: bytes a second, packets a second, by protocol. */
function detailsOf(attack: Attack, dice: Dice): object {
  const way = attack.isOutgoing ? 'outgoing' : 'incoming'
  const bytes = attack.bitsPerSecond / 8
  const shares = attack.vectors.length === 2 ? [0.6, 0.4] : [1]
  const rates = attack.vectors.map((vector, at) => rateOf(vector, bytes * shares[at]!))
  const sum = (of: (rate: Rate) => boolean) => ({
    traffic: Math.round(rates.filter(of).reduce((total, { traffic }) => total + traffic, 0)),
    pps: Math.round(rates.filter(of).reduce((total, { pps }) => total + pps, 0)),
  })
  const fragmented = rates.map(({ vector, traffic, pps }) => {
    const part = vector.fragments ?? 0
    return { traffic: traffic * part, pps: pps * part }
  })
  const counters = {
    ip_fragmented: {
      traffic: Math.round(fragmented.reduce((total, { traffic }) => total + traffic, 0)),
      pps: Math.round(fragmented.reduce((total, { pps }) => total + pps, 0)),
    },
    tcp: sum(({ vector }) => vector.protocol === 'tcp'),
    syn_tcp: sum(({ vector }) => vector.tcpFlags === 'syn'),
    udp: sum(({ vector }) => vector.protocol === 'udp'),
    icmp: sum(({ vector }) => vector.protocol === 'icmp'),
  }
  const total = sum(() => true)
  return {
    attack_uuid: [8, 4, 4, 4, 12].map((digits) => dice.hex(digits)).join('-'),
    attack_severity: attack.bitsPerSecond > 20e9 ? 'high' : attack.bitsPerSecond > 2e9 ? 'middle' : 'low',
    host_group: attack.target.group,
    parent_host_group: '',
    host_network: attack.target.network,
    protocol_version: isIpv6(attack) ? 'IPv6' : 'IPv4',
    attack_detection_threshold: total.pps * 8_000 > attack.bitsPerSecond ? 'packets' : 'mbits',
    attack_detection_threshold_direction: way,
    attack_detection_source: 'automatic',
    [`total_${way}_traffic`]: total.traffic,
    [`total_${way}_pps`]: total.pps,
    [`total_${way}_flows`]: 0,
    ...Object.fromEntries(
      Object.entries(counters).flatMap(([name, { traffic, pps }]) => [
        [`${way}_${name}_traffic`, traffic],
        [`${way}_${name}_pps`, pps],
      ]),
    ),
  }
}

type Rate = { readonly vector: Vector; readonly traffic: number; readonly pps: number }

function rateOf(vector: Vector, traffic: number): Rate {
  return { vector, traffic, pps: traffic / vector.packetBytes }
}

/** A few packets, from senders in space that no team of the demo holds. */
function samplesOf(attack: Attack, dice: Dice): object {
  const senders = Array.from({ length: dice.between(3, 7) }, () =>
    isIpv6(attack) ? `3fff:f00::${dice.hex(3)}` : `198.19.${dice.between(0, 255)}.${dice.between(1, 254)}`,
  )
  const packets = Array.from({ length: 8 }, (_, at) =>
    packetOf(attack, attack.vectors[at % attack.vectors.length]!, dice.pick(senders), dice),
  )
  return { packet_dump_detailed: packets }
}

function packetOf(attack: Attack, vector: Vector, peer: string, dice: Dice): object {
  const victim = attack.isCarpet ? attack.victim.replace(/\/.*$/, isIpv6(attack) ? '1' : '') : attack.victim
  const hasPorts = vector.protocol !== 'icmp'
  return {
    ip_version: isIpv6(attack) ? 'ipv6' : 'ipv4',
    source_ip: attack.isOutgoing ? victim : peer,
    destination_ip: attack.isOutgoing ? peer : victim,
    source_port: hasPorts ? (vector.sourcePort ?? dice.between(1_024, 65_535)) : 0,
    destination_port: hasPorts ? (vector.destinationPort ?? dice.between(1_024, 65_535)) : 0,
    tcp_flags: vector.tcpFlags ?? '',
    fragmentation: false,
    packets: 1,
    length: vector.packetBytes,
    ip_length: vector.packetBytes - 14,
    ttl: dice.between(44, 61),
    sample_ratio: 1024,
    protocol: vector.protocol,
    agent_address: '192.0.2.254',
  }
}

function rulesOf({ victim, isCarpet, vectors }: Attack): object[] {
  const destination = isCarpet ? victim : `${victim}/${victim.includes(':') ? 128 : 32}`
  return vectors.map(({ protocol, sourcePort }) => ({
    destination_prefix: destination,
    protocols: [protocol],
    ...(sourcePort === undefined ? {} : { source_ports: [sourcePort] }),
    action_type: 'discard',
    action: {},
  }))
}

/** Bits per second from which the other detector raises an alarm: below what any attack of the demo reaches. */
const alarmFrom = 75e6

/** The other detector: an alarm that opens, is measured again and again, maybe filtered, and closes. */
function alarmsOf(attack: Attack, dice: Dice): DemoDelivery[] {
  const { start, end, victim, isOutgoing, bitsPerSecond, number } = attack
  const [vector] = attack.vectors as [Vector]
  const seconds = (time: Date | null) => (time === null ? null : Math.round(time.getTime() / 1000))
  const alarm = (
    what: string,
    state: string,
    at: Date,
    closed: Date | null,
    rate: number,
    packetBytes = vector.packetBytes,
  ): DemoDelivery => ({
    sourceKey: 'flow-alarms',
    deliveryId: idOf(attack, what),
    received: after(at, 3),
    body: {
      alarm: {
        id: `FA-${10_000 + number}`,
        state,
        kind: vector.alarm,
        direction: isOutgoing ? 'out' : 'in',
        target: victim,
        opened: seconds(start),
        closed: seconds(closed),
        measured: seconds(at),
        rate: { mbps: Math.round(rate / 1e6), kpps: Math.round(rate / 8 / packetBytes / 1e3) },
        threshold: { mbps: alarmFrom / 1e6 },
        summary: `${vector.alarm} ${isOutgoing ? 'from' : 'to'} ${victim}`,
      },
    },
  })
  const course = courseOf(attack, dice)
  const measured = course.map(({ at, share, packetSize, isFiltered }, index) => {
    const state = isFiltered ? 'filtered' : 'open'
    return alarm(`alarm-${index}`, state, at, null, bitsPerSecond * share, vector.packetBytes * packetSize)
  })
  if (end === null) return measured
  const isFiltered = course.some((moment) => moment.isFiltered)
  return [...measured, alarm('closed', isFiltered ? 'lifted' : 'closed', end, end, alarmFrom / 5)]
}
