// Attachments of security events: what detectors push beside their deliveries, and what Pharos makes itself.
import { Type, type Static } from 'typebox'
import { Attachment, AttachmentKindSchema, attachmentQuery } from '../inventory/attachment.ts'
import { route } from '../route.ts'
import { Component, Optional, Page, Strict } from '../scalar.ts'

/** The largest file that a detector may push, in bytes. */
const eventFileBytesMax = 10 * 1024 * 1024
/** Files that detectors may push about one event. */
export const eventFilesMax = 20

export const listEventAttachmentsRoute = route({
  name: 'listEventAttachments',
  group: 'Analysis',
  method: 'GET',
  path: '/v3/lighthouse/security/events/related/{event_id}/attachments',
  summary: 'Event Attachments',
  description:
    'Files about the event: packet captures, texts and JSON of the detector, flows. `url` works for ten minutes; after 90 days the file is ' +
    'deleted and `url` is null. Packets are cut to their first 128 bytes. If the event also affects networks of other teams, a capture has the ' +
    "packets of the team's own addresses only, and texts of the detector are not listed. 404 unless the event concerns the team.",
  permission: { credential: 'any', module: 'lighthouse', scope: 'lighthouse:read', grant: 'lighthouse.see' },
  params: Strict({ event_id: Type.String({ maxLength: 300 }) }),
  query: Strict(attachmentQuery),
  response: Page(Attachment),
  success: 200,
})

export const AcceptedEventFile = Component('AcceptedEventFile', {
  event_id: Type.String({ description: 'id of the event, which may appear later' }),
  filename: Type.String({ description: 'name of the file' }),
  kind: { ...AttachmentKindSchema, description: 'kind of the file, from its content' },
  size: Type.Integer({ minimum: 0, description: 'bytes that are kept' }),
  sha256: Type.String({ description: 'SHA-256 of what is kept, hexadecimal' }),
})
export type AcceptedEventFile = Static<typeof AcceptedEventFile>

export const addEventAttachmentRoute = route({
  name: 'addEventAttachment',
  group: 'Ingest',
  method: 'POST',
  path: '/v3/ingest/events/{source_key}/{source_event_id}/attachments',
  summary: 'Add attachment to an event',
  description:
    'Adds a file to an event: the body is the file itself, no form and without a `Content-Encoding`, at most 10 MiB, and the header `X-Filename` its name. It may arrive before the first ' +
    'delivery about the event. Accepted are captures (pcap, pcapng), JSON and text in UTF-8, by content. Of packets the first 128 bytes are kept. ' +
    'A file that the event has already is accepted and stored once. `source_event_id` is the id that the source gives the event in its ' +
    'deliveries; the credential is that of deliveries. A file whose event has not appeared within seven days is deleted.',
  permission: { credential: 'source' },
  keyless: 'no_caller',
  params: Strict({
    source_key: Type.String({ maxLength: 100 }),
    source_event_id: Type.String({ minLength: 1, maxLength: 300 }),
  }),
  query: Strict({
    token: Optional(Type.String({ maxLength: 500, description: 'the secret of the source' })),
  }),
  body: Type.Unknown(),
  bodyBytesMax: eventFileBytesMax,
  response: AcceptedEventFile,
  success: 202,
  errors: ['body_too_large', 'quota_exceeded', 'unsupported_media_type'],
})

export const eventAttachmentRoutes = [listEventAttachmentsRoute, addEventAttachmentRoute]
