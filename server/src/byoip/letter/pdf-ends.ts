// Checks the beginning and the end of a PDF, and that the file contains no other data. pdf.js finds the document anywhere in the
// file and does not report the bytes around it. Pure.
import { damaged, type LetterRejection } from './letter-refusal.ts'

/** Readers search this many bytes for the header (ISO 32000-2, annex I): a BOM or printer commands may precede it. */
const headerWithin = 1024
const header = '%PDF-'
const end = '%%EOF'

export const looksLikePdf = (bytes: Buffer): boolean =>
  bytes.subarray(0, headerWithin + header.length).includes(header)

export function refusalOfEnds(bytes: Buffer): LetterRejection | undefined {
  const at = bytes.lastIndexOf(end)
  if (at < 0) return damaged('it has no end')
  // Some programs and scanners add padding.
  if (/[^\0\s]/.test(bytes.toString('latin1', at + end.length))) return { code: 'trailing_data' }
  return isZip(bytes) ? { code: 'trailing_data', found: ['ZIP'] } : undefined
}

const zipEnd = Buffer.from('PK\x05\x06', 'latin1')
const zipEndBytes = 22

/** A ZIP archive is detected from its end, and data after that may be its comment: %%EOF, for example. */
function isZip(bytes: Buffer): boolean {
  const tail = bytes.subarray(-(zipEndBytes + 65_535))
  for (let at = tail.indexOf(zipEnd); at >= 0; at = tail.indexOf(zipEnd, at + 1))
    if (at + zipEndBytes + tail.readUInt16LE(Math.min(at + 20, tail.length - 2)) === tail.length) return true
  return false
}
