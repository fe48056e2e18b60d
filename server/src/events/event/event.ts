// An event, and the content of one delivery about it: an observation. Merging observations gives the same event in any
// order and for any number of repeats. Pure: no database, no clock; team-part.ts decides the part for a team.
import { hash } from 'node:crypto'
import { eventFlags, eventSignals, eventStatuses } from '@pharos/contract/events/event'
import type {
  EventFlag,
  EventSignal,
  EventStatus,
  ParsedData,
  TimelineSample,
} from '@pharos/contract/events/event'
import type { Address } from '../../net/address.ts'
import { comparePrefixes, lengthOf } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { JsonObject } from './json.ts'
import {
  byText,
  compareStamps,
  greatest,
  higherPeak,
  later,
  laterDelivery,
  least,
  topShares,
  union,
  unionOfJson,
} from './merge-rules.ts'
import type { TrafficShare, Stamp, Stated, StatedDelivery } from './merge-rules.ts'
import { mergeTimelines } from './timeline.ts'

/** Texts of an event, from deliveries or from the defaults of the source's configuration. */
const textNames = [
  'classificationKey',
  'description',
  'sourceTimezone',
  'sourceResourceId',
  'sourceLocationId',
  'sourceCountry',
  'sourceLocation',
] as const
export type EventTexts = { readonly [name in (typeof textNames)[number]]: string }

/** The parts of `parsed_data` that an observation contains directly; the others are derived from its other fields. */
export type ObservedData = Omit<ParsedData, 'peaks' | 'timeline' | 'networks' | 'source' | 'thresholds'> & {
  readonly thresholds?: JsonObject
}

/** A stored delivery. The hash is of its body, `received` in ms since 1970. */
export type DeliveryMark = { readonly id: number; readonly received: number; readonly hash: string }

export type EventObservation = {
  readonly sourceEventId: string
  readonly receivedAt: Date
  /** Time of the observation according to the source; null if missing. */
  readonly observedAt: Date | null
  /** Of two values with the same time (or without a time), the value with the greater weight is kept. */
  readonly weight: number
  readonly start: Date | null
  /** If set, the event has ended. */
  readonly end: Date | null
  readonly signals: readonly EventSignal[]
  readonly flags: readonly EventFlag[]
  readonly networks: readonly Prefix[]
  /** Bits per second. */
  readonly bps: number | null
  /** Packets per second. */
  readonly pps: number | null
  /** Some detectors repeat the initial rates in later deliveries: repeated rates are not added to the timeline. */
  readonly ratesAreRepeated: boolean
  readonly texts: Partial<EventTexts>
  readonly seen: ObservedData
  /** Sampled packets with their address in the event's networks, if the networks may belong to several teams. */
  readonly samples?: readonly TargetSample[]
  /**
   * Returns the detector's own message about the event, abridged. The event does not contain it: it refers to the delivery, which is
   * kept as long (see `messageOf` in parse-delivery.ts).
   */
  readonly message?: () => JsonObject
  /** The delivery that contains the message. */
  readonly delivery?: DeliveryMark
}

export type TargetSample = Required<TrafficShare> & {
  readonly target: Address
  readonly source: Address
  readonly sourcePort?: number | undefined
  readonly destinationPort?: number | undefined
}

/** The source of an event, with its configured defaults. */
export type EventSource = { readonly key: string; readonly defaults: Partial<EventTexts> }

/** The state that merging needs beyond the event itself. Times in ms since 1970. */
export type MergeState = {
  readonly signals: readonly EventSignal[]
  /** The earliest stated start, or time of an observation that stated neither start nor end. */
  readonly start?: number
  /** The latest stated end. */
  readonly end?: number
  /** Time of the first `ended` signal without a stated end. */
  readonly over?: number
  /** Time of the first `mitigation_ended` signal. */
  readonly mitigationOver?: number
  readonly samples?: readonly TargetSample[]
  /** The delivery with the latest message of the detector. */
  readonly delivery?: StatedDelivery
  /** `source`: of a message within the event itself, as in events from before deliveries were referred to. */
  readonly stamps: { readonly [name in keyof EventTexts | 'thresholds' | 'source']?: Stamp }
}

