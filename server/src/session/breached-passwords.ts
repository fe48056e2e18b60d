// Breached passwords, in the file format of Have I Been Pwned: one line for each, `SHA-1:count`, sorted by the hash. The file is
// searched on disk, since a billion lines do not fit into memory. An invalid file is an error, never "not found".
import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { fail } from '../runtime/error.ts'
import { normalisePassword } from './password-policy.ts'

export type BreachedPasswords = {
  /** Returns whether the password is in the file. Throws `unavailable` if the file cannot be read or has changed. */
  has(password: string): Promise<boolean>
  close(): void
}

/** 40 hexadecimal digits, a colon, a count, the end of the line: 53 bytes with the largest counts. */
const lineMax = 64
/** Size of the last part of the search, which is read as a whole. */
const pieceBytes = 4_096
const samples = 64

const readBytes = promisify(read)

/** Opens the file and samples it in 64 places. Throws if it is missing, empty, in another format or not sorted. */
export function openBreachedPasswords(path: string): BreachedPasswords {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    checkSamples(file, size)
    return {
      has: (password) => search(file, size, sha1(password)).catch((error: unknown) => refuse(path, error)),
      close: () => closeSync(file),
    }
  } catch (error) {
    closeSync(file)
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

const sha1 = (password: string): string => hash('sha1', normalisePassword(password)).toUpperCase()

function refuse(path: string, cause: unknown): never {
  throw fail('unavailable', 'breachedPasswords', {
    degraded: ['breached_passwords'],
    cause: new Error(`${path}: ${(cause as Error).message}`, { cause }),
  })
}

function checkSamples(file: number, size: number): void {
  let before = ''
  for (let sample = 0; sample <= samples; sample++) {
    const at = Math.floor((Math.max(0, size - lineMax) * sample) / samples)
    const bytes = Buffer.alloc(2 * lineMax)
    const found = hashesOf(bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at)), at, size)
    const [first] = found
    if (first === undefined) throw new Error(`no line at byte ${at}`)
    const isOrdered = found.every((one, index) => one >= (found[index - 1] ?? before))
    if (!isOrdered) throw new Error(`the lines at byte ${at} are not sorted by hash`)
    // Except the last line: in a small file the next sample begins before it.
    before = first
  }
}

/** Binary search: halves the range that can contain the hash until it fits into one read. */
async function search(file: number, size: number, wanted: string): Promise<boolean> {
  let from = 0
  let to = size
  while (to - from > pieceBytes) {
    const middle = Math.floor((from + to) / 2)
    const [first] = await readHashes(file, middle, 2 * lineMax, size)
    if (first === wanted) return true
    if (first === undefined) throw new Error(`no line at byte ${middle}`)
    // A line across the middle belongs to the left half.
    if (first < wanted) from = middle
    else to = Math.min(to, middle + lineMax)
  }
  const piece = await readHashes(file, Math.max(0, from - lineMax), pieceBytes + 3 * lineMax, size)
  return piece.includes(wanted)
}

async function readHashes(file: number, at: number, length: number, size: number): Promise<string[]> {
  const { buffer, bytesRead } = await readBytes(file, Buffer.alloc(length), 0, length, at)
  return hashesOf(buffer.subarray(0, bytesRead), at, size)
}

/** Returns the hashes of the complete lines in the bytes; `at` is the offset of the bytes in the file. */
function hashesOf(bytes: Buffer, at: number, size: number): string[] {
  const text = bytes.toString('latin1')
  const start = at === 0 ? 0 : text.indexOf('\n') + 1
  const isEnd = at + bytes.length >= size
  const end = isEnd ? text.length : text.lastIndexOf('\n')
  if (end < start || (start === 0 && at > 0)) return []
  return text.slice(start, end).split('\n').filter(isLine).map(hashOf)
}

const isLine = (line: string): boolean => line !== '' && line !== '\r'

function hashOf(line: string): string {
  const [, found] = /^([0-9A-Fa-f]{40})(?::\d{1,12})?\r?$/.exec(line) ?? []
  if (found === undefined) throw new Error('a line is not a SHA-1 hash with a count')
  return found.toUpperCase()
}
