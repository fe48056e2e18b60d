// A thread that signs its share of a whole zone. Sets arrive and leave in batches of octets, so that neither side
// copies a large zone in one step.
import { parentPort } from 'node:worker_threads'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { dispatch, type Handlers } from '../../runtime/handlers.ts'
import { lowerThreadPriority } from '../../runtime/thread-priority.ts'
import { decodeRrsets, decodeSignedRrsets, encodeSignedRrsets } from './rrset-list.ts'
import { batchSize, type ToMain, type ToThread } from './sign-in-thread.ts'
import { planZone, setKey, signPlanned, type PlannedSet } from './sign-zone.ts'

const sets: Rrset[] = []
const previous = new Map<string, SignedRrset>()

lowerThreadPriority()

const onMessage: Handlers<ToThread> = {
  sets: ({ octets }) => void sets.push(...decodeRrsets(octets)),
  previous({ octets }) {
    for (const set of decodeSignedRrsets(octets)) previous.set(setKey(set), set)
  },
  sign: signShare,
}

parentPort!.on('message', (message: ToThread) => dispatch(onMessage, message))

/** Signs every batch whose number equals the share, modulo the number of threads. */
function signShare({ zone, signing, share, shares }: ToThread & { readonly kind: 'sign' }): void {
  let batch: PlannedSet[] = []
  let number = 0
  const flush = (): void => {
    if (number % shares === share) {
      // A copy, because the encoder's buffer may be shared.
      const octets = Uint8Array.from(
        encodeSignedRrsets(batch.map((planned) => signPlanned(signing, planned, previous))),
      )
      post({ kind: 'signed', number, octets }, [octets.buffer])
    }
    number += 1
    batch = []
  }
  for (const planned of planZone(zone, sets, signing)) {
    batch.push(planned)
    if (batch.length === batchSize) flush()
  }
  flush()
  post({ kind: 'end' }, [])
}

function post(message: ToMain, transfer: ArrayBuffer[]): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has origins, a thread has none
  parentPort!.postMessage(message, transfer)
}