export type Event = EventTexts & {
  readonly id: string
  readonly sourceKey: string
  readonly sourceEventId: string
  readonly flags: readonly EventFlag[]
  readonly status: readonly EventStatus[]
  /** The largest of the networks; null if unknown. */
  readonly affectedNetwork: Prefix | null
  readonly start: Date
  /** Null while the event is ongoing; never before the start. */
  readonly end: Date | null
  readonly affectedBps: number
  readonly affectedPps: number
  readonly parsedData: ParsedData
  readonly hasAttachment: boolean
  /** The delivery with the latest message of the detector, and when it was received. */
  readonly sourceDelivery: number | null
  readonly sourceReceived: Date | null
  readonly mergeState: MergeState
}

/** Maximum number of networks kept per event. */
export const networksMax = 1_000
const sharesMax = 20
const samplesMax = 200
const textsMax = 50
const rulesMax = 50
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/**
 * Returns 20 characters, 100 bits, derived from the source's key of the event: the same event has the same id
 * everywhere.
 */
export function eventIdOf(sourceKey: string, sourceEventId: string): string {
  const digest = hash('sha256', `${sourceKey}\0${sourceEventId}`, 'buffer')
  let id = ''
  for (let i = 0; i < 20; i++) id += alphabet[digest[i]! & 31]
  return id
}

/** All networks of the event, the largest first. */
export function networksOf(event: Event): readonly Prefix[] {
  const several = event.parsedData.networks as Prefix[] | undefined
  return several ?? (event.affectedNetwork === null ? [] : [event.affectedNetwork])
}

/**
 * Merges the observation into the event. The start is the minimum, peaks are the maximum; status, flags and lists are
 * sets; of each text the latest value is kept, then the value with the greatest weight. An ended event stays ended: a
 * repeated start does not reopen it. An end before the start gives an event that ends at its start.
 */
export function mergeObservation(
  event: Event | undefined,
  observation: EventObservation,
  source: EventSource,
): Event {
  const state = mergeState(event?.mergeState, observation)
  const texts = mergeTexts(event, state.stamps, observation, source)
  const parsedData = mergeParsedData(event, state.stamps, observation)
  const over = endOf(state)
  const start = state.start ?? over!
  const [network] = parsedData.networks
  return {
    id: event?.id ?? eventIdOf(source.key, observation.sourceEventId),
    sourceKey: source.key,
    sourceEventId: observation.sourceEventId,
    flags: flagsOf(event?.flags ?? [], observation.flags, parsedData),
    status: statusOf(state.signals, over !== undefined),
    affectedNetwork: network ?? null,
    start: new Date(start),
    end: over === undefined ? null : new Date(Math.max(start, over)),
    ...texts.values,
    affectedBps: parsedData.value.peaks?.bps?.value ?? 0,
    affectedPps: parsedData.value.peaks?.pps?.value ?? 0,
    parsedData: parsedData.value,
    hasAttachment: event?.hasAttachment ?? false,
    sourceDelivery: state.delivery?.id ?? null,
    sourceReceived: state.delivery ? new Date(state.delivery.received) : null,
    mergeState: { ...state, stamps: { ...texts.stamps, ...parsedData.stamps } },
  }
}

function mergeState(before: MergeState | undefined, observation: EventObservation): MergeState {
  const at = timeOf(observation).getTime()
  const signals = new Set(signalsOf(observation))
  const end = observation.end?.getTime()
  const started = observation.start?.getTime() ?? (end === undefined ? at : undefined)
  const state = {
    start: least(before?.start, started),
    end: greatest(before?.end, end),
    over: least(before?.over, signals.has('ended') && end === undefined ? at : undefined),
    mitigationOver: least(before?.mitigationOver, signals.has('mitigation_ended') ? at : undefined),
    samples: nonEmpty(topShares(before?.samples ?? [], observation.samples ?? [], sampleKey, samplesMax)),
    delivery: laterDelivery(
      before?.delivery,
      observation.delivery && { ...observation.delivery, stamp: stampOf(observation) },
    ),
  }
  return {
    ...withoutUndefined(state),
    signals: inOrder(eventSignals, [...(before?.signals ?? []), ...signals]),
    stamps: before?.stamps ?? {},
  }
}

