// The HTTP side of cross connects, attachments, and devices and bills for staff: one line per operation.
import { exportStaffBillsRoute, listStaffBillsRoute } from '@pharos/contract/operator/bill'
import { listStaffDevicesRoute, maintainDeviceRoute, pollDeviceRoute } from '@pharos/contract/operator/device'
import {
  addDeviceAttachmentRoute,
  deleteAttachmentRoute,
  getAttachmentFileRoute,
  getStaffAttachmentRoute,
  listDeviceAttachmentsRoute,
  listStaffAttachmentsRoute,
} from '@pharos/contract/inventory/attachment'
import {
  getCrossConnectRoute,
  listCrossConnectsRoute,
  listStaffCrossConnectsRoute,
  moveCrossConnectRoute,
  uploadCrossConnectLetterRoute,
} from '@pharos/contract/inventory/cross-connect'
import { handle, handleGuest, handleStaff, type Mounted } from '../http/mount.ts'
import {
  addDeviceAttachment,
  deleteAttachment,
  getAttachmentFile,
  getStaffAttachment,
  listAllDeviceAttachments,
  listDeviceAttachments,
  type AttachmentDeps,
  type AttachmentFileDeps,
} from './attachment/attachment.ts'
import {
  getCrossConnect,
  listCrossConnects,
  uploadCrossConnectLetter,
} from './cross-connect/cross-connect.ts'
import { exportStaffBills, listStaffBills } from './bill/staff-bill.ts'
import { listStaffDevices, maintainDevice, pollDevice } from './device/staff-device.ts'
import { listStaffCrossConnects, moveCrossConnect } from './cross-connect/move-cross-connect.ts'

export const crossConnectRoutes = (deps: AttachmentDeps & AttachmentFileDeps): Mounted[] => [
  handle(listDeviceAttachmentsRoute, listDeviceAttachments, deps),
  handleGuest(getAttachmentFileRoute, getAttachmentFile, deps),
  handleStaff(listStaffAttachmentsRoute, listAllDeviceAttachments, deps),
  handleStaff(getStaffAttachmentRoute, getStaffAttachment, deps),
  handleStaff(addDeviceAttachmentRoute, addDeviceAttachment, deps),
  handleStaff(deleteAttachmentRoute, deleteAttachment, deps),
  handle(listCrossConnectsRoute, listCrossConnects, deps),
  handle(getCrossConnectRoute, getCrossConnect, deps),
  handle(uploadCrossConnectLetterRoute, uploadCrossConnectLetter, deps),
  handleStaff(listStaffCrossConnectsRoute, listStaffCrossConnects, deps),
  handleStaff(listStaffBillsRoute, listStaffBills, deps),
  handleStaff(exportStaffBillsRoute, exportStaffBills, deps),
  handleStaff(listStaffDevicesRoute, listStaffDevices, deps),
  handleStaff(pollDeviceRoute, pollDevice, deps),
  handleStaff(maintainDeviceRoute, maintainDevice, deps),
  handleStaff(moveCrossConnectRoute, moveCrossConnect, deps),
]
