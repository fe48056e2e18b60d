// Signs a whole zone in threads, in batches: signing 50,000 sets takes seconds of CPU, and the event loop has other requests.
import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { ZoneName } from '../../net/dns/name.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import { decodeSignedRrsets, encodeRrsets, encodeSignedRrsets } from './rrset-list.ts'
import type { Previous } from './sign-zone.ts'
import type { SignatureSettings } from './signature.ts'

/** Sets in one message: a millisecond of work of the event loop. */
export const batchSize = 128

export type ToThread =
  | { readonly kind: 'sets'; readonly octets: Uint8Array }
  | { readonly kind: 'previous'; readonly octets: Uint8Array }
  | {
      readonly kind: 'sign'
      readonly zone: ZoneName
      readonly signing: SignatureSettings | undefined
      readonly share: number
      readonly shares: number
    }
export type ToMain =
  | { readonly kind: 'signed'; readonly number: number; readonly octets: Uint8Array }
  | { readonly kind: 'end' }

const script = new URL('./sign-thread.ts', import.meta.url)

/** They have a low priority, so the event loop goes first. */
const threadsMax = Math.min(2, availableParallelism())

/** A zone of this many sets takes as long as starting a second thread. */
const setsPerThread = 2000

/** One zone at a time. */
const turns = createSemaphore({ permits: 1, waiting: Infinity, retryAfterSeconds: 1 })

/** Like `signZone`, without blocking the event loop. Throws the same errors, and if a thread ends. */
export function signInThread(
  zone: ZoneName,
  rrsets: Iterable<Rrset>,
  signing: SignatureSettings | undefined,
  previous: Previous = new Map(),
): Promise<SignedRrset[]> {
  return turns.run(async () => {
    const sets = [...rrsets]
    const shares = sets.length > setsPerThread ? threadsMax : 1
    const workers = Array.from({ length: shares }, () => new Worker(script, { env: {}, execArgv: [] }))
    try {
      const batches: SignedRrset[][] = []
      const received = Promise.all(workers.map((worker) => receive(worker, batches)))
      // It is awaited only after all sets were sent.
      received.catch(() => undefined)
      await sendBatches(workers, 'sets', sets, encodeRrsets)
      await sendBatches(workers, 'previous', previous.values(), encodeSignedRrsets)
      for (const [share, worker] of workers.entries())
        post(worker, { kind: 'sign', zone, signing, share, shares })
      await received
      return batches.flat()
    } finally {
      for (const worker of workers) void worker.terminate()
    }
  })
}

/** Puts the batches into their places; resolves at the end of the thread's share. */
function receive(worker: Worker, batches: SignedRrset[][]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  worker.on('message', (message: ToMain) => {
    if (message.kind === 'end') resolve()
    else batches[message.number] = decodeSignedRrsets(message.octets)
  })
  worker.once('error', reject).once('exit', () => reject(new Error('a signing thread has ended')))
  return promise
}

async function sendBatches<Set extends Rrset>(
  workers: readonly Worker[],
  kind: 'sets' | 'previous',
  all: Iterable<Set>,
  encode: (sets: readonly Set[]) => Buffer,
): Promise<void> {
  let batch: Set[] = []
  const send = (): void => {
    // A copy, because the encoder's buffer may be shared.
    const octets = Uint8Array.from(encode(batch))
    for (const worker of workers) post(worker, { kind, octets })
    batch = []
  }
  for (const set of all) {
    batch.push(set)
    if (batch.length < batchSize) continue
    send()
    await nextTurn()
  }
  send()
}

function post(worker: Worker, message: ToThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  worker.postMessage(message)
}
