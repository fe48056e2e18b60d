// The lists and the detail of incidents.
import { eventFlags, eventStatuses, type EventStatus, type RelatedEvent } from '@pharos/contract/events/event'
import type {
  getIncidentRoute,
  Incident,
  IncidentConfidence,
  IncidentDetail,
  listIncidentsRoute,
} from '@pharos/contract/events/incident'
import type { QueryOf, ResponseOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { etagOf } from '../../operation/etag.ts'
import type { ReadingActor } from '../../operation/operation.ts'
import { notFound } from '../../runtime/error.ts'
import { directionOfFlags } from '../relate/event-json.ts'
import { largestFirst } from '../event/event.ts'
import {
  findIncidentRow,
  listIncidentRows,
  listKinds,
  type IncidentEvent,
  type IncidentKind,
  type IncidentRow,
} from './incident-list.store.ts'
import { parseEventQuery } from './event-query.ts'

type Deps = { readonly postgres: Postgres }

export async function listIncidents(
  { postgres }: Deps,
  { actor }: ReadingActor,
  query: QueryOf<typeof listIncidentsRoute>,
): Promise<ResponseOf<typeof listIncidentsRoute>> {
  const { rows, count } = await listIncidentRows(postgres, actor.teamId, parseEventQuery(query))
  return { results: rows.map((row) => presentIncident(row, eventsOf(row))), count }
}

/** Lists the most frequent kinds of the incidents that overlap the window, without false positives. The end is exclusive. */
export function listIncidentKinds(
  { postgres }: Deps,
  { actor }: ReadingActor,
  { start, end }: { readonly start: Date; readonly end: Date },
  limit: number,
): Promise<IncidentKind[]> {
  const window = { start: start.toISOString(), end: new Date(end.getTime() - 1).toISOString() }
  const query = parseEventQuery({ ...window, false_positive: false, ordering: 'id', limit, offset: 0 })
  return listKinds(postgres, actor.teamId, query)
}

/** Returns the incident of the event with the id. Throws `not_found` unless the event concerns the team. */
export async function getIncident(
  { postgres }: Deps,
  { actor }: ReadingActor,
  id: string,
): Promise<{ body: ResponseOf<typeof getIncidentRoute>; etag: string }> {
  const row = await findIncidentRow(postgres, actor.teamId, id)
  if (!row) throw notFound('incident')
  const events = eventsOf(row)
  const body: IncidentDetail = { ...presentIncident(row, events), events }
  return { body, etag: etagOf(body) }
}

export const eventsOf = ({ events }: IncidentRow): RelatedEvent[] =>
  events.map(
    ({ record, relationships }) => JSON.parse(`${record},"relationships":${relationships}}`) as RelatedEvent,
  )

export function presentIncident(row: IncidentRow, events: readonly RelatedEvent[]): Incident {
  const status = statusOf(row, events)
  return {
    id: row.id,
    network: networkOf(events),
    direction: directionOfFlags(events[0]?.flags ?? []),
    classification_key: row.class,
    start: row.start.toISOString(),
    end: row.end?.toISOString() ?? null,
    affected_bps: row.bps,
    affected_pps: row.pps,
    sources: [...row.sources],
    event_count: row.eventCount,
    confidence: confidenceOf(row),
    mitigation: status.includes('MITIGATION_ACTIVE')
      ? 'active'
      : status.includes('MITIGATION_ENDED')
        ? 'ended'
        : 'none',
    flags: eventFlags.filter((flag) => events.some(({ flags }) => flags.includes(flag))),
    status,
    relationships: relationshipsOf(events),
  }
}

function networkOf(events: readonly RelatedEvent[]): string {
  const networks = events.flatMap(({ affected_network: one }) => (one === '' ? [] : [parsePrefix(one)]))
  return networks.toSorted(largestFirst)[0] ?? ''
}

function statusOf({ end }: IncidentRow, events: readonly RelatedEvent[]): EventStatus[] {
  const has = (one: EventStatus) => events.some(({ status }) => status.includes(one))
  const shown = new Set<EventStatus>([
    end !== null ? 'EVENT_ENDED' : has('EVENT_ONGOING') ? 'EVENT_ONGOING' : 'EVENT_PENDING',
  ])
  if (has('MITIGATION_ACTIVE')) shown.add('MITIGATION_ACTIVE')
  else if (has('MITIGATION_ENDED')) shown.add('MITIGATION_ENDED')
  if (has('ACKNOWLEDGED')) shown.add('ACKNOWLEDGED')
  if (events.every(({ status }) => status.includes('FALSE_POSITIVE'))) shown.add('FALSE_POSITIVE')
  return eventStatuses.filter((one) => shown.has(one))
}

const mixed: ReadonlySet<string> = new Set(['unknown', 'tcp.flood', 'ip.flood', 'carpet.mixed'])

type Judged = Pick<IncidentRow, 'class' | 'sources' | 'bps' | 'pps'> & {
  readonly events: readonly Pick<IncidentEvent, 'verdict' | 'thresholds'>[]
}

/** Factor of the threshold from which a rate is beyond doubt. */
const beyondDoubt = 2
/** Share of an attack from which it has a single kind. */
const oneKindShare = 0.6

/** By the kind of attack, the detectors and the verdict, and by the figures of the detector if available. */
export function confidenceOf({ class: key, sources, bps, pps, events }: Judged): IncidentConfidence {
  const isOneKind = events.some(
    ({ thresholds }) => (numberIn(thresholds, 'leading_share') ?? 1) >= oneKindShare,
  )
  if (mixed.has(key) || !isOneKind) return 'low'
  const isHigh =
    sources.length > 1 ||
    events.some(
      ({ verdict, thresholds }) =>
        verdict === 'attack' || isFar(thresholds, 'bps', bps) || isFar(thresholds, 'pps', pps),
    )
  return isHigh ? 'high' : 'medium'
}

/** By the lower bound of the rate if the detector reports one, else by the peak. */
function isFar(thresholds: IncidentEvent['thresholds'], unit: 'bps' | 'pps', peak: number): boolean {
  const threshold = numberIn(thresholds, unit)
  const rate = numberIn(thresholds, `lower_${unit}`) ?? peak
  return threshold !== undefined && threshold > 0 && rate >= beyondDoubt * threshold
}

function numberIn(thresholds: IncidentEvent['thresholds'], name: string): number | undefined {
  const value = thresholds?.[name]
  return typeof value === 'number' ? value : undefined
}

/** Each resource once for each way in which it is related. */
function relationshipsOf(events: readonly RelatedEvent[]): Incident['relationships'] {
  const all = events.flatMap(({ relationships }) => relationships)
  return [
    ...new Map(
      all.map((one) => [`${one.match_resource_link} ${one.match_type} ${one.match_value}`, one]),
    ).values(),
  ]
}
