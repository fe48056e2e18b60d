// HTTP routes of the lists of events and of the detail of one event: one line per operation.
import {
  getRelatedEventRoute,
  getRelatedTimeseriesRoute,
  listEventsRoute,
  listRelatedEventsRoute,
  reviewEventRoute,
} from '@pharos/contract/analysis'
import { listEventAttachmentsRoute } from '@pharos/contract/event-attachment'
import { getEventTrafficRoute } from '@pharos/contract/event-traffic'
import {
  getIncidentRoute,
  getIncidentTimeseriesRoute,
  listIncidentsRoute,
  listStaffIncidentsRoute,
} from '@pharos/contract/incident'
import { handle, handleStaff, type Mounted } from '../http/mount.ts'
import { listEventAttachments, type EventAttachmentDeps } from './attachment/event-attachment.ts'
import { getIncidentTimeseries, getRelatedTimeseries, type TimeseriesDeps } from './event-timeseries.ts'
import { getEventTraffic, type EventTrafficDeps } from './event-traffic.ts'
import { getIncident, listIncidents } from './incident-list.ts'
import { reviewEvent, type ReviewDeps } from './review-event.ts'
import { listStaffIncidents } from './staff-incident.ts'
import { getTeamEvent, listEvents, listTeamEvents, type DetailDeps } from './related-event.ts'

export const relatedEventRoutes = (
  deps: DetailDeps & TimeseriesDeps & ReviewDeps & EventAttachmentDeps & EventTrafficDeps,
): Mounted[] => [
  handle(listEventsRoute, listEvents, deps),
  handle(listRelatedEventsRoute, listTeamEvents, deps),
  handle(getRelatedTimeseriesRoute, getRelatedTimeseries, deps),
  handle(getRelatedEventRoute, getTeamEvent, deps),
  handle(reviewEventRoute, reviewEvent, deps),
  handle(getEventTrafficRoute, getEventTraffic, deps),
  handle(listEventAttachmentsRoute, listEventAttachments, deps),
  handle(listIncidentsRoute, listIncidents, deps),
  handle(getIncidentTimeseriesRoute, getIncidentTimeseries, deps),
  handle(getIncidentRoute, getIncident, deps),
  handleStaff(listStaffIncidentsRoute, listStaffIncidents, deps),
]
