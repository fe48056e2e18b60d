// The thread that computes argon2id.
import { hashSync, verifySync } from '@node-rs/argon2'
import { answerJobs } from '../runtime/thread-pool.ts'
import type { HashJob } from './password-hash.ts'

/** The library's default algorithm is argon2id. */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

answerJobs(({ password, expected }: HashJob) =>
  expected === undefined ? hashSync(password, options) : verifySync(expected, password),
)
