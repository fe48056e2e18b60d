// Splits the list "roas" of an export into batches of records by its brackets, so that a document of 80 MB does not block the
// process for seconds in one JSON.parse. Pure. JSON.parse checks the content, batch by batch.

const quote = 34
const comma = 44
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125
const recordsPerBatch = 500

/**
 * Yields the records, and at the end the rest of the document with an empty list in their place; if the document has no such
 * list, all of it. Throws SyntaxError.
 */
export function* readRoas(text: string): Generator<readonly unknown[], string> {
  const start = startOfList(text)
  if (start < 0) return text
  let batchStart = start + 1
  let commas = 0
  for (let i = batchStart; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else if (stepOf(code) > 0) i = endOfNested(text, i)
    else if (stepOf(code) < 0) {
      yield parseBatch(text.slice(batchStart, i), commas === 0)
      return `${text.slice(0, start)}[${text.slice(i)}`
    } else if (code === comma && ++commas % recordsPerBatch === 0) {
      yield parseBatch(text.slice(batchStart, i), false)
      batchStart = i + 1
    }
  }
  throw new SyntaxError('the list is not closed')
}

/** Returns the offset at which the top-level list "roas" opens, or -1. */
function startOfList(text: string): number {
  let depth = 0
  let name = ''
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      const end = endOfString(text, i)
      if (depth === 1) name = text.slice(i + 1, end)
      i = end
    } else if (code === openBracket && depth === 1 && name === 'roas') return i
    else depth += stepOf(code)
  }
  return -1
}

/** Throws on a missing element between two commas; only a whole list may be empty. */
function parseBatch(text: string, mayBeEmpty: boolean): readonly unknown[] {
  const batch = JSON.parse(`[${text}]`) as unknown[]
  if (batch.length === 0 && !mayBeEmpty) throw new SyntaxError('nothing between two commas')
  return batch
}

/** Returns the offset at which the bracket at `start` is closed. */
function endOfNested(text: string, start: number): number {
  let depth = 0
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = endOfString(text, i)
    else {
      depth += stepOf(code)
      if (depth === 0) return i
    }
  }
  throw new SyntaxError('a bracket is not closed')
}

function stepOf(code: number): number {
  if (code === openBrace || code === openBracket) return 1
  return code === closeBrace || code === closeBracket ? -1 : 0
}

/** Returns the offset of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let end = start
  do {
    end = text.indexOf('"', end + 1)
    if (end < 0) throw new SyntaxError('a string is not closed')
  } while (isEscaped(text, end))
  return end
}

function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text.charAt(before - 1) === '\\') before--
  return (at - before) % 2 === 1
}
