// Letters of authorization: written permission of a prefix holder to announce it. Teams upload them, staff decide; the content
// of the file has no effect by itself.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route, staffChanging, staffReading, type Upload } from '../route.ts'
import {
  Actor,
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
  Component,
  Enumeration,
  TeamReference,
} from '../scalar.ts'
import { Paragraphs } from '../text.ts'

export const letterStatuses = ['pending_review', 'accepted', 'rejected'] as const
export type LetterStatus = (typeof letterStatuses)[number]

export const letterMediaTypes = ['application/pdf', 'image/png', 'image/jpeg'] as const
export type LetterMediaType = (typeof letterMediaTypes)[number]

export const letterBytesMax = 10 * 1024 * 1024
export const letterPagesMax = 20

/** Reasons to reject a file: the `type` of the error at `["body","file"]`. */
export const letterRefusalCodes = [
  'damaged',
  'encrypted',
  'script',
  'attachment',
  'launch',
  'link',
  'form',
  'multimedia',
  'name',
  'trailing_data',
  'dimensions',
  'pages',
  'too_complex',
  'malware',
] as const
export type LetterRefusalCode = (typeof letterRefusalCodes)[number]

const letter = {
  id: { ...Id, description: 'id of the record' },
  filename: Type.String({ description: 'name of the uploaded file' }),
  size: Type.Integer({ minimum: 1, description: 'bytes' }),
  sha256: Type.String({ description: 'SHA-256 of the file, hexadecimal' }),
  status: { ...Enumeration('LetterStatus', letterStatuses), description: 'result of the review' },
  reason: Nullable(Type.String({ description: 'reason of the rejection, or the letter that replaced it' })),
  valid_until: Nullable({ ...Time, description: 'when the permission ends; null if it does not' }),
  uploaded: { ...Time, description: 'when it was uploaded' },
  reviewed: { ...NullableTime, description: 'when it was reviewed; null before' },
  announcement_ids: Type.Array(Id, {
    description: 'the announcements it covers, without those that have a newer letter',
  }),
}

export const Letter = Component('Letter', letter)
export type Letter = Static<typeof Letter>

/** A letter for its reviewers. */
export const ReviewedLetter = Component('StaffLetter', {
  ...letter,
  content_type: {
    ...Enumeration('LetterMediaType', letterMediaTypes),
    description: 'type of the file, from its content',
  },
  pages: Nullable(
    Type.Integer({ minimum: 1, description: 'null if the file was uploaded before pages were counted' }),
  ),
  team: { ...TeamReference, description: 'the team that uploaded it' },
  uploaded_by: Actor,
  uploaded_by_name: Nullable(
    Type.String({ description: 'e-mail address of the user or name of the token; null if it is deleted' }),
  ),
  reviewed_by: Nullable(Actor),
  announcements: Type.Array(
    Component('LetterAnnouncement', {
      id: { ...Id, description: 'id of the record' },
      cidr: Type.String({ description: 'the prefix' }),
      origin_asn: Type.Integer({ minimum: 1, maximum: 4_294_967_295 }),
    }),
  ),
})
export type ReviewedLetter = Static<typeof ReviewedLetter>

const reading = { credential: 'any', module: 'ipam', scope: 'ipam:read', grant: 'ipam.see' } as const

export const getLetterRoute = route({
  name: 'getLetter',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/letters/{letter_id}',
  summary: 'Get letter of authorization',
  description: 'Returns one letter of the team. Its file is at `/file`.',
  permission: { ...reading, limitedBy: 'prefix' },
  params: Strict({ letter_id: Id }),
  response: Letter,
  success: 200,
  conditional: true,
})

const upload = {
  fields: Strict({
    valid_until: Optional({ ...Time, description: 'end of the permission, in the future' }),
    applies_to: Optional(
      Repeatable({ ...Id, description: 'id of a further announcement that the letter covers' }),
    ),
  }),
  file: {
    name: 'file',
    description: 'PDF, PNG or JPEG, at most 10 MiB',
    bytesMax: letterBytesMax,
    mediaTypes: letterMediaTypes,
  },
} as const satisfies Upload

export const uploadLetterRoute = route({
  name: 'uploadLetter',
  group: 'BYOIP',
  method: 'POST',
  path: '/v3/ipam/announcements/{announcement_id}/loa',
  summary: 'Upload LOA file for BYOIP',
  description:
    'A signed letter of authorization, for review by the provider. `applies_to` names further announcements of the team ' +
    'that it covers, `valid_until` the time (in the future) at which it ends; a date alone means its beginning in UTC. ' +
    'It replaces older letters of the same announcements that are not yet reviewed; one that was accepted counts until ' +
    'it expires. The type is detected from the content. PDFs that need a password or contain scripts, attachments, ' +
    'forms that send data, multimedia, or actions and links that leave the document for anything but the web or mail ' +
    'are rejected with a 422; `type` of the error at `["body","file"]` is one of ' +
    `${letterRefusalCodes.map((code) => `\`${code}\``).join(', ')}, and \`msg\` states what to do next.`,
  permission: {
    credential: 'any',
    module: 'ipam',
    scope: 'ipam:write',
    grant: 'ipam.manage',
    limitedBy: 'prefix',
  },
  params: Strict({ announcement_id: Id }),
  upload,
  response: Letter,
  success: 201,
  creates: getLetterRoute,
  errors: ['quota_exceeded'],
  dryRun: true,
  conditional: true,
})

