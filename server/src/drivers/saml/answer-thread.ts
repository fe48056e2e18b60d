// The thread that verifies answers of identity providers: the input is of anybody, and must neither block the process nor take its memory.
import { SignInFailure } from '../../identity/identity-provider.ts'
import { answerJobs } from '../../runtime/thread-pool.ts'
import type { AnswerJob } from './verify-answer.ts'
import { verifyAnswer } from './verify-answer.ts'
import type { AnswerResult } from './provider.ts'

answerJobs((job: AnswerJob): AnswerResult => {
  try {
    return { read: verifyAnswer(job) }
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error
    return { reason: error.reason, claims: error.claims }
  }
})
