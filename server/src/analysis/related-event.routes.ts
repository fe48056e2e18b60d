// HTTP of the related list and of the detail of one event.
import { getRelatedEventRoute, listRelatedEventsRoute } from '@pharos/contract/analysis'
import { handle, type Mounted } from '../http/mount.ts'
import type { Postgres } from '../db/postgres.ts'
import { getTeamEvent, listTeamEvents } from './related-event.ts'

export function relatedEventRoutes({ postgres }: { readonly postgres: Postgres }): Mounted[] {
  return [
    handle(listRelatedEventsRoute, async ({ actor }, { query }) => {
      const { body, count } = await listTeamEvents(postgres, actor.teamId, query)
      return { body: { raw: body }, page: { limit: query.limit, offset: query.offset, count } }
    }),
    handle(getRelatedEventRoute, async ({ actor }, { params }) => ({
      body: { raw: await getTeamEvent(postgres, actor, params.event_id) },
    })),
  ]
}
