// The HTTP side of letters of authorization: one line per operation.
import {
  acceptLetter as acceptRoute,
  draftLetter as draftRoute,
  getLetter as getRoute,
  getLetterFile as fileRoute,
  getLetterFileToReview,
  getLetterPageToReview,
  getLetterToReview,
  listLetters as listRoute,
  listLettersToReview,
  rejectLetter as rejectRoute,
  uploadLetter as uploadRoute,
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
    handleUpload(uploadRoute, (operation, { params, fields, file }) =>
      uploadLetter(deps, operation, params.announcement_id, { ...fields, file }),
    ),
    handle(draftRoute, async (operation, { params, query }) => {
      const draft = await draftLetter(deps, operation, params.announcement_id, query)
      return { download: { ...draft, mediaType: 'application/pdf' } }
    }),
    handle(listRoute, async (operation, { query }) => {
      const body = await listLetters(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getRoute, async (operation, { params }) => ({
      body: await getLetter(deps, operation, params.letter_id),
    })),
    handle(fileRoute, async (operation, { params }) => ({
      download: downloadOf(await getLetterFile(deps, operation, params.letter_id)),
    })),
    handle(listLettersToReview, async (_operation, { query }) => {
      const body = await listForReview(deps, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getLetterToReview, async (_operation, { params }) => ({
      body: await getForReview(deps, params.letter_id),
    })),
    handle(getLetterFileToReview, async (_operation, { params }) => ({
      download: downloadOf(await getFileForReview(deps, params.letter_id)),
    })),
    handle(getLetterPageToReview, async (_operation, { params: { letter_id, page } }) => ({
      download: {
        filename: `letter-${letter_id}-page-${page}.png`,
        mediaType: 'image/png',
        bytes: await getPageForReview(deps, letter_id, page),
      },
    })),
    handle(acceptRoute, async (operation, { params, body }) => ({
      body: await acceptLetter(deps, operation, params.letter_id, body),
    })),
    handle(rejectRoute, async (operation, { params, body }) => ({
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
