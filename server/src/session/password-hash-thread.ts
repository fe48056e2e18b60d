// The thread in which argon2id runs: takes one job at a time and answers it. It must know nothing else.
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'
import type { HashAnswer, HashJob } from './password-hash.ts'

/** The library's default algorithm is argon2id. */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Below the process: a tenth of its share where both want the core, enough to be done under full load too. */
const steps = 10
const lowest = 19

// Linux has a priority for each thread; elsewhere this would slow the whole process down.
if (process.platform === 'linux') setPriority(0, Math.min(getPriority(0) + steps, lowest))

parentPort!.on('message', (job: HashJob) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  parentPort!.postMessage(answerTo(job))
})

function answerTo({ password, expected }: HashJob): HashAnswer {
  try {
    const value = expected === undefined ? hashSync(password, options) : verifySync(expected, password)
    return { value }
  } catch (error) {
    return { error: (error as Error).message }
  }
}
