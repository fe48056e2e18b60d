// FastNetMon Advanced: the JSON of its web callbacks and of its notify script in JSON mode.
// Format: fastnetmon.com/docs-fnm-advanced/fastnetmon-json-formats/ and, for the types, the vendor's client
// github.com/FastNetMon/fastnetmon-go. Rules: fastnetmon.com/fastnetmon-bgp-flow-spec-rfc-5575-json-representation/
//
// It contains no time, so the time of receipt is used; `*_traffic` is in bytes per second; `attack_status` repeats the
// initial rates. `partial_block` and `partial_unblock` report FlowSpec rules. fastnetmon-community.ts reads the Community
// edition.
import type { EventFlag, EventSignal } from '@pharos/contract/events/event'
import { classifications, type Classification } from '@pharos/contract/events/classification'
import { parseAddress } from '../../net/address.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { covers, hostPrefix } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { EventObservation, ObservedData, TargetSample } from '../event/event.ts'
import { abridgeJson, cleanText } from '../event/json.ts'
import type { JsonObject } from '../event/json.ts'
import { readSample } from './fastnetmon-sample.ts'
import { fastnetmonVectorsOf, type AttackDirection } from './fastnetmon-vectors.ts'
import type { SampledPacket } from '../event/packets.ts'
import { topsOf } from '../event/packets.ts'
import {
  readAmount,
  readKey,
  readList,
  readNetworks,
  readObject,
  readOptionalText,
  readText,
} from './reading.ts'
import type { ReportFields } from './reading.ts'
import { readKindSettings } from './settings.ts'
import { NormaliseError, settingError } from './source.ts'
import type { Notes, Source } from './source.ts'

export const fastnetmon: Source = {
  kind: 'fastnetmon',
  label: 'FastNetMon Advanced',
  createNormaliser(settings) {
    const bansAreBlackholes = readBanSetting(settings)
    return (body, notes) => [readAttack(readObject(body, ''), notes, bansAreBlackholes)]
  },
}

/** Reads the setting `ban`, the meaning of a ban: true if it drops all traffic to the address. */
export function readBanSetting(settings: unknown): boolean {
  const { ban = 'detected' } = readKindSettings(settings, ['ban'])
  if (ban === 'detected' || ban === 'blackholed') return ban === 'blackholed'
  throw settingError('settings.ban', '"detected" or "blackholed" is expected: the meaning of a ban')
}

/** A sample also contains the target's responses, which do not describe the attack. */
function isOfAttack(
  { source, destination }: SampledPacket,
  direction: AttackDirection,
  scope: Scope,
): boolean {
  if (direction === undefined) return true
  const ours = hostPrefix(direction === 'incoming' ? destination : source)
  return scope.networks.some((network) => covers(network, ours))
}

type Action = { readonly weight: number; readonly signals: readonly EventSignal[] }

/** An action with a greater weight has more complete JSON: texts are taken from the greatest weight. */
const actions: Readonly<Record<string, Action>> = {
  // Community only: the ban again, with a sample of packets.
  attack_details: { weight: 6, signals: [] },
  ban: { weight: 5, signals: ['pending'] },
  partial_block: { weight: 4, signals: ['mitigation_active'] },
  attack_status: { weight: 3, signals: ['ongoing'] },
  unban: { weight: 2, signals: ['ended'] },
  partial_unblock: { weight: 1, signals: ['mitigation_ended'] },
}

/** The event exists without any further information. */
const unknownAction: Action = { weight: 0, signals: ['pending'] }

function readAction(body: ReportFields, notes: Notes): { name: string; action: Action } {
  const name = notes.optional(() => readOptionalText(body.action, '/action', 100)) ?? ''
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action) return { name, action }
  if (name === '') notes.add('warning', '/action', 'action_missing')
  else notes.add('warning', '/action', 'word', { value: cleanText(name, 50), known: Object.keys(actions) })
  return { name: '', action: unknownAction }
}

/** Additional weight of a text whose delivery identifies the attack. */
const knownKindWeight = 10

/** Reads one delivery. Throws NormaliseError if its key or its network cannot be read. */
export function readAttack(body: ReportFields, notes: Notes, bansAreBlackholes: boolean): EventObservation {
  const details = readObject(body.attack_details, '/attack_details')
  const sourceEventId = readKey(details.attack_uuid, '/attack_details/attack_uuid')
  const { name, action } = readAction(body, notes)
  const scope = readScope(body, details, notes)
  const direction = readDirection(details)
  const sample = readSample(body).filter((packet) => isOfAttack(packet, direction, scope))
  const vectors = fastnetmonVectorsOf(details, direction, sample)
  const kind = kindOf(vectors, scope)
  const isBlackhole = bansAreBlackholes && (name === 'ban' || name === 'unban')
  return {
    sourceEventId,
    receivedAt: notes.receivedAt,
    observedAt: null,
    weight: action.weight + (kind === 'unknown' ? 0 : knownKindWeight),
    start: null,
    end: null,
    signals: isBlackhole
      ? [...action.signals, name === 'ban' ? 'mitigation_active' : 'mitigation_ended']
      : action.signals,
    flags: flagsOf(direction, scope, isBlackhole),
    networks: scope.networks,
    bps: rateOf(details, direction, 'traffic', 8, notes),
    pps: rateOf(details, direction, 'pps', 1, notes),
    ratesAreRepeated: name !== 'ban',
    texts: {
      ...(kind === 'unknown' ? {} : { classificationKey: kind }),
      description: describe(direction, kind, scope),
      ...(scope.group === undefined ? {} : { sourceResourceId: scope.group }),
    },
    seen: seenOf(body, name, details, vectors, sample, notes),
    message: () => abridgeJson(body) as JsonObject,
    ...(scope.kind === 'host' ? {} : { samples: samplesOf(sample, direction) }),
  }
}

