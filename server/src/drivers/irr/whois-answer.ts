// Decodes answers of the `!` protocol from bytes (IRRd documentation, "Whois queries", section "IRRd style TCP responses"). It
// knows neither queries nor sockets.

/**
 * - `found`: `A<length>`, the text, `C`.
 * - `none`: `C`, a valid query without results. Also the acknowledgement of a command.
 * - `absent`: `D`, no object with that key. `several`: `E`, from old servers, several objects with the key.
 * - `refused`: `F <message>`.
 */
export type WhoisAnswer =
  | { readonly kind: 'found'; readonly text: string }
  | { readonly kind: 'none' | 'absent' | 'several' }
  | { readonly kind: 'refused'; readonly message: string }

/** The bytes are not an answer (`garbage`), or one beyond the size limit (`too_large`). Decoding cannot continue. */
export class WhoisAnswerError extends Error {
  readonly reason: 'garbage' | 'too_large'

  constructor(reason: 'garbage' | 'too_large', message: string) {
    super(message)
    this.name = 'WhoisAnswerError'
    this.reason = reason
  }
}

export type WhoisDecoder = {
  /** Returns the answers completed by these bytes, in order. Throws WhoisAnswerError, and then at every further call. */
  push(bytes: Uint8Array): WhoisAnswer[]
  /** Whether an answer is incomplete. */
  readonly isInside: boolean
}

/** Length limit of lines other than data, such as error messages. */
const lineBytesMax = 1_000
const lineFeed = 10

/** A decoder for one connection. Its buffer is limited to `bytesMax` of one answer and the bytes pushed last. */
export function createWhoisDecoder(bytesMax: number): WhoisDecoder {
  const text = new TextDecoder()
  let rest: Uint8Array<ArrayBufferLike> = new Uint8Array(0)
  /** Offset of the first byte that is not part of an answer yet. */
  let at = 0
  /** The data of an incomplete answer. */
  let data: { readonly bytes: Uint8Array; filled: number } | undefined
  let broken: WhoisAnswerError | undefined

  /** Returns the next line; undefined while it is incomplete. */
  const readLine = (): string | undefined => {
    const start = at
    const end = rest.indexOf(lineFeed, start)
    if ((end < 0 ? rest.length : end) - start > lineBytesMax) throw garbage('a line without end')
    if (end < 0) return undefined
    at = end + 1
    if (end === start + 1) return String.fromCharCode(rest[start]!)
    const line = text.decode(rest.subarray(start, end))
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }

  const readData = (into: NonNullable<typeof data>): WhoisAnswer | undefined => {
    const piece = rest.subarray(at, at + into.bytes.length - into.filled)
    into.bytes.set(piece, into.filled)
    into.filled += piece.length
    at += piece.length
    if (into.filled < into.bytes.length) return undefined
    const end = readLine()
    if (end === undefined) return undefined
    if (end !== 'C') throw garbage('data that does not end where it should')
    data = undefined
    return { kind: 'found', text: text.decode(into.bytes) }
  }

  const take = (): WhoisAnswer | undefined => {
    if (data) return readData(data)
    const line = readLine()
    if (line === undefined) return undefined
    const short = shortAnswer(line)
    if (short) return short
    data = { bytes: new Uint8Array(readLength(line, bytesMax)), filled: 0 }
    return readData(data)
  }

  const decodeAll = (): WhoisAnswer[] => {
    const answers: WhoisAnswer[] = []
    for (let answer = take(); answer; answer = take()) answers.push(answer)
    // A slice of a large chunk would keep all of it in memory.
    rest = rest.slice(at)
    at = 0
    return answers
  }

  return {
    push(bytes) {
      if (broken) throw broken
      rest = rest.length === 0 ? bytes : joined(rest, bytes)
      try {
        return decodeAll()
      } catch (error) {
        if (error instanceof WhoisAnswerError) broken = error
        throw error
      }
    },
    get isInside() {
      return data !== undefined || rest.length > 0
    },
  }
}

function shortAnswer(line: string): WhoisAnswer | undefined {
  if (line === 'C') return { kind: 'none' }
  if (line === 'D') return { kind: 'absent' }
  if (line === 'E') return { kind: 'several' }
  if (line === 'F' || line.startsWith('F ')) return { kind: 'refused', message: line.slice(2) }
  return undefined
}

function readLength(line: string, bytesMax: number): number {
  if (!/^A\d{1,15}$/.test(line)) throw garbage(JSON.stringify(line.slice(0, 60)))
  const length = Number(line.slice(1))
  if (length > bytesMax) {
    throw new WhoisAnswerError('too_large', `the answer has ${length} bytes, of which we take ${bytesMax}`)
  }
  return length
}

function garbage(what: string): WhoisAnswerError {
  return new WhoisAnswerError('garbage', `not an answer of the ! protocol: ${what}`)
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
