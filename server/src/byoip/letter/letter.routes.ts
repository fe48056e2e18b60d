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
} from '@pharos/contract/byoip/letter'
import { handle, handleStaff, type Mounted } from '../../http/mount.ts'
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
  type ReviewLetterDeps,
} from './review-letter.ts'

export const letterRoutes = (deps: LetterDeps & ReviewLetterDeps): Mounted[] => [
  handle(uploadLetterRoute, uploadLetter, deps),
  handle(draftLetterRoute, draftLetter, deps),
  handle(listLettersRoute, listLetters, deps),
  handle(getLetterRoute, getLetter, deps),
  handle(getLetterFileRoute, getLetterFile, deps),
  handleStaff(listLettersToReviewRoute, listForReview, deps),
  handleStaff(getLetterToReviewRoute, getForReview, deps),
  handleStaff(getLetterFileToReviewRoute, getFileForReview, deps),
  handleStaff(getLetterPageToReviewRoute, getPageForReview, deps),
  handleStaff(acceptLetterRoute, acceptLetter, deps),
  handleStaff(rejectLetterRoute, rejectLetter, deps),
]
