// Arbor Sightline (NETSCOUT): an alert of its REST API in JSON:API form, as its webhook notifications post it; a list of alerts, as
// `GET /api/sp/<version>/alerts/` returns it, is accepted too.
// Format: arbor.github.io/sp-rest-api-cookbook/sp-rest-api-tutorial.html, and the alert of a webhook in
// github.com/arbor/HookMan (README, "Sightline Alert JSON").
//
// `impact_bps` is in bits per second, the greatest so far. Alerts on a managed object as a whole name no address.
import type { EventFlag, EventSignal } from '@pharos/contract/events/event'
import { classifications, type Classification } from '@pharos/contract/events/classification'
import type { EventObservation } from '../event/event.ts'
import { abridgeJson, cleanText } from '../event/json.ts'
import type { JsonObject } from '../event/json.ts'
import { readAmount, readKey, readList, readNetwork, readObject, readOptionalText } from './reading.ts'
import type { ReportFields } from './reading.ts'
import { readKindSettings } from './settings.ts'
import { NormaliseError, observationsMax } from './source.ts'
import type { Notes, Source } from './source.ts'
import { readTime } from './units.ts'

export const sightline: Source = {
  kind: 'sightline',
  label: 'Arbor Sightline',
  createNormaliser(settings) {
    readKindSettings(settings, [])
    return (body, notes) => {
      const { data } = readObject(body, '')
      if (!Array.isArray(data)) return notes.item(() => read(data, '/data', notes))
      if (data.length > observationsMax) {
        throw new NormaliseError('/data', 'too_many_events', { max: observationsMax })
      }
      if (data.length === 0) notes.add('info', '/data', 'no_events')
      return data.flatMap((alert, at) => notes.item(() => read(alert, `/data/${at}`, notes)))
    }
  },
}

/** Classes of alerts about the health of the network or of Sightline itself. */
const otherClasses: ReadonlySet<unknown> = new Set([
  'bgp',
  'cloud_signaling',
  'data',
  'mobile',
  'system_error',
  'system_event',
  'tms',
  'traffic',
])

function read(alert: unknown, place: string, notes: Notes): EventObservation[] {
  const { id, attributes } = readObject(alert, place)
  const fields = readObject(attributes, `${place}/attributes`)
  const at = (name: string) => `${place}/attributes/${name}`
  if (otherClasses.has(fields.alert_class)) {
    notes.add('info', at('alert_class'), 'not_an_attack', { value: String(fields.alert_class) })
    return []
  }
  const detail = notes.optional(() => readObject(fields.subobject, at('subobject'))) ?? {}
  const networks = readTarget(detail, at('subobject/host_address'), notes)
  const vectors = vectorsOf(detail, at('subobject/misuse_types'), notes)
  const direction = directionOf(detail)
  const [kind] = vectors
  const amount = (name: string) =>
    notes.optional(() => readAmount(detail[name], at(`subobject/${name}`))) ?? null
  return [
    {
      sourceEventId: readKey(typeof id === 'number' ? String(id) : id, `${place}/id`),
      receivedAt: notes.receivedAt,
      observedAt: null,
      weight: 0,
      start: readTime(fields.start_time, 'iso', at('start_time'), notes) ?? null,
      end:
        fields.ongoing === true ? null : (readTime(fields.stop_time, 'iso', at('stop_time'), notes) ?? null),
      signals: signalsOf(fields, at, notes),
      flags: direction === undefined ? [] : [direction],
      networks,
      bps: amount('impact_bps'),
      pps: amount('impact_pps'),
      ratesAreRepeated: false,
      texts: {
        ...(kind === undefined ? {} : { classificationKey: kind }),
        description: describe(direction, kind, networks[0], detail),
      },
      seen: { vectors, ...thresholdsOf(detail, at, notes) },
      message: () => abridgeJson(alert) as JsonObject,
    },
  ]
}

function readTarget(detail: ReportFields, place: string, notes: Notes): EventObservation['networks'] {
  const { host_address: host } = detail
  if (host !== undefined && host !== null && host !== '') return [readNetwork(host, place, true)]
  notes.add('info', place, 'network_missing')
  return []
}

/** Classifications that staff of the provider give an alert in Sightline. */
const reviews: Readonly<Record<string, EventSignal>> = {
  'False Positive': 'false_positive',
  'Verified Attack': 'acknowledged',
}

