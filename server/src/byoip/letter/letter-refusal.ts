// Why a letter's file is rejected: a code, and the sentences that explain it. Pure.
import { letterPagesMax, type LetterRefusalCode } from '@pharos/contract/byoip/letter'
import { failWith, type Failure } from '../../runtime/error.ts'

export type LetterRejection = {
  readonly code: LetterRefusalCode
  /** The names in the file that caused it, in their original spelling. */
  readonly found?: readonly string[]
  /** The damage, as the end of a sentence. */
  readonly why?: string
}

export const damaged = (why: string): LetterRejection => ({ code: 'damaged', why })

/** 10,000 by 10,000: an A4 page at 900 dpi, and 400 MB when it is decoded. */
export const pixelsMax = 100_000_000

type Text = { readonly what: string; readonly next: string }

const printAgain = 'Print the letter to a new PDF and upload that.'

export const refusalTexts: Record<LetterRefusalCode, Text> = {
  damaged: {
    what: 'The file is damaged or incomplete.',
    next: 'Export or scan the letter again and upload the new file.',
  },
  encrypted: {
    what: 'The PDF needs a password to open.',
    next: 'Save it without a password and upload that.',
  },
  script: { what: 'The PDF contains JavaScript.', next: printAgain },
  attachment: {
    what: 'The PDF contains attached files.',
    next: 'Print the letter to a new PDF without attachments and upload that.',
  },
  launch: { what: 'The PDF contains an action that starts a program.', next: printAgain },
  link: {
    what: 'The PDF links to a script, a local file or a network share.',
    next: 'Remove the link, or print the letter to a new PDF, and upload that.',
  },
  form: {
    what: 'The PDF contains an XFA form, or a form that sends or imports data.',
    next: printAgain,
  },
  multimedia: { what: 'The PDF contains audio, video or 3D content.', next: printAgain },
  name: {
    what: 'The PDF contains names with a NUL byte, which PDF readers interpret differently.',
    next: printAgain,
  },
  trailing_data: {
    what: 'The file has other data after its end.',
    next: 'Export or scan the letter again and upload the new file.',
  },
  dimensions: {
    what: `A picture in the file has more than ${pixelsMax / 1e6} megapixels.`,
    next: 'Scan the letter at 300 dpi and upload that.',
  },
  pages: {
    what: `The PDF has more than ${letterPagesMax} pages.`,
    next: 'Upload only the pages of the letter.',
  },
  too_complex: {
    what: 'The file takes too much time or memory to read.',
    next: 'Scan the letter, or print it to a new PDF, and upload that.',
  },
  malware: {
    what: "The provider's virus scanner rejected the file.",
    next: 'Check your computer, then export or scan the letter again.',
  },
}

/** Returns a 422 at `["body","file"]`: `type` is the code, `ctx.found` the names that were found. */
export function refused({ code, found, why }: LetterRejection): Failure {
  const { what, next } = refusalTexts[code]
  const msg = `${why === undefined ? what : `${what.slice(0, -1)}: ${why}.`} ${next}`
  const error = { loc: ['body', 'file'], msg, type: code, ...(found ? { ctx: { found } } : {}) }
  return failWith('invalid', [error])
}
