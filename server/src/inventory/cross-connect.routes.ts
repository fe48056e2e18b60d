// The HTTP side of cross connects and attachments: one line per operation.
import {
  addDeviceAttachmentRoute,
  deleteAttachmentRoute,
  getAttachmentFileRoute,
  listDeviceAttachmentsRoute,
  listStaffAttachmentsRoute,
} from '@pharos/contract/attachment'
import {
  getCrossConnectRoute,
  listCrossConnectsRoute,
  listStaffCrossConnectsRoute,
  moveCrossConnectRoute,
  uploadCrossConnectLetterRoute,
} from '@pharos/contract/cross-connect'
import { handle, handleGuest, handleStaff, type Mounted } from '../http/mount.ts'
import {
  addDeviceAttachment,
  deleteAttachment,
  getAttachmentFile,
  listAllDeviceAttachments,
  listDeviceAttachments,
  type AttachmentDeps,
} from './attachment/attachment.ts'
import {
  getCrossConnect,
  listCrossConnects,
  uploadCrossConnectLetter,
} from './cross-connect/cross-connect.ts'
import { listStaffCrossConnects, moveCrossConnect } from './cross-connect/move-cross-connect.ts'

export const crossConnectRoutes = (deps: AttachmentDeps): Mounted[] => [
  handle(listDeviceAttachmentsRoute, listDeviceAttachments, deps),
  handleGuest(getAttachmentFileRoute, getAttachmentFile, deps),
  handleStaff(listStaffAttachmentsRoute, listAllDeviceAttachments, deps),
  handleStaff(addDeviceAttachmentRoute, addDeviceAttachment, deps),
  handleStaff(deleteAttachmentRoute, deleteAttachment, deps),
  handle(listCrossConnectsRoute, listCrossConnects, deps),
  handle(getCrossConnectRoute, getCrossConnect, deps),
  handle(uploadCrossConnectLetterRoute, uploadCrossConnectLetter, deps),
  handleStaff(listStaffCrossConnectsRoute, listStaffCrossConnects, deps),
  handleStaff(moveCrossConnectRoute, moveCrossConnect, deps),
]
