// The HTTP side of announcements and regions: one line per operation.
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  createAnnouncementsRoute,
  updateAnnouncementRoute,
  deleteAnnouncementRoute,
  restoreAnnouncementRoute,
  listAnnouncementHistoryRoute,
  validateAnnouncementRoute,
  resumeAnnouncementRoute,
  suspendAnnouncementRoute,
  listRegionsRoute,
} from '@pharos/contract/byoip'
import { handle, type Mounted } from '../../http/mount.ts'
import { createAnnouncements, type CreateDeps } from './create-announcements.ts'
import { deleteAnnouncement, restoreAnnouncement } from './delete-announcement.ts'
import { listHistory } from './history.ts'
import { getAnnouncement, listAnnouncements } from './list-announcements.ts'
import { patchAnnouncement, type PatchDeps } from './patch-announcement.ts'
import { parseInclude } from './present-announcement.ts'
import { listRegions } from './region.ts'
import { requestValidation, type RequestDeps } from '../validation/request-validation.ts'
import { suspendAnnouncement, type SuspendDeps } from './suspend-announcement.ts'

export function announcementRoutes(deps: PatchDeps & CreateDeps & SuspendDeps & RequestDeps): Mounted[] {
  return [
    handle(updateAnnouncementRoute, (operation, { params, body, query }) =>
      patchAnnouncement(deps, operation, params.announcement_id, body, parseInclude(query.include)),
    ),
    handle(getAnnouncementRoute, (operation, { params, query }) =>
      getAnnouncement(deps, operation, params.announcement_id, parseInclude(query.include)),
    ),
    handle(listAnnouncementsRoute, async (operation, { query }) => {
      const body = await listAnnouncements(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(createAnnouncementsRoute, (operation, { body, query }) =>
      createAnnouncements(deps, operation, body, parseInclude(query.include)),
    ),
    handle(deleteAnnouncementRoute, async (operation, { params }) => {
      await deleteAnnouncement(deps, operation, params.announcement_id)
      return {}
    }),
    handle(restoreAnnouncementRoute, (operation, { params, query }) =>
      restoreAnnouncement(deps, operation, params.announcement_id, parseInclude(query.include)),
    ),
    handle(validateAnnouncementRoute, (operation, { params, query }) =>
      requestValidation(deps, operation, params.announcement_id, parseInclude(query.include)),
    ),
    handle(listAnnouncementHistoryRoute, async (operation, { params, query }) => {
      const body = await listHistory(deps, operation, params.announcement_id, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(suspendAnnouncementRoute, async (operation, { params, body }) => ({
      body: await suspendAnnouncement(deps, operation, params.announcement_id, body.reason),
    })),
    handle(resumeAnnouncementRoute, async (operation, { params }) => ({
      body: await suspendAnnouncement(deps, operation, params.announcement_id, null),
    })),
    handle(listRegionsRoute, async (operation, { query }) => {
      const body = await listRegions(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
  ]
}
