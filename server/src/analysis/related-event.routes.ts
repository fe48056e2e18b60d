// HTTP routes of the lists of events and of the detail of one event: one line per operation.
import { getRelatedEventRoute, listEventsRoute, listRelatedEventsRoute } from '@pharos/contract/analysis'
import { handle, type Mounted } from '../http/mount.ts'
import { getTeamEvent, listEvents, listTeamEvents, type RelatedDeps } from './related-event.ts'

export const relatedEventRoutes = (deps: RelatedDeps): Mounted[] => [
  handle(listEventsRoute, listEvents, deps),
  handle(listRelatedEventsRoute, listTeamEvents, deps),
  handle(getRelatedEventRoute, getTeamEvent, deps),
]
