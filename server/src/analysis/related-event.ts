// The related list and the detail of one event. Responses are concatenated stored texts.
import type { listRelatedEventsRoute } from '@pharos/contract/analysis'
import type { QueryOf } from '@pharos/contract/route'
import type { Postgres } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import type { Actor } from '../operation/operation.ts'
import { findParsedData, findRelatedEvent, listRelated } from './related-event.store.ts'
import { parseRelatedQuery } from './related-query.ts'

export type RelatedDeps = { readonly postgres: Postgres }
type Reader = { readonly actor: Pick<Actor, 'teamId' | 'isStaff'> }

/** Returns a page as JSON text. */
export type RelatedPage = { readonly raw: string; readonly count: number }

export async function listTeamEvents(
  { postgres }: RelatedDeps,
  { actor }: Reader,
  query: QueryOf<typeof listRelatedEventsRoute>,
): Promise<RelatedPage> {
  const { results, count } = await listRelated(postgres, actor.teamId, parseRelatedQuery(query))
  return { raw: `{"results":[${results}],"count":${count}}`, count }
}

/**
 * Returns the detail as JSON text; throws not_found unless the event concerns the team. Staff get the parsed data of
 * the whole event.
 */
export async function getTeamEvent(
  { postgres }: RelatedDeps,
  { actor: { teamId, isStaff } }: Reader,
  eventId: string,
): Promise<{ readonly raw: string }> {
  const found = await findRelatedEvent(postgres, teamId, eventId)
  if (!found) throw notFound('event')
  const whole = isStaff ? await findParsedData(postgres.owner, eventId) : undefined
  const attachment = `"has_attachment":${found.has_attachment}`
  return { raw: `${found.record},"parsed_data":${whole ?? found.parsed_data},${attachment}}` }
}
