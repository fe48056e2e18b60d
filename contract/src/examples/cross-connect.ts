// Examples of cross connects and attachments.
import {
  addDeviceAttachmentRoute,
  deleteAttachmentRoute,
  getAttachmentFileRoute,
  getStaffAttachmentRoute,
  listDeviceAttachmentsRoute,
  listStaffAttachmentsRoute,
  type Attachment,
} from '../inventory/attachment.ts'
import {
  crossConnectStates,
  getCrossConnectRoute,
  letterArrivedText,
  listCrossConnectsRoute,
  listStaffCrossConnectsRoute,
  moveCrossConnectRoute,
  uploadCrossConnectLetterRoute,
  type CrossConnect,
} from '../inventory/cross-connect.ts'
import {
  listStaffDevicesRoute,
  maintainDeviceRoute,
  pollDeviceRoute,
  type StaffDevice,
} from '../operator/device.ts'
import { example } from '../example.ts'
import { edge } from './device.ts'
import { amsterdam, portId, serviceId, teamReference } from './world.ts'

const token = '1774000800.7d793037a0760186574b0282f2f435e7ac4f5a1ec8c1d0e6a4d2f6a7c1b9e855'
const fileLink = (id: number) => ({
  url: `https://pharos.example.net/v3/attachments/${id}/file?token=${token}`,
  url_expires: '2026-03-20T10:00:00.000Z',
})

const photograph: Attachment = {
  id: 301,
  filename: 'rack A-12.jpg',
  content_type: 'image/jpeg',
  size: 481_022,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  kind: 'image',
  purpose: '',
  description: 'Front of the rack',
  created: '2026-01-12T08:00:00.000Z',
  ...fileLink(301),
}
const letter: Attachment = {
  ...photograph,
  id: 302,
  filename: 'loa.pdf',
  content_type: 'application/pdf',
  size: 48_117,
  kind: 'pdf',
  purpose: 'loa',
  description: '',
  created: '2026-03-20T09:31:00.000Z',
  ...fileLink(302),
}

const waiting: CrossConnect = {
  id: 61,
  name: 'Cross connect to Lindholm',
  circuit_id: 'XC-AMS-0061',
  status: 'awaiting_loa',
  waits_for: 'customer',
  next_step: crossConnectStates.awaiting_loa.text,
  progress: crossConnectStates.awaiting_loa.progress,
  service_id: serviceId,
  location: amsterdam,
  a_side: { port_id: portId, panel: 'AMS-A', module: 'M2', position: '12' },
  z_side: { name: 'Lindholm Hosting', circuit_id: '', panel: 'C-04', module: '1', position: '7' },
  media: 'single-mode duplex',
  connector: 'LC/UPC',
  provider_ref: '',
  loa_document: null,
  chargeable: true,
  requested: '2026-03-19T12:00:00.000Z',
  connected: null,
  ceased: null,
}
const received: CrossConnect = {
  ...waiting,
  waits_for: 'provider',
  next_step: letterArrivedText,
  loa_document: letter,
}
const ofStaff = { ...received, team: teamReference, next: [...crossConnectStates.awaiting_loa.next] }
const params = { cross_connect_id: waiting.id }
const ofDevice = { device_id: edge.id }

const silent: StaffDevice = {
  id: edge.id,
  name: edge.name,
  role: edge.role,
  location: edge.location,
  vendor: edge.vendor,
  model: edge.model,
  management_ip: '192.0.2.1',
  driver: 'snmp',
  status: 'offline',
  last_seen: '2026-03-14T09:41:12.000Z',
  next_poll: '2026-03-14T09:52:00.000Z',
  missed: 5,
  error: 'unreachable',
  error_text: 'No answer to 3 requests.',
  interfaces: 64,
  ports: 12,
  maintenance_until: null,
}

export const crossConnectExamples = [
  example(listStaffDevicesRoute, {
    query: { status: ['offline', 'degraded'], ordering: 'name', limit: 100 },
    response: { results: [silent], count: 1 },
  }),
  example(pollDeviceRoute, { params: ofDevice, response: silent }),
  example(maintainDeviceRoute, {
    params: ofDevice,
    body: { until: '2026-03-14T12:00:00Z' },
    response: { ...silent, status: 'maintenance', maintenance_until: '2026-03-14T12:00:00.000Z' },
  }),
  example(listCrossConnectsRoute, {
    query: { waits_for: ['customer'], ordering: 'name', limit: 100 },
    response: { results: [waiting], count: 1 },
  }),
  example(getCrossConnectRoute, {
    params,
    query: { include: 'log' },
    response: {
      ...waiting,
      log: [{ at: '2026-03-19T12:05:00.000Z', before: 'reserved', after: 'awaiting_loa', note: '' }],
    },
  }),
  example(uploadCrossConnectLetterRoute, { params, response: received }),
  example(listStaffCrossConnectsRoute, {
    query: { waits_for: ['provider'], ordering: 'id', limit: 100 },
    response: { results: [ofStaff], count: 1 },
  }),
  example(moveCrossConnectRoute, {
    params,
    body: { status: 'awaiting_connect', provider_ref: 'DC-88123', note: 'Ordered at the data center.' },
    response: {
      ...ofStaff,
      status: 'awaiting_connect',
      next_step: crossConnectStates.awaiting_connect.text,
      progress: crossConnectStates.awaiting_connect.progress,
      provider_ref: 'DC-88123',
      next: [...crossConnectStates.awaiting_connect.next],
    },
  }),
  example(listDeviceAttachmentsRoute, {
    params: ofDevice,
    query: { kind: ['image'], ordering: '-id', limit: 100 },
    response: { results: [photograph], count: 1 },
  }),
  example(getAttachmentFileRoute, {
    params: { attachment_id: photograph.id },
    query: { token },
  }),
  example(listStaffAttachmentsRoute, {
    params: ofDevice,
    query: { ordering: '-id', limit: 100 },
    response: { results: [{ ...photograph, team_id: null }], count: 1 },
  }),
  example(getStaffAttachmentRoute, {
    params: { attachment_id: photograph.id },
    response: { ...photograph, team_id: null },
  }),
  example(addDeviceAttachmentRoute, { params: ofDevice, response: { ...photograph, team_id: null } }),
  example(deleteAttachmentRoute, { params: { attachment_id: photograph.id } }),
]