const timeOf = ({ observedAt, receivedAt }: EventObservation): Date => observedAt ?? receivedAt

function signalsOf({ signals, end }: EventObservation): readonly EventSignal[] {
  return inOrder(eventSignals, end === null ? signals : [...signals, 'ended'])
}

/** Returns the time of the end. An event known only from its mitigation ends with the mitigation. */
function endOf(state: MergeState): number | undefined {
  if (state.end !== undefined || state.over !== undefined) return state.end ?? state.over
  const seen = state.signals.includes('pending') || state.signals.includes('ongoing')
  return seen ? undefined : state.mitigationOver
}

function statusOf(signals: readonly EventSignal[], isOver: boolean): EventStatus[] {
  const status: EventStatus[] = [
    isOver ? 'EVENT_ENDED' : signals.includes('ongoing') ? 'EVENT_ONGOING' : 'EVENT_PENDING',
  ]
  if (signals.includes('mitigation_ended')) status.push('MITIGATION_ENDED')
  else if (signals.includes('mitigation_active')) status.push('MITIGATION_ACTIVE')
  if (signals.includes('acknowledged')) status.push('ACKNOWLEDGED')
  if (signals.includes('false_positive')) status.push('FALSE_POSITIVE')
  return inOrder(eventStatuses, status)
}

function flagsOf(
  before: readonly EventFlag[],
  observed: readonly EventFlag[],
  { networks, value }: MergedData,
): EventFlag[] {
  const flags: EventFlag[] = [...before, ...observed]
  if (networks.some((network) => network.includes(':'))) flags.push('IPV6')
  if ((value.vectors?.length ?? 0) > 1) flags.push('MULTI_VECTOR')
  return inOrder(eventFlags, flags)
}

function mergeTexts(
  event: Event | undefined,
  stamps: MergeState['stamps'],
  observation: EventObservation,
  source: EventSource,
): { values: EventTexts; stamps: MergeState['stamps'] } {
  const values: Record<string, string> = {}
  const kept: Record<string, Stamp> = {}
  for (const name of textNames) {
    const stamp = stamps[name]
    const before = event && stamp ? { value: event[name], stamp } : undefined
    const stated = later(before, statedBy(observation, observation.texts[name]))
    values[name] = stated?.value ?? source.defaults[name] ?? fallbacks[name] ?? ''
    if (stated) kept[name] = stated.stamp
  }
  return { values: values as EventTexts, stamps: kept }
}

const fallbacks: Partial<EventTexts> = { classificationKey: 'unknown', sourceTimezone: 'UTC' }

function statedBy<T extends string | JsonObject>(
  observation: EventObservation,
  value: T | undefined,
): Stated<T> | undefined {
  return value === undefined ? undefined : { value, stamp: stampOf(observation) }
}

/** Returns the time and weight that order the observations. */
export const stampOf = ({ observedAt, weight }: EventObservation): Stamp => [
  observedAt?.getTime() ?? -1,
  weight,
]

type MergedData = {
  readonly value: ParsedData
  readonly networks: readonly Prefix[]
  readonly stamps: MergeState['stamps']
}

