// The HTTP side of announcements and regions: one line per operation.
import { getAnnouncement as getRoute, listAnnouncements as listRoute } from '@pharos/contract/byoip'
import { listRegions as regionsRoute, updateAnnouncement } from '@pharos/contract/byoip'
import { handle, type Mounted } from '../http/mount.ts'
import { getAnnouncement, listAnnouncements } from './list-announcements.ts'
import { patchAnnouncement, type PatchDeps } from './patch-announcement.ts'
import { parseInclude } from './present-announcement.ts'
import { listRegions } from './region.ts'

export function announcementRoutes(deps: PatchDeps): Mounted[] {
  return [
    handle(updateAnnouncement, (operation, { params, body, query }) =>
      patchAnnouncement(deps, operation, params.announcement_id, body, parseInclude(query.include)),
    ),
    handle(getRoute, (operation, { params, query }) =>
      getAnnouncement(deps, operation, params.announcement_id, parseInclude(query.include)),
    ),
    handle(listRoute, async (operation, { query }) => {
      const body = await listAnnouncements(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(regionsRoute, async (operation, { query }) => {
      const body = await listRegions(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
  ]
}
