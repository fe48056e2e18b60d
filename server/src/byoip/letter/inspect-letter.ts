// Whether an uploaded file is what a letter may be: a PDF, a PNG or a JPEG, by its bytes and not by its name. Pictures are
// walked through at once; a PDF is read in a thread of its own, within bounds of time and memory, since a hostile one
// could otherwise stop the whole process.
import type { LetterMediaType } from '@pharos/contract/letter'
import { Failure, invalid } from '../../runtime/error.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import { runInThread, ThreadLimitError, type ThreadOptions } from '../../runtime/thread.ts'
import { looksLikeJpeg, looksLikePng, refusalOfJpeg, refusalOfPng } from './inspect-image.ts'
import type { Refusal } from './inspection.ts'

export type Inspector = {
  /**
   * The media type of the file. Throws `unsupported_media_type` when it is none of the three, `invalid` at
   * `["body","file"]` with why it is refused, `unavailable` when too many are being read, `rate_limited` when the last
   * one of this sender was given up.
   */
  inspect(bytes: Buffer, sender: string): Promise<LetterMediaType>
}

export type InspectorOptions = ThreadOptions & {
  readonly atOnce: number
  readonly waiting: number
  /** How long a sender waits after a file that cost all the time or memory that one may. */
  readonly pauseMs: number
}

/** A thread takes a quarter of a second to start and to load its library; a large scan in a PDF takes one more. */
const defaults: InspectorOptions = {
  atOnce: 2,
  waiting: 6,
  timeoutMs: 6_000,
  memoryMib: 256,
  pauseMs: 30_000,
}

export function createInspector(options: Partial<InspectorOptions> = {}): Inspector {
  const all = { ...defaults, ...options }
  const threads = createSemaphore({ permits: all.atOnce, waiting: all.waiting, retryAfterSeconds: 5 })
  const pauses = createPauses(all.pauseMs)
  return {
    async inspect(bytes, sender) {
      const { mediaType, refusal } = await inspect(bytes, async () => {
        pauses.require(sender)
        const found = await threads.run(() => readInThread(bytes, all))
        if (found === tooComplex) pauses.begin(sender)
        return found
      })
      if (refusal) throw refused(refusal)
      return mediaType
    },
  }
}

type Inspected = { readonly mediaType: LetterMediaType; readonly refusal: Refusal | undefined }

async function inspect(bytes: Buffer, inspectPdf: () => Promise<Refusal | undefined>): Promise<Inspected> {
  if (looksLikePng(bytes)) return { mediaType: 'image/png', refusal: refusalOfPng(bytes) }
  if (looksLikeJpeg(bytes)) return { mediaType: 'image/jpeg', refusal: refusalOfJpeg(bytes) }
  if (!looksLikePdf(bytes))
    throw new Failure(
      'unsupported_media_type',
      'The file is neither a PDF nor a PNG nor a JPEG, whatever its name says.',
    )
  return { mediaType: 'application/pdf', refusal: await inspectPdf() }
}

/** The library is not loaded for what needs it in its thread only. */
const looksLikePdf = (bytes: Buffer): boolean => bytes.toString('latin1', 0, 5) === '%PDF-'

/** Who is to wait, by name. Bounded by how many can fail within one pause. */
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
      const detail = 'The last file took too long to read; wait before the next.'
      throw new Failure('rate_limited', detail, { retryAfterSeconds: leftMs / 1000 })
    },
  }
}

function refused({ type, msg, found }: Refusal): Failure {
  return invalid(['body', 'file'], msg, type, found && { found })
}

const tooComplex: Refusal = {
  type: 'too_complex',
  msg: 'takes too long to read; print it to a new PDF and upload that',
}

/** What ends the thread before it has answered is a property of the file, and said as one. */
async function readInThread(bytes: Buffer, limits: ThreadOptions): Promise<Refusal | undefined> {
  const script = new URL('inspect-pdf-thread.ts', import.meta.url)
  try {
    return (await runInThread<Refusal | null>(script, bytes, limits)) ?? undefined
  } catch (error) {
    if (error instanceof ThreadLimitError) return tooComplex
    throw error
  }
}
