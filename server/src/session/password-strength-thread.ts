// The thread that rates passwords.
import { answerJobs } from '../runtime/thread-pool.ts'
import { findWeakness } from './password-strength.ts'

answerJobs(findWeakness)
