// FastNetMon Advanced: the JSON of its web callbacks and of its notify script in JSON mode.
// Format: fastnetmon.com/docs-fnm-advanced/fastnetmon-json-formats/ and, for the types, the vendor's client
// github.com/FastNetMon/fastnetmon-go. Rules: fastnetmon.com/fastnetmon-bgp-flow-spec-rfc-5575-json-representation/
//
// It contains no time, so the time of receipt is used; `*_traffic` is in bytes per second; `attack_status` repeats the
// initial rates. `partial_block` and `partial_unblock` report FlowSpec rules. The Community edition sends no JSON and
// is not supported.
import type { EventFlag, EventSignal } from '@pharos/contract/analysis'
import { classifications, type Classification } from '@pharos/contract/classification'
import { covers, hostPrefix } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { parseAddress } from '../../net/address.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import type { Observation, Seen, TargetSample } from '../event.ts'
import { abridgeJson } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { readSample } from './fastnetmon-sample.ts'
import { vectorsOf, type Direction } from './fastnetmon-vectors.ts'
import type { SampledPacket } from './packets.ts'
import { topsOf } from './packets.ts'
import { readAmount, readKey, readList, readNetwork, readObject, readOptionalText } from './reading.ts'
import type { Fields } from './reading.ts'
import { readKindSettings } from './settings.ts'
import { NormaliseError } from './source.ts'
import type { Source } from './source.ts'

export const fastnetmon: Source = {
  kind: 'fastnetmon',
  label: 'FastNetMon Advanced',
  createNormaliser(settings) {
    const { ban = 'detected' } = readKindSettings(settings, ['ban'])
    if (ban !== 'detected' && ban !== 'blackholed') {
      throw new NormaliseError('settings.ban', '"detected" or "blackholed" is expected: the meaning of a ban')
    }
    return (body, receivedAt) => [normalise(readObject(body, ''), receivedAt, ban === 'blackholed')]
  },
}

/** A sample also contains the target's responses, which do not describe the attack. */
function isOfAttack({ source, destination }: SampledPacket, direction: Direction, scope: Scope): boolean {
  if (direction === undefined) return true
  const ours = hostPrefix(direction === 'incoming' ? destination : source)
  return scope.networks.some((network) => covers(network, ours))
}

type Action = { readonly weight: number; readonly signals: readonly EventSignal[] }

/** An action with a greater weight has more complete JSON: texts are taken from the greatest weight. */
const actions: Readonly<Record<string, Action>> = {
  ban: { weight: 5, signals: ['pending'] },
  partial_block: { weight: 4, signals: ['mitigation_active'] },
  attack_status: { weight: 3, signals: ['ongoing'] },
  unban: { weight: 2, signals: ['ended'] },
  partial_unblock: { weight: 1, signals: ['mitigation_ended'] },
}

/** Additional weight of a text whose delivery identifies the attack. */
const knownKindWeight = 10

function normalise(body: Fields, receivedAt: Date, bansAreBlackholes: boolean): Observation {
  const name = readKey(body.action, 'action')
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) {
    throw new NormaliseError('action', `one of ${Object.keys(actions).join(', ')} is expected`)
  }
  const details = readObject(body.attack_details, 'attack_details')
  const scope = readScope(body)
  const direction = readDirection(details)
  const sample = readSample(body).filter((packet) => isOfAttack(packet, direction, scope))
  const vectors = vectorsOf(details, direction, sample)
  const kind = kindOf(vectors, scope)
  const isBlackhole = bansAreBlackholes && (name === 'ban' || name === 'unban')
  return {
    sourceEventId: readKey(details.attack_uuid, 'attack_details.attack_uuid'),
    receivedAt,
    observedAt: null,
    weight: action.weight + (kind === 'unknown' ? 0 : knownKindWeight),
    start: null,
    end: null,
    signals: isBlackhole
      ? [...action.signals, name === 'ban' ? 'mitigation_active' : 'mitigation_ended']
      : action.signals,
    flags: flagsOf(direction, scope, isBlackhole),
    networks: scope.networks,
    bps: rateOf(details, direction, 'traffic', 8),
    pps: rateOf(details, direction, 'pps', 1),
    ratesAreRepeated: name !== 'ban',
    texts: {
      ...(kind === 'unknown' ? {} : { classificationKey: kind }),
      description: describe(direction, kind, scope),
      ...(scope.group === undefined ? {} : { sourceResourceId: scope.group }),
    },
    seen: seenOf(body, name, details, vectors, sample),
    ...(scope.kind === 'host' ? {} : { samples: samplesOf(sample, direction) }),
  }
}

/** Without a direction, the target's end of a packet is unknown. */
function samplesOf(sample: readonly SampledPacket[], direction: Direction): TargetSample[] {
  if (direction === undefined) return []
  return sample.map((packet) => ({
    target: direction === 'incoming' ? packet.destination : packet.source,
    source: packet.source,
    sourcePort: packet.sourcePort,
    destinationPort: packet.destinationPort,
    packets: packet.packets,
    bytes: packet.bytes,
  }))
}

type Scope = {
  readonly kind: 'host' | 'hostgroup'
  readonly networks: readonly Prefix[]
  /** The hostgroup, of the whole attack or of the host. */
  readonly group: string | undefined
  readonly target: string
}

