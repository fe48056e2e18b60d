// HTTP routes of the related list and of the detail of one event: one line per operation.
import { getRelatedEventRoute, listRelatedEventsRoute } from '@pharos/contract/analysis'
import { handle, type Mounted } from '../http/mount.ts'
import { getTeamEvent, listTeamEvents, type RelatedDeps } from './related-event.ts'

export const relatedEventRoutes = (deps: RelatedDeps): Mounted[] => [
  handle(listRelatedEventsRoute, listTeamEvents, deps),
  handle(getRelatedEventRoute, getTeamEvent, deps),
]
