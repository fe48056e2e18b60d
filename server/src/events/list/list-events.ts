// The lists of events and the detail of one event. Responses are concatenated stored texts.
import { hash } from 'node:crypto'
import type {
  getRelatedEventRoute,
  listEventsRoute,
  listRelatedEventsRoute,
  RelatedEvent,
} from '@pharos/contract/events/event'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../../db/postgres.ts'
import { fail, notFound } from '../../runtime/error.ts'
import { seesAllTeams } from '../../operation/grant.ts'
import type { Actor, ReadingActor } from '../../operation/operation.ts'
import { hasPartOfFile } from '../attachment/event-attachment.ts'
import {
  hasFormerHoldings,
  listEventsOfTeams,
  listEveryEvent,
  listTeamsWithEvents,
} from './events-of-teams.store.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { listIncidentsOfEvents, type EventIncidentRow } from './incident-list.store.ts'
import type { MessageCache } from './message-cache.ts'
import { createSourceReader, detectorMessageOf, parseDelivery } from '../ingest/parse-delivery.ts'
import { findMarks } from '../relate/event-mark.store.ts'
import { presentMarks } from '../relate/event-mark.ts'
import { presentReview } from './review.ts'
import {
  findEventDelivery,
  findEventOfTeam,
  findWholeDetail,
  listEventsOfTeam,
  type DeliveryPlace,
  type EventDelivery,
  type EventDetail,
} from './list-events.store.ts'
import { parseEventQuery } from './event-query.ts'
import type { EventRows } from './event-sql.store.ts'

export type ListEventsDeps = { readonly postgres: Postgres }
export type DetailDeps = ListEventsDeps & { readonly messages: MessageCache }

/** Returns a page as JSON text. */
export type EventPage = { readonly raw: string; readonly count: number }

export async function listTeamEvents(
  { postgres }: ListEventsDeps,
  { actor }: ReadingActor,
  query: QueryOf<typeof listRelatedEventsRoute>,
): Promise<EventPage> {
  const { include, ...filters } = query
  const page = await listEventsOfTeam(postgres, actor.teamId, parseEventQuery(filters))
  return pageOf(include === undefined ? page : await withIncidents(postgres, actor.teamId, page))
}

async function withIncidents(
  postgres: Postgres,
  teamId: number,
  { results, count }: EventRows,
): Promise<EventRows> {
  const events = JSON.parse(`[${results}]`) as RelatedEvent[]
  const ids = events.map(({ id }) => id)
  const incidents = await postgres.inTeam(teamId, (trx) => listIncidentsOfEvents(trx, teamId, ids))
  const byEvent = new Map(incidents.map(({ eventId, ...incident }) => [eventId, incident]))
  return {
    results: events.map((event) => JSON.stringify({ ...event, incident: byEvent.get(event.id) })).join(','),
    count,
  }
}

/** Lists the events of all of the caller's teams, and for staff the events of every team. */
export async function listEvents(
  { postgres }: ListEventsDeps,
  { actor }: { readonly actor: Actor },
  { team_id: teamId, ...query }: QueryOf<typeof listEventsRoute>,
): Promise<EventPage> {
  const parsed = parseEventQuery(query)
  if (seesAllTeams(actor) && teamId !== undefined && teamId > teamIdMax)
    return pageOf({ results: '', count: 0 })
  if (seesAllTeams(actor)) {
    return pageOf(
      await (teamId === undefined
        ? listEveryEvent(postgres.front, parsed)
        : listEventsOfTeam(postgres, teamId, parsed)),
    )
  }
  if (teamId !== undefined) throw fail('forbidden', 'staffOnly')
  const teamIds = actor.kind === 'token' ? [actor.teamId] : await listTeamsWithEvents(postgres.front, actor)
  const [only] = teamIds
  if (teamIds.length === 1 && !(await hasFormerHoldings(postgres.front, teamIds))) {
    return pageOf(await listEventsOfTeam(postgres, only!, parsed))
  }
  return pageOf(await listEventsOfTeams(postgres.front, teamIds, parsed))
}