function readScope(body: Fields): Scope {
  // Versions before 2.0.320 had no scope, and reported attacks on hosts only.
  const scope = body.alert_scope ?? 'host'
  if (scope === 'host') return readHost(body)
  if (scope === 'hostgroup') return readHostgroup(body)
  throw new NormaliseError('alert_scope', '"host" or "hostgroup" is expected')
}

function readHost(body: Fields): Scope {
  const text = readKey(body.ip, 'ip')
  const details = readObject(body.attack_details, 'attack_details')
  try {
    const address = parseAddress(text)
    const group = readOptionalText(details.host_group, 'attack_details.host_group')
    return { kind: 'host', networks: [hostPrefix(address)], group, target: address }
  } catch (error) {
    if (error instanceof PrefixError) throw new NormaliseError('ip', error.message)
    throw error
  }
}

/** The attack affects all networks of the group together; there is no `ip`. */
function readHostgroup(body: Fields): Scope {
  const group = readKey(body.hostgroup_name, 'hostgroup_name')
  const networks = readList(body.hostgroup_networks ?? [], 'hostgroup_networks').map((network, at) =>
    readNetwork(network, `hostgroup_networks[${at}]`, true),
  )
  return { kind: 'hostgroup', networks, group, target: `hostgroup ${group}` }
}

/** `attack_direction` is the older name of the same field. */
function readDirection(details: Fields): Direction {
  const words = [details.attack_detection_threshold_direction, details.attack_direction]
  return words.find((word) => word === 'incoming' || word === 'outgoing') as Direction
}

/** The rate in the attack's direction; the greater one if the direction is unknown. */
function rateOf(
  details: Fields,
  direction: Direction,
  what: 'traffic' | 'pps',
  factor: number,
): number | null {
  const rates = (direction ? [direction] : ['incoming', 'outgoing']).map((way) => {
    const name = `total_${way}_${what}`
    return readAmount(details[name], `attack_details.${name}`, factor)
  })
  const known = rates.filter((rate) => rate !== undefined)
  return known.length > 0 ? Math.max(...known) : null
}

function flagsOf(direction: Direction, scope: Scope, isBlackhole: boolean): EventFlag[] {
  const flags: EventFlag[] = []
  if (direction === 'incoming') flags.push('INCOMING')
  if (direction === 'outgoing') flags.push('OUTGOING')
  if (scope.kind === 'hostgroup' && direction !== 'outgoing') flags.push('CARPET_BOMB')
  if (isBlackhole) flags.push('BLACKHOLED')
  return flags
}

/** The greatest vector; for an attack on a whole hostgroup, the common class of its vectors. */
function kindOf(vectors: readonly Classification[], scope: Scope): Classification {
  if (scope.kind === 'host') return vectors[0] ?? 'unknown'
  const families = new Set(vectors.map((vector) => vector.split('.', 1)[0]))
  const [family] = families
  if (families.size !== 1) return 'carpet.mixed'
  return family === 'udp' || family === 'tcp' || family === 'icmp' ? `carpet.${family}` : 'carpet.mixed'
}

function describe(direction: Direction, kind: Classification, scope: Scope): string {
  const way = direction === undefined ? '' : `${direction} `
  const text = `${way}${classifications[kind]} on ${scope.target}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function seenOf(
  body: Fields,
  action: string,
  details: Fields,
  vectors: readonly Classification[],
  sample: readonly SampledPacket[],
): Seen {
  const rules = readList(body.flow_spec_rules ?? [], 'flow_spec_rules').map((rule, at) =>
    readObject(rule, `flow_spec_rules[${at}]`),
  )
  const protocols = [...new Set([...sample.map(({ protocol }) => protocol), ...protocolsOf(details)])].filter(
    (protocol) => protocol !== 'unknown',
  )
  return {
    vectors: [...vectors],
    protocols,
    ...topsOf(sample),
    ...thresholdsOf(details),
    mitigation: {
      actions: mitigations.has(action) ? [action] : [],
      rules: rules.map((rule) => abridgeJson(rule) as Record<string, unknown>),
    },
    source: abridgeJson(body) as JsonObject,
  }
}

const mitigations = new Set(['ban', 'partial_block'])

function protocolsOf(details: Fields): string[] {
  const protocol = readOptionalText(details.attack_protocol, 'attack_details.attack_protocol', 20)
  return protocol === undefined ? [] : [protocol.toLowerCase()]
}

/** Tags of the detection's cause: the detector's threshold names, and whether it was manual. */
function thresholdsOf(details: Fields): Pick<Seen, 'thresholds'> {
  const names = {
    threshold: 'attack_detection_threshold',
    direction: 'attack_detection_threshold_direction',
    detected_by: 'attack_detection_source',
    flexible: 'attack_detection_flexible_thresholds',
  }
  const thresholds = Object.entries(names)
    .filter(([, field]) => details[field] !== undefined && details[field] !== '')
    .map(([name, field]) => [name, abridgeJson(details[field])] as const)
  return thresholds.length > 0 ? { thresholds: Object.fromEntries(thresholds) } : {}
}