function signalsOf(fields: ReportFields, at: (name: string) => string, notes: Notes): EventSignal[] {
  const review = notes.optional(() => readOptionalText(fields.classification, at('classification'))) ?? ''
  const reviewed = Object.hasOwn(reviews, review) ? [reviews[review]!] : []
  if (typeof fields.ongoing === 'boolean') return [fields.ongoing ? 'ongoing' : 'ended', ...reviewed]
  if (fields.ongoing !== undefined && fields.ongoing !== null) {
    const attrs = { value: cleanText(String(fields.ongoing), 50), known: ['true', 'false'] }
    notes.add('warning', at('ongoing'), 'word', attrs)
  }
  return ['pending', ...reviewed]
}

function directionOf({ direction }: ReportFields): EventFlag | undefined {
  return typeof direction === 'string' && /^(incoming|outgoing)$/i.test(direction)
    ? /^in/i.test(direction)
      ? 'INCOMING'
      : 'OUTGOING'
    : undefined
}

function vectorsOf(detail: ReportFields, place: string, notes: Notes): Classification[] {
  const list = notes.optional(() => readList(detail.misuse_types ?? [], place)) ?? []
  const vectors = list.slice(0, 50).flatMap((name) => {
    const word = String(name).toLowerCase()
    const vector = Object.hasOwn(misuses, word) ? misuses[word] : undefined
    if (vector === undefined && name !== null) {
      const attrs = { value: cleanText(String(name), 50), known: Object.keys(misuses) }
      notes.add('warning', place, 'word', attrs)
    }
    return vector === undefined ? [] : [vector]
  })
  // "UDP" beside "DNS Amplification" is the same traffic; the total includes the others.
  const specific = (vector: Classification) =>
    Number(!vector.endsWith('.flood')) + Number(vector !== 'ip.flood')
  return [...new Set(vectors)].toSorted((a, b) => specific(b) - specific(a))
}

/** Names of misuse types in lower case. */
const misuses: Readonly<Record<string, Classification>> = {
  'total traffic': 'ip.flood',
  'ip private': 'ip.flood',
  'ip null': 'ip.flood',
  'ip fragmentation': 'ip.fragment',
  'ip fragment': 'ip.fragment',
  udp: 'udp.flood',
  dns: 'udp.flood',
  'tcp syn': 'tcp.syn_flood',
  'tcp syn/ack amplification': 'tcp.flood',
  'tcp ack': 'tcp.ack_flood',
  'tcp rst': 'tcp.rst_flood',
  'tcp null': 'tcp.flood',
  icmp: 'icmp.flood',
  'chargen amplification': 'udp.amplification.chargen',
  'cldap amplification': 'udp.amplification.cldap',
  'dns amplification': 'udp.amplification.dns',
  'mdns amplification': 'udp.amplification.mdns',
  'memcached amplification': 'udp.amplification.memcached',
  'netbios amplification': 'udp.amplification.netbios',
  'ntp amplification': 'udp.amplification.ntp',
  'rpcbind amplification': 'udp.amplification.portmap',
  'sip amplification': 'udp.amplification.sip',
  'snmp amplification': 'udp.amplification.snmp',
  'ssdp amplification': 'udp.amplification.ssdp',
  'l2tp amplification': 'udp.flood',
  'ms sql rs amplification': 'udp.flood',
  'ripv1 amplification': 'udp.flood',
}

function describe(
  direction: EventFlag | undefined,
  kind: Classification | undefined,
  network: string | undefined,
  { host_address: host }: ReportFields,
): string {
  const way = direction === undefined ? '' : `${direction.toLowerCase()} `
  const target =
    network === undefined ? '' : ` on ${typeof host === 'string' ? cleanText(host, 60).trim() : network}`
  const text = `${way}${classifications[kind ?? 'unknown']}${target}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function thresholdsOf(
  detail: ReportFields,
  at: (name: string) => string,
  notes: Notes,
): { thresholds?: JsonObject } {
  const { severity_unit: unit } = detail
  if (unit !== 'bps' && unit !== 'pps') return {}
  const rate = notes.optional(() => readAmount(detail.severity_threshold, at('subobject/severity_threshold')))
  return rate === undefined ? {} : { thresholds: { [unit]: rate } }
}
