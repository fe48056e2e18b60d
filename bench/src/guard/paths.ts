// The hot paths that the guard measures, in this order.
import { dnsChangePath } from '../dns-change.ts'
import { dnsQueriesPath } from '../dns-queries.ts'
import { eventDetailPath } from '../event-detail.ts'
import { flowInsertPath, flowSeriesPath } from '../flow-store.ts'
import { ingestEventsPath } from '../ingest-events.ts'
import { pollDevicesPath } from '../poll-devices.ts'
import { portUsagePath } from '../port-usage.ts'
import { relatedListPath } from '../related-list.ts'
import { sessionRefreshPath } from '../session-refresh.ts'
import type { HotPath } from './hot-path.ts'
import { patchAnnouncementPath } from './patch-announcement.ts'

export const hotPaths: readonly HotPath[] = [
  relatedListPath,
  eventDetailPath,
  sessionRefreshPath,
  patchAnnouncementPath,
  ingestEventsPath,
  dnsQueriesPath,
  dnsChangePath,
  pollDevicesPath,
  portUsagePath,
  flowInsertPath,
  flowSeriesPath,
]
