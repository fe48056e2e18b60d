// Where in the bytes of a PDF something begins that a reader could take for an object, whatever stands around it. Pure,
// and linear in the size of the file.
import { damaged, type Refusal } from './inspection.ts'

/** What may stand behind the last %%EOF: line ends, and what some programs fill up with. */
const paddingMax = 1_024
const zipEndBytes = 22

/** Why its beginning or its end is not that of a PDF and nothing else; undefined when they are. */
export function refusalOfEnds(bytes: Buffer): Refusal | undefined {
  if (!/^%PDF-[12]\.\d[\0\t\n\f\r %]/.test(bytes.toString('latin1', 0, 9)))
    return damaged('it does not begin as a PDF does')
  const end = bytes.lastIndexOf('%%EOF')
  if (end < 0) return damaged('it has no end')
  const rest = bytes.subarray(end + 5)
  if (rest.length > paddingMax || !rest.every(isSpace))
    return { type: 'trailing_data', msg: `has ${rest.length} bytes after the end of the document` }
  return isZip(bytes) ? { type: 'trailing_data', msg: 'is a ZIP archive as well' } : undefined
}

/** A ZIP archive is found from its end, and what follows that may be its comment: %%EOF, for example. */
function isZip(bytes: Buffer): boolean {
  const tail = bytes.subarray(-(zipEndBytes + 65_535))
  for (
    let at = tail.indexOf('PK\x05\x06', 0, 'latin1');
    at >= 0;
    at = tail.indexOf('PK\x05\x06', at + 1, 'latin1')
  ) {
    if (at + zipEndBytes <= tail.length) return true
  }
  return false
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === 0x0c || byte === 0x00
const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39
/** Readers take `5 0.0 obj`, `5 0- obj` and `5 0e0 obj` too. */
const isOfNumber = (byte: number | undefined): boolean =>
  isDigit(byte) || byte === 0x2e || byte === 0x2b || byte === 0x2d || byte === 0x45 || byte === 0x65
const isOfWord = (byte: number | undefined): boolean =>
  byte !== undefined &&
  (isDigit(byte) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f)

/**
 * The place behind every `obj` that follows two numbers. Undefined where a comment stands before one: no program writes
 * that, and what is in a comment depends on what is before it.
 */
export function findObjects(bytes: Buffer): number[] | undefined {
  const found: number[] = []
  for (let at = bytes.indexOf('obj'); at >= 0; at = bytes.indexOf('obj', at + 3)) {
    if (isOfWord(bytes[at + 3])) continue
    const before = skipSpaceBack(bytes, at - 1)
    if (before === at - 1) {
      if (followsNumbersAtOnce(bytes, before)) found.push(at + 3)
    } else if (isOfNumber(bytes[before])) found.push(at + 3)
    else if (isCommentLine(bytes, at - 1, before)) return undefined
  }
  return found
}

function skipSpaceBack(bytes: Buffer, from: number): number {
  let at = from
  while (at >= 0 && isSpace(bytes[at])) at--
  return at
}

/** `5 0obj`: some readers do not need the space. */
function followsNumbersAtOnce(bytes: Buffer, from: number): boolean {
  let at = from
  while (at >= 0 && isOfNumber(bytes[at])) at--
  if (at === from || !isSpace(bytes[at])) return false
  return isOfNumber(bytes[skipSpaceBack(bytes, at)])
}

/** Whether the line that ends in the space before `obj` has a % in it. Lines are looked at once: obj ends its own. */
function isCommentLine(bytes: Buffer, spaceEnd: number, before: number): boolean {
  if (!bytes.subarray(before + 1, spaceEnd + 1).some(isLineEnd)) return false
  for (let at = before; at >= 0 && !isLineEnd(bytes[at]); at--) if (bytes[at] === 0x25) return true
  return false
}

/** The place of the dictionary behind every `trailer` that has one. */
export function findTrailers(bytes: Buffer): number[] {
  const found: number[] = []
  for (let at = bytes.indexOf('trailer'); at >= 0; at = bytes.indexOf('trailer', at + 7)) {
    let next = at + 7
    while (isSpace(bytes[next])) next++
    if (bytes[next] === 0x25 || (bytes[next] === 0x3c && bytes[next + 1] === 0x3c)) found.push(next)
  }
  return found
}
