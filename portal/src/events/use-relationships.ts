// Why an event concerns the team. The API's detail has no relationships, its list does.
import {
  listRelatedEventsRoute,
  type RelatedEventDetail,
  type Relationship,
} from '@pharos/contract/events/event'
import { useAnswer } from '../api/queries.ts'

export type Relationships = {
  /** Undefined until it is known; empty if the event is no longer linked to an object of the team. */
  readonly list: readonly Relationship[] | undefined
  readonly error: unknown
  readonly retry: () => unknown
}

export function useRelationships({
  id,
  affected_network,
  start,
}: Pick<RelatedEventDetail, 'id' | 'affected_network' | 'start'>): Relationships {
  // The events of the network that were ongoing at its start: a few, and this one among them.
  const answer = useAnswer(listRelatedEventsRoute, {
    query: { affected_network, start, end: start, limit: 1000 },
  })
  return {
    list: answer.data && (answer.data.results.find((one) => one.id === id)?.relationships ?? []),
    error: answer.data ? undefined : answer.error,
    retry: () => answer.refetch(),
  }
}

export const idOf = ({ match_resource_link: link }: Relationship): string => link.split('/').at(-1)!
