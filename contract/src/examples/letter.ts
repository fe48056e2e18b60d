// Examples of letters of authorization.
import { example } from '../example.ts'
import { changesBetween } from '../field-change.ts'
import {
  acceptLetterRoute,
  draftLetterRoute,
  getLetterFileRoute,
  getLetterFileToReviewRoute,
  getLetterPageToReviewRoute,
  getLetterRoute,
  getLetterToReviewRoute,
  listLettersRoute,
  listLettersToReviewRoute,
  rejectLetterRoute,
  uploadLetterRoute,
  type Letter,
  type ReviewedLetter,
} from '../byoip/letter.ts'
import { admin, employee, teamReference, web, web6 } from './world.ts'

const uploaded: Letter = {
  id: 118,
  filename: 'loa-lindholm-2026.pdf',
  size: 84_213,
  sha256: 'a3f5c1d29b7e4f60c8d1e2a4b6970f3351c2d4e6f8091a3b5c7d9e0f1a2b3c4d',
  status: 'pending_review',
  reason: null,
  valid_until: '2027-03-01T00:00:00Z',
  uploaded: '2026-03-02T10:40:12.337Z',
  reviewed: null,
  announcement_ids: [web.id, web6.id],
}
const accepted = {
  ...uploaded,
  status: 'accepted',
  reviewed: '2026-03-02T13:05:51.770Z',
} as const satisfies Letter

const toReview: ReviewedLetter = {
  ...uploaded,
  content_type: 'application/pdf',
  pages: 2,
  team: teamReference,
  uploaded_by: `user:${admin.id}`,
  uploaded_by_name: admin.email,
  reviewed_by: null,
  announcements: [
    { id: web.id, cidr: web.cidr, origin_asn: web.origin_asn },
    { id: web6.id, cidr: web6.cidr, origin_asn: web6.origin_asn },
  ],
}

const acceptedAfterReview: ReviewedLetter = {
  ...toReview,
  ...accepted,
  reviewed_by: `user:${employee.id}`,
}
const rejected: ReviewedLetter = {
  ...acceptedAfterReview,
  status: 'rejected',
  reason: 'The second page is not signed. Sign both pages and upload the letter again.',
}

const letterIn = { params: { letter_id: uploaded.id } }

export const letterExamples = [
  example(uploadLetterRoute, {
    params: { announcement_id: web.id },
    fields: { valid_until: '2027-03-01T00:00:00Z', applies_to: [web6.id] },
    response: uploaded,
    changes: changesBetween({}, uploaded),
  }),
  example(draftLetterRoute, {
    params: { announcement_id: web.id },
    query: { applies_to: [web6.id], signatory: admin.name, contact: 'noc@lindholm.example' },
  }),
  example(listLettersRoute, {
    query: { status: ['accepted'] },
    response: { results: [accepted], count: 1 },
  }),
  example(getLetterRoute, { ...letterIn, response: accepted }),
  example(getLetterFileRoute, letterIn),
  example(listLettersToReviewRoute, {
    query: { status: ['pending_review'] },
    response: { results: [toReview], count: 1 },
  }),
  example(getLetterToReviewRoute, { ...letterIn, response: toReview }),
  example(getLetterFileToReviewRoute, letterIn),
  example(getLetterPageToReviewRoute, { params: { letter_id: uploaded.id, page: 1 } }),
  example(acceptLetterRoute, {
    ...letterIn,
    body: { valid_until: '2027-03-01T00:00:00Z' },
    response: acceptedAfterReview,
    changes: changesBetween(toReview, acceptedAfterReview),
  }),
  example(rejectLetterRoute, {
    ...letterIn,
    body: { reason: rejected.reason! },
    response: rejected,
    changes: changesBetween(toReview, rejected),
  }),
]
