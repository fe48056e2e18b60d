// Checks whether an uploaded file is a valid letter: a PDF, a PNG or a JPEG, by its bytes and not by its name. Code that
// interprets the content runs in a separate thread with limits of time and memory, since a hostile file could
// otherwise block the whole process.
import type { LetterMediaType } from '@pharos/contract/byoip/letter'
import { fail, Failure } from '../../runtime/error.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import {
  runInThread,
  ThreadLimitError,
  ThreadStarvedError,
  type ThreadOptions,
} from '../../runtime/thread.ts'
import { looksLikeJpeg, looksLikePng, refusalOfJpeg, refusalOfPng } from './inspect-image.ts'
import type { InspectedPdf } from './inspect-pdf.ts'
import { refused } from './letter-refusal.ts'
import type { ThreadWork } from './letter-thread.ts'
import { looksLikePdf } from './pdf-ends.ts'

export type Inspected = { readonly mediaType: LetterMediaType; readonly pages: number }

export type LetterFile = { readonly mediaType: LetterMediaType; readonly bytes: Buffer }

export type Inspector = {
  /**
   * Throws `unsupported_media_type` if the file is not of the three types, `invalid` at `["body","file"]` with the
   * reason why it is rejected, `unavailable` if too many files are being read, the machine is too busy or the virus
   * scanner does not answer, and `rate_limited` if the last file of this sender exceeded the limits.
   */
  inspect(bytes: Buffer, sender: string): Promise<Inspected>
  /** Renders a page as a PNG; undefined if the letter has fewer pages. Throws `conflict` if it cannot be rendered, and `unavailable`. */
  render(file: LetterFile, page: number): Promise<Buffer | undefined>
}

/** Scans for malware. Throws Failure `unavailable` if the scan is not possible. */
export type LetterScanner = {
  /** Returns the name of the malware; undefined for a clean file. */
  scan(bytes: Buffer): Promise<string | undefined>
}

export type InspectorOptions = ThreadOptions & {
  readonly atOnce: number
  readonly waiting: number
  /** How long a sender must wait after a file that exceeded the limit of time or memory. */
  readonly pauseMs: number
  readonly scanner?: LetterScanner
}

/** A thread takes half a second to start, to load pdf.js and to render a page of text; a scanned page half a second more. */
const defaults: InspectorOptions = {
  atOnce: 2,
  waiting: 4,
  timeoutMs: 8_000,
  heapMib: 256,
  buffersMib: 512,
  pauseMs: 30_000,
}

/** An A4 page at 150 dpi, which is readable. */
const renderedSideMax = 1_754

export function createInspector(options: Partial<InspectorOptions> = {}): Inspector {
  const all = { ...defaults, ...options }
  const limits = { permits: all.atOnce, waiting: all.waiting, retryAfterSeconds: 5 }
  // Separate semaphores: uploads do not wait for staff who read letters, nor the reverse.
  const threads = { inspect: createSemaphore(limits), render: createSemaphore({ ...limits, permits: 1 }) }
  const pauses = createPauses(all.pauseMs)
  const run = <T>(work: ThreadWork) =>
    threads[work.kind].run(() => runInThread<T>(new URL('letter-thread.ts', import.meta.url), work, all))
  return {
    async inspect(bytes, sender) {
      const mediaType = mediaTypeOf(bytes)
      const found = await all.scanner?.scan(bytes)
      if (found !== undefined) throw refused({ code: 'malware', found: [found] })
      if (mediaType !== 'application/pdf') return { mediaType, pages: inspectPicture(bytes, mediaType) }
      pauses.require(sender)
      return { mediaType, pages: await inspectPdf(bytes, sender) }
    },
    async render({ bytes, mediaType }, page) {
      try {
        const work = { kind: 'render', bytes, mediaType, page, sideMax: renderedSideMax } as const
        const picture = await run<Uint8Array | null>(work)
        return picture === null ? undefined : Buffer.from(picture)
      } catch (error) {
        if (error instanceof Failure) throw error
        throw fail('conflict', 'letterPage', { cause: error })
      }
    },
  }

  async function inspectPdf(bytes: Buffer, sender: string): Promise<number> {
    try {
      const result = await run<InspectedPdf>({ kind: 'inspect', bytes })
      if ('refusal' in result) throw refused(result.refusal)
      return result.pages
    } catch (error) {
      if (error instanceof ThreadStarvedError)
        throw fail('unavailable', 'letterBusy', { retryAfterSeconds: limits.retryAfterSeconds, cause: error })
      // A limit that is exceeded before the thread answers is a property of the file.
      if (!(error instanceof ThreadLimitError)) throw error
      pauses.begin(sender)
      throw refused({ code: 'too_complex' })
    }
  }
}

function mediaTypeOf(bytes: Buffer): LetterMediaType {
  if (looksLikePng(bytes)) return 'image/png'
  if (looksLikeJpeg(bytes)) return 'image/jpeg'
  if (looksLikePdf(bytes)) return 'application/pdf'
  throw fail('unsupported_media_type', 'letter')
}

function inspectPicture(bytes: Buffer, mediaType: LetterMediaType): number {
  const refusal = mediaType === 'image/png' ? refusalOfPng(bytes) : refusalOfJpeg(bytes)
  if (refusal) throw refused(refusal)
  return 1
}

/** Returns the senders that must wait, by name. Bounded by the number of files that can fail within one pause. */
function createPauses(pauseMs: number) {
  const ends = new Map<string, number>()
  return {
    begin(sender: string): void {
      const now = performance.now()
      for (const [name, end] of ends) if (end <= now) ends.delete(name)
      ends.set(sender, now + pauseMs)
    },
    require(sender: string): void {
      const leftMs = (ends.get(sender) ?? 0) - performance.now()
      if (leftMs <= 0) return
      throw fail('rate_limited', 'slowFile', { retryAfterSeconds: leftMs / 1000 })
    },
  }
}
