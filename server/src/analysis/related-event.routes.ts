// HTTP routes of the lists of events and of the detail of one event: one line per operation.
import {
  getRelatedEventRoute,
  getRelatedTimeseriesRoute,
  listEventsRoute,
  listRelatedEventsRoute,
} from '@pharos/contract/analysis'
import { handle, type Mounted } from '../http/mount.ts'
import { getRelatedTimeseries, type TimeseriesDeps } from './event-timeseries.ts'
import { getTeamEvent, listEvents, listTeamEvents, type RelatedDeps } from './related-event.ts'

export const relatedEventRoutes = (deps: RelatedDeps & TimeseriesDeps): Mounted[] => [
  handle(listEventsRoute, listEvents, deps),
  handle(listRelatedEventsRoute, listTeamEvents, deps),
  handle(getRelatedTimeseriesRoute, getRelatedTimeseries, deps),
  handle(getRelatedEventRoute, getTeamEvent, deps),
]