function mergeParsedData(
  event: Event | undefined,
  stamps: MergeState['stamps'],
  observation: EventObservation,
): MergedData {
  const before: ParsedData = event?.parsedData ?? {}
  const { seen } = observation
  const networks = union(event ? networksOf(event) : [], observation.networks, largestFirst, networksMax)
  const thresholds = later(
    before.thresholds && stamps.thresholds
      ? { value: before.thresholds as JsonObject, stamp: stamps.thresholds }
      : undefined,
    statedBy(observation, seen.thresholds),
  )
  const source = keptMessage(before, stamps.source, observation)
  const at = timeOf(observation).toISOString()
  const peak = (value: number | null) => (value === null ? undefined : { value, at })
  const value = withoutUndefined({
    vectors: nonEmpty(specificOf(union(before.vectors ?? [], seen.vectors ?? [], byText, textsMax))),
    protocols: nonEmpty(union(before.protocols ?? [], seen.protocols ?? [], byText, textsMax)),
    top_sources: nonEmpty(
      topShares(before.top_sources ?? [], seen.top_sources ?? [], (share) => share.address, sharesMax),
    ),
    source_ports: nonEmpty(topShares(before.source_ports ?? [], seen.source_ports ?? [], portOf, sharesMax)),
    destination_ports: nonEmpty(
      topShares(before.destination_ports ?? [], seen.destination_ports ?? [], portOf, sharesMax),
    ),
    thresholds: thresholds?.value,
    peaks: someOf({
      bps: higherPeak(before.peaks?.bps, peak(observation.bps)),
      pps: higherPeak(before.peaks?.pps, peak(observation.pps)),
    }),
    timeline: nonEmpty(mergeTimelines(before.timeline ?? [], samplesOf(observation))),
    total_bytes: greatest(before.total_bytes, seen.total_bytes),
    total_packets: greatest(before.total_packets, seen.total_packets),
    mitigation: someOf({
      actions: nonEmpty(
        union(before.mitigation?.actions ?? [], seen.mitigation?.actions ?? [], byText, textsMax),
      ),
      rules: nonEmpty(
        unionOfJson(
          (before.mitigation?.rules ?? []) as JsonObject[],
          (seen.mitigation?.rules ?? []) as JsonObject[],
          rulesMax,
        ),
      ),
    }),
    networks: networks.length > 1 ? networks : undefined,
    source: source && before.source,
  }) as ParsedData
  return {
    value,
    networks,
    stamps: withoutUndefined({
      thresholds: thresholds?.stamp,
      source,
    }) as MergeState['stamps'],
  }
}

/**
 * Returns the stamp of the message within the event if it is later than the observation's; undefined otherwise. Only
 * events written before events referred to deliveries contain a message.
 */
function keptMessage(
  before: ParsedData,
  stamp: Stamp | undefined,
  observation: EventObservation,
): Stamp | undefined {
  if (before.source === undefined || stamp === undefined) return undefined
  return observation.delivery === undefined || compareStamps(stamp, stampOf(observation)) > 0
    ? stamp
    : undefined
}

/** Returns the observation's sample for the timeline; an empty list without a signal or a rate with its own time. */
function samplesOf(observation: EventObservation): TimelineSample[] {
  const signals = [...signalsOf(observation)]
  const { bps, pps, ratesAreRepeated } = observation
  const rates = ratesAreRepeated ? {} : withoutUndefined({ bps: bps ?? undefined, pps: pps ?? undefined })
  if (signals.length === 0 && Object.keys(rates).length === 0) return []
  return [{ at: timeOf(observation).toISOString(), signals, ...rates }]
}

/**
 * A delivery without sampled packets is less specific: "a UDP flood" is no second vector besides "a DNS amplification".
 */
function specificOf(vectors: readonly string[]): string[] {
  return vectors.filter((vector) => {
    const [family] = vector.split('.', 1)
    return (
      vector !== `${family}.flood` ||
      !vectors.some((other) => other !== vector && other.startsWith(`${family}.`))
    )
  })
}

const sampleKey = ({ target, source, sourcePort, destinationPort }: TargetSample): string =>
  `${target} ${source} ${sourcePort} ${destinationPort}`

const portOf = (share: { readonly port: number }): string => String(share.port).padStart(5, '0')

/** IPv4 first, then the largest first. */
export function largestFirst(a: Prefix, b: Prefix): number {
  const family = Number(a.includes(':')) - Number(b.includes(':'))
  return family || lengthOf(a) - lengthOf(b) || comparePrefixes(a, b)
}

function inOrder<T extends string>(vocabulary: readonly T[], words: readonly T[]): T[] {
  return vocabulary.filter((word) => words.includes(word))
}

function nonEmpty<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined
}

function someOf<T extends object>(value: T): T | undefined {
  const kept = withoutUndefined(value)
  return Object.keys(kept).length > 0 ? (kept as T) : undefined
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never
}