export const draftLetterRoute = route({
  name: 'draftLetter',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/announcements/{announcement_id}/loa/draft',
  summary: 'Get a letter to sign',
  description:
    'A letter of authorization from the team to the provider, ready to be signed and uploaded. It names the announcement ' +
    'and those of `applies_to`, with the ROAs and route objects that the checks found. The signer is `signatory`, or ' +
    '`loa_signatory` of the announcement. Missing values, and names in a script that the fonts lack, are left as lines to ' +
    'fill in. A 409 if the provider has not set its name and ASN.',
  permission: { ...reading, limitedBy: 'prefix' },
  params: Strict({ announcement_id: Id }),
  query: Strict({
    applies_to: Optional(
      Repeatable({ ...Id, description: 'id of a further announcement that the letter covers' }),
    ),
    signatory: Optional(Type.String({ maxLength: 200, description: 'name of the signer' })),
    contact: Optional(Type.String({ maxLength: 200, description: 'e-mail address or telephone number' })),
    registry_handle: Optional(
      Type.String({
        maxLength: 100,
        description: 'handle of the signer or their organization in a registry',
      }),
    ),
  }),
  download: ['application/pdf'],
  success: 200,
  errors: ['conflict'],
})

export const listLettersRoute = route({
  name: 'listLetters',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/letters',
  summary: 'List letters of authorization',
  description: "The team's letters, newest first by default.",
  permission: { ...reading, limitedBy: 'prefix' },
  query: Strict({
    status: Optional(Repeatable(Enumeration('LetterStatus', letterStatuses))),
    announcement_id: Optional(Repeatable(Id)),
    ordering: Ordering(['id', 'uploaded'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Letter),
  success: 200,
})

export const getLetterFileRoute = route({
  name: 'getLetterFile',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/letters/{letter_id}/file',
  summary: 'Get the file of a letter',
  description: 'Returns the uploaded file, byte for byte, as an attachment.',
  permission: { ...reading, limitedBy: 'prefix' },
  params: Strict({ letter_id: Id }),
  download: letterMediaTypes,
  success: 200,
})

export const listLettersToReviewRoute = route({
  name: 'listLettersToReview',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/letters',
  summary: 'List letters of all teams',
  description: 'Letters of authorization of all teams, oldest first by default.',
  permission: staffReading('operator.see'),
  query: Strict({
    status: Optional(Repeatable(Enumeration('LetterStatus', letterStatuses))),
    team_id: Optional(Repeatable(Id)),
    ordering: Ordering(['id', 'uploaded'], 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(ReviewedLetter),
  success: 200,
})

export const getLetterToReviewRoute = route({
  name: 'getLetterToReview',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/letters/{letter_id}',
  summary: 'Get letter of any team',
  description: 'Returns one letter with its team and announcements.',
  permission: staffReading('operator.see'),
  params: Strict({ letter_id: Id }),
  response: ReviewedLetter,
  success: 200,
  conditional: true,
})

export const getLetterFileToReviewRoute = route({
  name: 'getLetterFileToReview',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/letters/{letter_id}/file',
  summary: 'Get the file of a letter of any team',
  description: 'Returns the uploaded file, byte for byte, as an attachment.',
  permission: staffReading('operator.see'),
  params: Strict({ letter_id: Id }),
  download: letterMediaTypes,
  success: 200,
})

export const getLetterPageToReviewRoute = route({
  name: 'getLetterPageToReview',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/letters/{letter_id}/pages/{page}',
  summary: 'Get a page of a letter of any team as a picture',
  description:
    'The page drawn as a PNG with at most 1,754 pixels on its longer side. Reviewing pictures is safer than opening the ' +
    'file. A 409 if the page cannot be drawn.',
  permission: staffReading('operator.see'),
  params: Strict({
    letter_id: Id,
    page: Type.Integer({ minimum: 1, maximum: 1000, description: 'number of the page, from 1' }),
  }),
  download: ['image/png'],
  success: 200,
  errors: ['conflict'],
})

export const acceptLetterRoute = route({
  name: 'acceptLetter',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/letters/{letter_id}/accept',
  summary: 'Accept letter',
  description:
    'Accepts a letter for its announcements until `valid_until`; the default is the value of the upload. ' +
    'Accepting again changes nothing. Returns 409 for rejected and replaced letters.',
  permission: staffChanging('requests.decide'),
  params: Strict({ letter_id: Id }),
  body: Strict({ valid_until: Optional(Time) }),
  response: ReviewedLetter,
  success: 200,
  dryRun: true,
  errors: ['conflict'],
})

export const rejectLetterRoute = route({
  name: 'rejectLetter',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/letters/{letter_id}/reject',
  summary: 'Reject letter',
  description:
    'Rejects a letter; the team sees the reason. Rejecting again changes nothing. Returns 409 for accepted ' +
    'and replaced letters.',
  permission: staffChanging('requests.decide'),
  params: Strict({ letter_id: Id }),
  body: Strict({
    reason: Paragraphs({ minLength: 1, maxLength: 1000, description: 'shown to the team' }),
  }),
  response: ReviewedLetter,
  success: 200,
  dryRun: true,
  errors: ['conflict'],
})

export const letterRoutes = [
  uploadLetterRoute,
  draftLetterRoute,
  listLettersRoute,
  getLetterRoute,
  getLetterFileRoute,
  listLettersToReviewRoute,
  getLetterToReviewRoute,
  getLetterFileToReviewRoute,
  getLetterPageToReviewRoute,
  acceptLetterRoute,
  rejectLetterRoute,
]
