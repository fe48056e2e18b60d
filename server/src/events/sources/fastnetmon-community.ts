// FastNetMon Community: the input of its notify script, posted as JSON by docs/detectors/pharos-notify.sh: the
// arguments `ip direction pps action`, and the text that it reads from its standard input. Format:
// github.com/pavel-odintsov/fastnetmon/blob/master/src/notify_about_attack.sh and, for the text,
// serialize_attack_description in src/fastnetmon_logic.cpp. Tried with version 1.2.4.
//
// The script is called at `ban`, half a second later again with `attack_details` and a sample of packets, and at
// `unban` without text. There is no id of the attack: FastNetMon has at most one ban of an address, so that the address
// and the time of its ban (`incident`, kept by our script until the unban) are the key. A ban of an address whose unban
// was never reported (FastNetMon was restarted) names the earlier one as `previous`, which it ends.
import type { EventObservation } from '../event/event.ts'
import { parseAddress } from '../../net/address.ts'
import { hostPrefix } from '../../net/prefix.ts'
import { abridgeJson } from '../event/json.ts'
import type { JsonObject } from '../event/json.ts'
import { readAttack, readBanSetting } from './fastnetmon.ts'
import {
  joinKey,
  numberOfText,
  readAmount,
  readKey,
  readObject,
  readOptionalText,
  readText,
} from './reading.ts'
import type { ReportFields } from './reading.ts'
import { NormaliseError } from './source.ts'
import type { Notes, Source } from './source.ts'
import { readTime } from './units.ts'

export const fastnetmonCommunity: Source = {
  kind: 'fastnetmon-community',
  label: 'FastNetMon Community',
  createNormaliser(settings) {
    const bansAreBlackholes = readBanSetting(settings)
    return (body, notes) => read(readObject(body, ''), notes, bansAreBlackholes)
  },
  /** The address, with or without its length, a bar, and the time of the ban. */
  eventKeyOf(text) {
    const [network = '', incident = ''] = text.split('|')
    return joinKey([canonicalOf(network.replace(/\/\d+$/, '')), incident])
  },
}

function read(body: ReportFields, notes: Notes, bansAreBlackholes: boolean): EventObservation[] {
  const ip = readText(body.ip, '/ip', 100)
  const key = joinKey([canonicalOf(ip), readIncident(body, notes)])
  const observedAt = readTime(numberIfText(body.time), 'unix', '/time', notes) ?? null
  const attack = readAttack(translated(body, ip, key, notes), notes, bansAreBlackholes)
  const message = () => abridgeJson(body) as JsonObject
  const observation: EventObservation = { ...attack, observedAt, message }
  const previous = readPrevious(body, notes)
  if (previous === undefined) return [observation]
  return [endOf(observation, joinKey([canonicalOf(ip), previous])), observation]
}

/** The observation that ends an earlier attack on the same address. */
function endOf(observation: EventObservation, sourceEventId: string): EventObservation {
  const { networks, receivedAt, observedAt } = observation
  return {
    sourceEventId,
    receivedAt,
    observedAt,
    weight: 0,
    start: null,
    end: null,
    signals: ['ended'],
    flags: [],
    networks,
    bps: null,
    pps: null,
    ratesAreRepeated: true,
    texts: {},
    seen: {},
  }
}

function readIncident(body: ReportFields, notes: Notes): string {
  const incident = notes.optional(() => keyOf(body.incident, '/incident'))
  if (incident !== undefined) return incident
  const time = notes.optional(() => keyOf(body.time, '/time'))
  if (time === undefined) {
    throw new NormaliseError('/incident', 'type', { expected: 'the time of the ban', found: 'nothing' })
  }
  notes.add('warning', '/incident', 'incident_missing')
  return time
}

/** The earlier attack on the address, if any. */
const readPrevious = (body: ReportFields, notes: Notes): string | undefined =>
  notes.optional(() => keyOf(body.previous, '/previous'))

/** Times are numbers, or text as the arguments of the script. */
function keyOf(value: unknown, place: string): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return value === undefined || value === null || value === '' ? undefined : readKey(value, place)
}

/** One key for every way to write an address; an address that cannot be read is reported with its place later. */
function canonicalOf(ip: string): string {
  try {
    return hostPrefix(parseAddress(ip))
  } catch {
    return ip
  }
}

const numberIfText = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value

/** Returns the same as the JSON of FastNetMon Advanced, which has the same counters under the same names. */
function translated(body: ReportFields, ip: string, key: string, notes: Notes): ReportFields {
  const text = notes.optional(() => readOptionalText(body.details, '/details', detailsMax)) ?? ''
  const counters = countersOf(text)
  const direction = notes.optional(() => readOptionalText(body.direction, '/direction', 20))
  const stated = notes.optional(() => readAmount(numberOfText(body.pps, '/pps'), '/pps'))
  const isOneWay = direction === 'incoming' || direction === 'outgoing'
  return {
    ip,
    action: body.action,
    attack_details: {
      ...(isOneWay ? { [`total_${direction}_pps`]: stated, attack_direction: direction } : {}),
      ...counters,
      attack_uuid: key,
    },
    packet_dump: packetsOf(text),
  }
}

const detailsMax = 200_000

/** `Total incoming traffic: 21 mbps` becomes `total_incoming_traffic` in bytes per second, as in the JSON. */
function countersOf(text: string): Record<string, unknown> {
  const counters: Record<string, unknown> = {}
  for (const [, name, value] of text.matchAll(/^([A-Z][A-Za-z ]{2,60}): ([^\n]{1,60})$/gm)) {
    const amount = /^(\d{1,15}) (mbps|packets per second|flows per second)$/.exec(value!.trim())
    const key = name!.toLowerCase().replaceAll(' ', '_')
    counters[key] = amount ? Number(amount[1]) * (amount[2] === 'mbps' ? 125_000 : 1) : value!.trim()
  }
  return counters
}

// 203.0.113.77:40000 < 198.51.100.1:53 490000 bytes 350 packets
const flow = /^(\S{2,60}):(\d{1,5}) ([<>]) (\S{2,60}):(\d{1,5}) (\d{1,15}) bytes (\d{1,9}) packets$/

/** Lines of sampled packets as they are, and of flows in the same form. */
function packetsOf(text: string): string[] {
  let protocol = 'unknown'
  return text.split('\n').flatMap((raw) => {
    const line = raw.slice(0, 400).trim()
    protocol = /^([A-Z]{2,5}) flows: \d+$/.exec(line)?.[1]?.toLowerCase() ?? protocol
    if (line.includes(' protocol: ')) return [line]
    const [, local, localPort, way, remote, remotePort, bytes, packets] = flow.exec(line) ?? []
    if (local === undefined) return []
    const [ours, theirs] = [`${local}:${localPort}`, `${remote}:${remotePort}`]
    const ends = way === '<' ? `${theirs} > ${ours}` : `${ours} > ${theirs}`
    return [`${ends}  protocol: ${protocol} packets: ${packets} size: ${bytes} bytes`]
  })
}
