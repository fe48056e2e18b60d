// The thread in which a test inspects mutated PDFs: pdf.js leaves rejected promises unhandled, which would fail the test in
// its own thread. The product does not import this file.
import { workerData } from 'node:worker_threads'
import { answerFromThread } from '../../runtime/thread.ts'
import { mutate, seededRandom } from '../announcement/testing-mutation.ts'
import { inspectPdf } from './inspect-pdf.ts'

export type Mutations = {
  readonly samples: readonly Uint8Array[]
  readonly words: readonly string[]
  readonly seed: number
  readonly rounds: number
}

process.on('unhandledRejection', () => {})

const { samples, words, seed, rounds } = workerData as Mutations
const random = seededRandom(seed)
const codes: Record<string, number> = {}
for (let round = 0; round < rounds; round++) {
  const changed = mutate(Buffer.from(samples[round % samples.length]!), random, words)
  const result = await inspectPdf(changed).catch((error: unknown) => {
    throw new Error(`seed ${seed}, round ${round}: ${changed.toString('base64')}`, { cause: error })
  })
  const code = 'refusal' in result ? result.refusal.code : 'accepted'
  codes[code] = (codes[code] ?? 0) + 1
}
answerFromThread(codes)
