// The HTTP side of letters of authorization: one line per operation.
import {
  acceptLetterRoute,
  draftLetterRoute,
  getLetterRoute,
  getLetterFileRoute,
  getLetterFileToReviewRoute,
  getLetterPageToReviewRoute,
  getLetterToReviewRoute,
  listLettersRoute,
  listLettersToReviewRoute,
  rejectLetterRoute,
  uploadLetterRoute,
} from '@pharos/contract/letter'
import { handle, handleUpload, type Download, type Mounted } from '../../http/mount.ts'
import {
  draftLetter,
  getLetter,
  getLetterFile,
  listLetters,
  uploadLetter,
  type LetterDeps,
} from './letter.ts'
import {
  acceptLetter,
  getFileForReview,
  getForReview,
  getPageForReview,
  listForReview,
  rejectLetter,
  type ReviewDeps,
} from './review-letter.ts'

export function letterRoutes(deps: LetterDeps & ReviewDeps): Mounted[] {
  return [
    handleUpload(uploadLetterRoute, (operation, { params, fields, file }) =>
      uploadLetter(deps, operation, params.announcement_id, { ...fields, file }),
    ),
    handle(draftLetterRoute, async (operation, { params, query }) => {
      const draft = await draftLetter(deps, operation, params.announcement_id, query)
      return { download: { ...draft, mediaType: 'application/pdf' } }
    }),
    handle(listLettersRoute, async (operation, { query }) => {
      const body = await listLetters(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getLetterRoute, async (operation, { params }) => ({
      body: await getLetter(deps, operation, params.letter_id),
    })),
    handle(getLetterFileRoute, async (operation, { params }) => ({
      download: downloadOf(await getLetterFile(deps, operation, params.letter_id)),
    })),
    handle(listLettersToReviewRoute, async (_operation, { query }) => {
      const body = await listForReview(deps, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getLetterToReviewRoute, async (_operation, { params }) => ({
      body: await getForReview(deps, params.letter_id),
    })),
    handle(getLetterFileToReviewRoute, async (_operation, { params }) => ({
      download: downloadOf(await getFileForReview(deps, params.letter_id)),
    })),
    handle(getLetterPageToReviewRoute, async (_operation, { params: { letter_id, page } }) => ({
      download: {
        filename: `letter-${letter_id}-page-${page}.png`,
        mediaType: 'image/png',
        bytes: await getPageForReview(deps, letter_id, page),
      },
    })),
    handle(acceptLetterRoute, async (operation, { params, body }) => ({
      body: await acceptLetter(deps, operation, params.letter_id, body),
    })),
    handle(rejectLetterRoute, async (operation, { params, body }) => ({
      body: await rejectLetter(deps, operation, params.letter_id, body),
    })),
  ]
}

type File = Awaited<ReturnType<typeof getLetterFile>>

const downloadOf = ({ filename, media_type, content }: File): Download => ({
  filename,
  mediaType: media_type,
  bytes: content,
})
