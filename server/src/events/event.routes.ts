// HTTP routes of the lists of events and of the detail of one event: one line per operation.
import {
  getRelatedEventRoute,
  getRelatedTimeseriesRoute,
  listEventsRoute,
  listRelatedEventsRoute,
  reviewEventRoute,
} from '@pharos/contract/events/event'
import { listEventAttachmentsRoute } from '@pharos/contract/events/event-attachment'
import { getEventTrafficRoute } from '@pharos/contract/events/event-traffic'
import { getFilterKeysRoute } from '@pharos/contract/events/filter-key'
import {
  getIncidentRoute,
  getIncidentTimeseriesRoute,
  listIncidentsRoute,
  listStaffIncidentsRoute,
} from '@pharos/contract/events/incident'
import { handle, handleStaff, type Mounted } from '../http/mount.ts'
import { listEventAttachments, type EventAttachmentDeps } from './attachment/event-attachment.ts'
import { getIncidentTimeseries, getRelatedTimeseries, type TimeseriesDeps } from './list/event-timeseries.ts'
import { getEventTraffic, type EventTrafficDeps } from './list/event-traffic.ts'
import type { FlowDeps } from '../flow/read-flows.ts'
import { getFilterKeys } from './list/filter-keys.ts'
import { getIncident, listIncidents } from './list/incident-list.ts'
import { reviewEvent, type ReviewEventDeps } from './list/review-event.ts'
import { listStaffIncidents } from './list/staff-incident.ts'
import { getTeamEvent, listEvents, listTeamEvents, type DetailDeps } from './list/list-events.ts'

export const eventRoutes = (
  deps: DetailDeps & TimeseriesDeps & ReviewEventDeps & EventAttachmentDeps & EventTrafficDeps & FlowDeps,
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
  handle(getFilterKeysRoute, getFilterKeys, deps),
]
