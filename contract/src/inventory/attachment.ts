// Attachments: files about devices, cross connects and events.
import { Type, type Static } from 'typebox'
import { inventoryReading, route, staffChanging, staffReading, type Upload } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'
import { Line } from '../text.ts'

export const attachmentKinds = ['pcap', 'json', 'csv', 'pdf', 'image', 'other'] as const
export type AttachmentKind = (typeof attachmentKinds)[number]

/** `loa`: letter of authorization of a cross connect (LOA/CFA). */
const attachmentPurposes = ['', 'loa'] as const

const attachmentBytesMax = 20 * 1024 * 1024
/** Files are served with these types; any other is application/octet-stream. */
export const attachmentMediaTypes = [
  'application/pdf',
  'image/png',
  'image/jpeg',
  'text/csv',
  'application/vnd.tcpdump.pcap',
  'application/octet-stream',
] as const
export type AttachmentMediaType = (typeof attachmentMediaTypes)[number]

/** Time in which a link to a file works. */
export const attachmentLinkSeconds = 600

export const AttachmentKindSchema = Enumeration('AttachmentKind', attachmentKinds)

export const Attachment = Component('Attachment', {
  id: { ...Id, description: 'id of the attachment' },
  filename: Type.String({ description: 'name of the file' }),
  content_type: Type.String({ description: 'type of the file, from its content' }),
  size: Type.Integer({ minimum: 0, description: 'bytes' }),
  sha256: Type.String({ description: 'SHA-256 of the file, hexadecimal' }),
  kind: { ...AttachmentKindSchema, description: 'kind of the file' },
  purpose: {
    ...Enumeration('AttachmentPurpose', attachmentPurposes),
    description: '`loa`: letter of authorization of a cross connect; else empty',
  },
  description: Type.String({ description: 'text about it; empty if none' }),
  created: { ...Time, description: 'when it was added' },
  url: Nullable(
    Type.String({
      description:
        'link to the file, which needs no credential; null: the file of an event was deleted after 90 days',
    }),
  ),
  url_expires: {
    ...NullableTime,
    description: 'when the link ends: request the attachment again for another one',
  },
})
export type Attachment = Static<typeof Attachment>

export const attachmentQuery = {
  kind: Optional(Repeatable(AttachmentKindSchema)),
  ordering: Ordering(['id', 'filename', 'size', 'created'], '-id'),
  limit: Limit,
  offset: Offset,
}

export const attachmentUpload = {
  fields: Strict({
    description: Optional(Line({ maxLength: 200, description: 'text about the file' })),
    team_id: Optional({
      ...Id,
      description: 'id of the team that sees it; by default every team that sees the device',
    }),
  }),
  file: {
    name: 'file',
    description: 'any file, at most 20 MiB',
    bytesMax: attachmentBytesMax,
    mediaTypes: [...attachmentMediaTypes, 'application/json', 'text/plain'],
  },
} as const satisfies Upload

const ofDevice = Strict({ device_id: Id })

export const listDeviceAttachmentsRoute = route({
  name: 'listDeviceAttachments',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/devices/{device_id}/attachments',
  summary: 'List attachments for a device',
  description:
    'Files of the provider about a device: photographs, test sheets, letters. `url` works for ten minutes.',
  permission: inventoryReading,
  params: ofDevice,
  query: Strict(attachmentQuery),
  response: Page(Attachment),
  success: 200,
})

export const getAttachmentFileRoute = route({
  name: 'getAttachmentFile',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/attachments/{attachment_id}/file',
  summary: 'Get the file of an attachment',
  description:
    'Returns the file, byte for byte. The address is `url` of an attachment, with its signature: it needs no credential and ends after ten ' +
    'minutes. Any other address is 404.',
  permission: { credential: 'none' },
  params: Strict({ attachment_id: Id }),
  query: Strict({
    token: Type.String({
      pattern: '^[0-9]{1,11}(-[0-9]{1,10})?\\.[0-9a-f]{64}$',
      expects: 'the token of a link: digits, a dot and 64 hexadecimal digits',
      description:
        'end of the link in seconds since 1970, the id of the team if the file is of an event, and a signature',
    }),
  }),
  success: 200,
  download: attachmentMediaTypes,
})

export const StaffAttachment = Component('StaffAttachment', {
  ...Attachment.properties,
  team_id: Nullable({
    ...Id,
    description: 'id of the team that sees it; null: every team that sees the device',
  }),
})
export type StaffAttachment = Static<typeof StaffAttachment>

export const listStaffAttachmentsRoute = route({
  name: 'listAttachmentsOfDevice',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/inventory/devices/{device_id}/attachments',
  summary: 'List all attachments of a device',
  description: 'All attachments of a device, with the teams that see them.',
  permission: staffReading('operator.see'),
  params: ofDevice,
  query: Strict(attachmentQuery),
  response: Page(StaffAttachment),
  success: 200,
})

export const getStaffAttachmentRoute = route({
  name: 'getAttachmentOfAny',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/attachments/{attachment_id}',
  summary: 'Get attachment',
  description: 'Returns one attachment of any device, with the team that sees it.',
  permission: staffReading('operator.see'),
  params: Strict({ attachment_id: Id }),
  response: StaffAttachment,
  success: 200,
  conditional: true,
})

export const addDeviceAttachmentRoute = route({
  name: 'addDeviceAttachment',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/inventory/devices/{device_id}/attachments',
  summary: 'Add attachment to a device',
  description: 'Adds a file to a device. Its kind is detected from the content.',
  permission: staffChanging('network.operate'),
  params: ofDevice,
  upload: attachmentUpload,
  response: StaffAttachment,
  success: 201,
  creates: getStaffAttachmentRoute,
})

export const deleteAttachmentRoute = route({
  name: 'deleteAttachment',
  group: 'Operator',
  method: 'DELETE',
  path: '/v3/admin/attachments/{attachment_id}',
  summary: 'Delete attachment',
  description: 'Deletes a file. Links to it end at once.',
  permission: staffChanging('network.operate'),
  params: Strict({ attachment_id: Id }),
  success: 204,
  conditional: true,
})

export const attachmentRoutes = [
  listDeviceAttachmentsRoute,
  getAttachmentFileRoute,
  listStaffAttachmentsRoute,
  getStaffAttachmentRoute,
  addDeviceAttachmentRoute,
  deleteAttachmentRoute,
]