/** Without a direction, the target's end of a packet is unknown. */
function samplesOf(sample: readonly SampledPacket[], direction: AttackDirection): TargetSample[] {
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

/** A host has `ip`, a hostgroup its networks: a scope that contradicts them is ignored. */
function readScope(body: ReportFields, details: ReportFields, notes: Notes): Scope {
  const stated = body.alert_scope
  const isKnown = stated === 'host' || stated === 'hostgroup'
  // Versions before 2.0.320 had no scope, and reported attacks on hosts only.
  if (!isKnown && stated !== undefined && stated !== null) {
    const attrs = { value: cleanText(String(stated), 50), known: ['host', 'hostgroup'] }
    notes.add('warning', '/alert_scope', 'word', attrs)
  }
  const hasHost = isPresent(body.ip)
  const hasNetworks = Array.isArray(body.hostgroup_networks) && body.hostgroup_networks.length > 0
  const isHostgroup = stated === 'hostgroup' ? hasNetworks || !hasHost : !hasHost && hasNetworks
  return isHostgroup ? readHostgroup(body, notes) : readHost(body, details, notes)
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

function readHost(body: ReportFields, details: ReportFields, notes: Notes): Scope {
  const text = readText(body.ip, '/ip', 100)
  const group = notes.optional(() => readOptionalText(details.host_group, '/attack_details/host_group'))
  try {
    const address = parseAddress(text)
    return { kind: 'host', networks: [hostPrefix(address)], group, target: address }
  } catch (error) {
    if (error instanceof PrefixError) throw new NormaliseError('/ip', 'network', { detail: error.message })
    throw error
  }
}

/** The attack affects all networks of the group together; there is no `ip`. */
function readHostgroup(body: ReportFields, notes: Notes): Scope {
  const group = notes.optional(() => readOptionalText(body.hostgroup_name, '/hostgroup_name', 200))
  const list = notes.optional(() => readList(body.hostgroup_networks ?? [], '/hostgroup_networks')) ?? []
  const networks = readNetworks(list, '/hostgroup_networks', notes)
  if (networks.length === 0) notes.add('info', '/hostgroup_networks', 'network_missing')
  const target = group === undefined ? (networks[0] ?? 'a hostgroup') : `hostgroup ${group}`
  return { kind: 'hostgroup', networks, group, target }
}

/** `attack_direction` is the older name of the same field. */
function readDirection(details: ReportFields): AttackDirection {
  const words = [details.attack_detection_threshold_direction, details.attack_direction]
  return words.find((word) => word === 'incoming' || word === 'outgoing') as AttackDirection
}

/** The rate in the attack's direction; the greater one if the direction is unknown. */
function rateOf(
  details: ReportFields,
  direction: AttackDirection,
  what: 'traffic' | 'pps',
  factor: number,
  notes: Notes,
): number | null {
  const rates = (direction ? [direction] : ['incoming', 'outgoing']).map((way) => {
    const name = `total_${way}_${what}`
    return notes.optional(() => readAmount(details[name], `/attack_details/${name}`, factor))
  })
  const known = rates.filter((rate) => rate !== undefined)
  return known.length > 0 ? Math.max(...known) : null
}

function flagsOf(direction: AttackDirection, scope: Scope, isBlackhole: boolean): EventFlag[] {
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

function describe(direction: AttackDirection, kind: Classification, scope: Scope): string {
  const way = direction === undefined ? '' : `${direction} `
  const text = `${way}${classifications[kind]} on ${scope.target}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function seenOf(
  body: ReportFields,
  action: string,
  details: ReportFields,
  vectors: readonly Classification[],
  sample: readonly SampledPacket[],
  notes: Notes,
): ObservedData {
  const list = notes.optional(() => readList(body.flow_spec_rules ?? [], '/flow_spec_rules')) ?? []
  const rules = list.slice(0, rulesMax).flatMap((rule, at) => {
    const read = notes.optional(() => readObject(rule, `/flow_spec_rules/${at}`))
    return read === undefined ? [] : [read]
  })
  const stated = protocolsOf(details, notes)
  const protocols = [...new Set([...sample.map(({ protocol }) => protocol), ...stated])].filter(
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
  }
}

/** The limit of an event. */
const rulesMax = 50

const mitigations = new Set(['ban', 'partial_block'])

function protocolsOf(details: ReportFields, notes: Notes): string[] {
  const protocol = notes.optional(() =>
    readOptionalText(details.attack_protocol, '/attack_details/attack_protocol', 20),
  )
  return protocol === undefined ? [] : [protocol.toLowerCase()]
}

/** Tags of the detection's cause: the detector's threshold names, and whether it was manual. */
function thresholdsOf(details: ReportFields): Pick<ObservedData, 'thresholds'> {
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