/** The greatest number of the column; more digits are a valid id that no team has. */
const teamIdMax = 2_147_483_647

const pageOf = ({ results, count }: EventRows): EventPage => ({
  raw: `{"results":[${results}],"count":${count}}`,
  count,
})

/**
 * Returns the detail as JSON text; throws not_found unless the event concerns the team. Staff get the parsed data of
 * the whole event.
 */
export async function getTeamEvent(
  deps: DetailDeps,
  { actor }: ReadingActor,
  eventId: string,
  query: DetailQuery = {},
): Promise<RenderedDetail> {
  const found = await findEventOfTeam(deps.postgres, actor.teamId, eventId)
  if (!found) throw notFound('event')
  return renderDetail(deps, deps.postgres.front, actor, found, query)
}

type DetailQuery = QueryOf<typeof getRelatedEventRoute>
export type RenderedDetail = { readonly body: { readonly raw: string }; readonly etag: string }

/** Renders the result of `findRelatedEvent` or `findDetail` for the caller. */
export async function renderDetail(
  { postgres, messages }: DetailDeps,
  db: Db | Trx,
  reader: ReadingActor['actor'],
  found: EventDetail,
  { include }: DetailQuery,
): Promise<RenderedDetail> {
  const { teamId } = reader
  const isWhole = seesAllTeams(reader)
  const { event_id: eventId } = found
  const { parsed_data: data, ...place } = (isWhole && (await findWholeDetail(db, eventId))) || found
  const message = isWhole || found.is_whole ? await readMessage(messages, db, eventId, place) : null
  const parsed = message === null ? data : withField(data, 'source', message)
  const included = include?.split(',') ?? []
  const review = included.includes('review')
    ? `,"review":${JSON.stringify(await presentReview(db, reader, eventId))}`
    : ''
  const marks = included.includes('marks')
    ? `,"marks":${JSON.stringify(presentMarks(await findMarks(db, teamId, eventId)))}`
    : ''
  const incident = included.includes('incident')
    ? `,"incident":${JSON.stringify(incidentOf(await listIncidentsOfEvents(db, teamId, [eventId])))}`
    : ''
  const hasFile =
    found.has_attachment || (!found.is_whole && (await hasPartOfFile(postgres, reader, eventId)))
  const raw = `${found.record},"parsed_data":${parsed},"has_attachment":${hasFile}${review}${marks}${incident}}`
  return { body: { raw }, etag: detailEtag(found, raw) }
}

const incidentOf = ([row]: readonly EventIncidentRow[]) =>
  row && { id: row.id, sources: row.sources, event_count: row.event_count }

/** Clients can change only the review, by its version. */
const detailEtag = ({ review }: EventDetail, raw: string): string =>
  `"${review}.${hash('sha256', raw, 'base64url').slice(0, 22)}"`

/** Adds a field, whose value is JSON, to the text of a JSON object. */
const withField = (object: string, name: string, value: string): string =>
  `${object.slice(0, object.lastIndexOf('}'))}${/^\s*\{\s*\}\s*$/.test(object) ? '' : ','}"${name}":${value}}`

/**
 * Returns the detector's own message about the event as JSON, from its latest delivery; null if the event refers to no
 * delivery, the delivery was deleted or its source no longer parses it. A delivery may contain events of others: only
 * the message about this event is returned.
 */
async function readMessage(
  messages: MessageCache,
  db: Db | Trx,
  eventId: string,
  { source_delivery: id, source_received: received }: DeliveryPlace,
): Promise<string | null> {
  if (id === null || received === null) return null
  const key = `${id} ${eventId}`
  const known = messages.find(key)
  if (known !== undefined) return known
  const message = messageIn(await findEventDelivery(db, id, received), eventId)
  messages.save(key, message)
  return message
}

function messageIn(delivery: EventDelivery | undefined, eventId: string): string | null {
  if (!delivery) return null
  const { observations } = parseDelivery(
    createSourceReader(delivery.source),
    delivery.body,
    delivery.received,
  )
  const message = detectorMessageOf(observations, eventId)
  return message === undefined ? null : JSON.stringify(message)
}
