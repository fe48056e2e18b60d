// The HTTP side of announcements and regions: one line per operation.
import {
  countAnnouncementsRoute,
  getAnnouncementRoute,
  listAnnouncementsOfTeamRoute,
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
} from '@pharos/contract/byoip/announcement'
import { handle, handleStaff, type Mounted } from '../../http/mount.ts'
import { createAnnouncements, type CreateDeps } from './create-announcements.ts'
import { deleteAnnouncement, restoreAnnouncement, type DeleteDeps } from './delete-announcement.ts'
import { listHistory } from './history.ts'
import {
  countAnnouncements,
  getAnnouncement,
  listAnnouncements,
  listAnnouncementsOfTeam,
  type ReadEvidenceDeps,
} from './list-announcements.ts'
import { patchAnnouncement, type PatchDeps } from './patch-announcement.ts'
import { listRegions } from './region.ts'
import { requestValidation, type RequestDeps } from './request-validation.ts'
import { resumeAnnouncement, suspendAnnouncement, type SuspendDeps } from './suspend-announcement.ts'

export const announcementRoutes = (
  deps: PatchDeps & CreateDeps & DeleteDeps & SuspendDeps & RequestDeps & ReadEvidenceDeps,
): Mounted[] => [
  handle(updateAnnouncementRoute, patchAnnouncement, deps),
  handle(getAnnouncementRoute, getAnnouncement, deps),
  handle(listAnnouncementsRoute, listAnnouncements, deps),
  handle(countAnnouncementsRoute, countAnnouncements, deps),
  handle(createAnnouncementsRoute, createAnnouncements, deps),
  handle(deleteAnnouncementRoute, deleteAnnouncement, deps),
  handle(restoreAnnouncementRoute, restoreAnnouncement, deps),
  handle(validateAnnouncementRoute, requestValidation, deps),
  handle(listAnnouncementHistoryRoute, listHistory, deps),
  handleStaff(listAnnouncementsOfTeamRoute, listAnnouncementsOfTeam, deps),
  handleStaff(suspendAnnouncementRoute, suspendAnnouncement, deps),
  handleStaff(resumeAnnouncementRoute, resumeAnnouncement, deps),
  handle(listRegionsRoute, listRegions, deps),
]
