// The lists of events and the detail of one event. Responses are concatenated stored texts.
import { hash } from 'node:crypto'
import type { getRelatedEventRoute, listEventsRoute, listRelatedEventsRoute } from '@pharos/contract/analysis'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../db/postgres.ts'
import { fail, notFound } from '../runtime/error.ts'
import type { Actor, TeamReader } from '../operation/operation.ts'
import { hasPartOfFile } from './attachment/event-attachment.ts'
import {
  hasFormerHoldings,
  listEventsOfTeams,
  listEveryEvent,
  listTeamsWithEvents,
} from './all-events.store.ts'
import type { Db, Trx } from '../db/postgres.ts'
import type { JsonObject } from './json.ts'
import { createSourceReader, messageOf, readDelivery } from './read-delivery.ts'
import { findMarks } from './event-mark.store.ts'
import { presentMarks } from './event-mark.ts'
import { presentReview } from './review.ts'
import { listSources } from './source.store.ts'
import {
  findEventDelivery,
  findParsedData,
  findRelatedEvent,
  listRelated,
  type RelatedDetail,
} from './related-event.store.ts'
import { parseRelatedQuery } from './related-query.ts'
import type { RelatedRows } from './related-sql.store.ts'

export type RelatedDeps = { readonly postgres: Postgres }

/** Returns a page as JSON text. */
export type RelatedPage = { readonly raw: string; readonly count: number }

export async function listTeamEvents(
  { postgres }: RelatedDeps,
  { actor }: TeamReader,
  query: QueryOf<typeof listRelatedEventsRoute>,
): Promise<RelatedPage> {
  return pageOf(await listRelated(postgres, actor.teamId, parseRelatedQuery(query)))
}

/** Lists the events of all of the caller's teams, and for staff those of every team. */
export async function listEvents(
  { postgres }: RelatedDeps,
  { actor }: { readonly actor: Actor },
  { team_id: teamId, ...query }: QueryOf<typeof listEventsRoute>,
): Promise<RelatedPage> {
  const parsed = parseRelatedQuery(query)
  if (actor.isStaff && teamId !== undefined && teamId > teamIdMax) return pageOf({ results: '', count: 0 })
  if (actor.isStaff) {
    return pageOf(
      await (teamId === undefined
        ? listEveryEvent(postgres.front, parsed)
        : listRelated(postgres, teamId, parsed)),
    )
  }
  if (teamId !== undefined) throw fail('forbidden', 'staffOnly')
  const teamIds =
    actor.kind === 'token' ? [actor.teamId] : await listTeamsWithEvents(postgres.front, actor.userId)
  const [only] = teamIds
  if (teamIds.length === 1 && !(await hasFormerHoldings(postgres.front, teamIds))) {
    return pageOf(await listRelated(postgres, only!, parsed))
  }
  return pageOf(await listEventsOfTeams(postgres.front, teamIds, parsed))
}

/** The greatest number of the column; more digits are a valid id that no team has. */
const teamIdMax = 2_147_483_647

const pageOf = ({ results, count }: RelatedRows): RelatedPage => ({
  raw: `{"results":[${results}],"count":${count}}`,
  count,
})

/**
 * Returns the detail as JSON text; throws not_found unless the event concerns the team. Staff get the parsed data of
 * the whole event.
 */
export async function getTeamEvent(
  { postgres }: RelatedDeps,
  { actor }: TeamReader,
  eventId: string,
  query: DetailQuery = {},
): Promise<RenderedDetail> {
  const found = await findRelatedEvent(postgres, actor.teamId, eventId)
  if (!found) throw notFound('event')
  return renderDetail(postgres, postgres.owner, actor, found, query)
}

type DetailQuery = QueryOf<typeof getRelatedEventRoute>
export type RenderedDetail = { readonly body: { readonly raw: string }; readonly etag: string }

/** Renders what `findRelatedEvent` or `findDetail` has found for the caller. */
export async function renderDetail(
  postgres: Postgres,
  db: Db | Trx,
  { teamId, isStaff }: TeamReader['actor'],
  found: RelatedDetail,
  { include }: DetailQuery,
): Promise<RenderedDetail> {
  const { event_id: eventId } = found
  const whole = isStaff ? await findParsedData(db, eventId) : undefined
  const data = whole ?? found.parsed_data
  const message = isStaff || found.is_whole ? await findMessage(db, eventId) : undefined
  const parsed = message === undefined ? data : withField(data, 'source', message)
  const included = include?.split(',') ?? []
  const review = included.includes('review')
    ? `,"review":${JSON.stringify(await presentReview(db, { teamId, isStaff }, eventId))}`
    : ''
  const marks = included.includes('marks')
    ? `,"marks":${JSON.stringify(presentMarks(await findMarks(db, teamId, eventId)))}`
    : ''
  const hasFile =
    found.has_attachment || (!found.is_whole && (await hasPartOfFile(postgres, { teamId, isStaff }, eventId)))
  const raw = `${found.record},"parsed_data":${parsed},"has_attachment":${hasFile}${review}${marks}}`
  return { body: { raw }, etag: detailEtag(found, raw) }
}

/** The version of the review is what a client can change. */
const detailEtag = ({ review }: RelatedDetail, raw: string): string =>
  `"${review}.${hash('sha256', raw, 'base64url').slice(0, 22)}"`

/** Adds a field to the text of a JSON object. */
const withField = (object: string, name: string, value: object): string =>
  `${object.slice(0, object.lastIndexOf('}'))}${/^\s*\{\s*\}\s*$/.test(object) ? '' : ','}"${name}":${JSON.stringify(value)}}`

/**
 * Returns the detector's own message about the event, from its latest delivery; undefined if the delivery is not kept or its source does not
 * read it any more. A delivery may contain events of others: only what is about this one is returned.
 */
async function findMessage(db: Db | Trx, eventId: string): Promise<JsonObject | undefined> {
  const delivery = await findEventDelivery(db, eventId)
  if (!delivery) return undefined
  const [source] = await listSources(db, [delivery.sourceKey])
  const { observations } = readDelivery(createSourceReader(source!), delivery.body, delivery.received)
  return messageOf(observations, eventId)
}
