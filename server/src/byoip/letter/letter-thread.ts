// The thread that inspects a letter or renders a page of it: it receives the bytes, returns the result, and ends.
import { workerData } from 'node:worker_threads'
import type { LetterMediaType } from '@pharos/contract/byoip/letter'
import { answerFromThread } from '../../runtime/thread.ts'
import { openPages } from './letter-pages.ts'

export type ThreadWork =
  | { readonly kind: 'inspect'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'render'
      readonly bytes: Uint8Array
      readonly mediaType: LetterMediaType
      readonly page: number
      readonly sideMax: number
    }

// pdf.js prepares some objects before they are awaited. Such a failure is thrown again when the object is used.
process.on('unhandledRejection', () => {})

const work = workerData as ThreadWork
const bytes = Buffer.from(work.bytes)
if (work.kind === 'inspect') {
  const { inspectPdf } = await import('./inspect-pdf.ts')
  answerFromThread(await inspectPdf(bytes))
} else {
  const pages = await openPages(bytes, work.mediaType)
  answerFromThread(work.page > pages.count ? null : await pages.render(work.page, work.sideMax))
}
