// Parses the Routing Policy Specification Language (RFC 2622 section 2), the text format of registry objects: splits text into
// objects, and objects into attributes. The meaning of the classes is in rpsl-objects.ts.

/** `message` is public text and never repeats more than a short piece of the input. */
export class RpslError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RpslError'
  }
}

export type RpslAttribute = {
  /** In lower case. */
  readonly name: string
  /** Without comments; the parts of a value that spans several lines are joined by line feeds. */
  readonly value: string
}

export type RpslObject = {
  /** The name of its first attribute: `route`, `aut-num`. */
  readonly class: string
  /** The value of its first attribute. */
  readonly key: string
  /** At least one, in order. */
  readonly attributes: readonly RpslAttribute[]
  /** Unchanged, with its comments. */
  readonly text: string
}

/** An object that could not be parsed, and the line (from 1) on which it begins. */
export type RpslProblem = { readonly line: number; readonly message: string }

/** The text between two empty lines. */
export type RpslParagraph = {
  readonly text: string
  /** The line of its first character, from 1. */
  readonly line: number
  /** Whether the object was too long and is truncated. */
  readonly isCut: boolean
}

/** Objects of registries are rarely longer than a tenth of this. */
const charactersMax = 1_048_576
const linesMax = 50_000

export type RpslSplitter = {
  /** Adds a chunk of text, split anywhere. */
  push(chunk: string, visit: (paragraph: RpslParagraph) => void): void
  /** Returns the text after the last empty line. */
  end(visit: (paragraph: RpslParagraph) => void): void
}

/**
 * Splits text that arrives in chunks at its empty lines; a line ends with a line feed, optionally after a carriage
 * return. The buffer is limited to `charactersMax` and one chunk.
 */
export function createRpslSplitter(max = charactersMax): RpslSplitter {
  let text = ''
  /** The number of characters of the paragraph that were removed from `text`. */
  let dropped = 0
  /** Offsets of the paragraph's first character, and of the first line that was not scanned. */
  let start = 0
  let at = 0
  let [line, startLine] = [1, 1]

  const emit = (end: number, visit: (paragraph: RpslParagraph) => void): void => {
    const length = end - start
    if (length > 0) {
      const isCut = length + dropped > max
      visit({ text: text.slice(start, start + Math.min(length, max)), line: startLine, isCut })
    }
    dropped = 0
  }
  /** Keeps the beginning of a paragraph that is too long, and enough of its last line to detect whether it is empty. */
  const forget = (): void => {
    text = text.slice(start)
    at -= start
    start = 0
    if (text.length <= max) return
    const kept = text.slice(Math.max(at, text.length - 2))
    dropped += text.length - max - kept.length
    text = text.slice(0, max) + kept
    at = max
  }
  return {
    push(chunk, visit) {
      text += chunk
      for (let feed = text.indexOf('\n', at); feed >= 0; feed = text.indexOf('\n', at)) {
        line++
        const isEmpty = isEmptyLine(text, at, feed)
        if (isEmpty) {
          emit(at, visit)
          start = feed + 1
          startLine = line
        }
        at = feed + 1
      }
      forget()
    },
    end(visit) {
      emit(text.length, visit)
      text = ''
      start = at = 0
    },
  }
}

function isEmptyLine(text: string, start: number, feed: number): boolean {
  return feed === start || (feed === start + 1 && text.charCodeAt(start) === 13)
}

const paragraphsMax = 20_000
const problemsMax = 1_000

/**
 * Parses all objects of a complete text, and returns the problems of invalid ones; lines that begin with `%` or `#` are comments.
 * Throws RpslError if there are more objects than an answer can have. Use a splitter for longer texts.
 */
export function parseRpsl(text: string): { objects: RpslObject[]; problems: RpslProblem[] } {
  const objects: RpslObject[] = []
  const problems: RpslProblem[] = []
  let paragraphs = 0
  const visit = (paragraph: RpslParagraph): void => {
    if (++paragraphs > paragraphsMax) throw new RpslError(`more than ${paragraphsMax} objects`)
    const object = readRpslParagraph(paragraph)
    if (object instanceof RpslError) problems.push({ line: paragraph.line, message: object.message })
    else if (object) objects.push(object)
    if (problems.length > problemsMax) throw new RpslError(`more than ${problemsMax} objects cannot be read`)
  }
  const splitter = createRpslSplitter()
  splitter.push(text, visit)
  splitter.end(visit)
  return { objects, problems }
}

/** Returns the object, its problem, or undefined if there are only comments. */
export function readRpslParagraph({ text, isCut }: RpslParagraph): RpslObject | RpslError | undefined {
  if (isCut) return new RpslError('the object is too long')
  try {
    return parseRpslObject(text)
  } catch (error) {
    if (error instanceof RpslError) return error
    throw error
  }
}

/**
 * Parses one object. Throws RpslError on a line that is neither an attribute nor a continuation, and on too many lines.
 * Undefined without any attribute.
 */
export function parseRpslObject(text: string): RpslObject | undefined {
  const attributes: { name: string; value: string }[] = []
  const lines = text.split('\n', linesMax + 1)
  if (lines.length > linesMax) throw new RpslError(`an object of more than ${linesMax} lines`)
  for (const line of lines) readLine(line.endsWith('\r') ? line.slice(0, -1) : line, attributes)
  const first = attributes[0]
  return first && { class: first.name, key: first.value, attributes, text }
}

const attributeName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

function readLine(line: string, attributes: { name: string; value: string }[]): void {
  if (line === '' || line.startsWith('%') || line.startsWith('#')) return
  if (/^[ \t+]/.test(line)) return continueAttribute(line, attributes.at(-1))
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  if (!attributeName.test(name)) {
    throw new RpslError(`not an attribute: ${JSON.stringify(line.slice(0, 40))}`)
  }
  attributes.push({ name: name.toLowerCase(), value: withoutComment(line.slice(colon + 1)) })
}

/** A line of `+` alone is an empty line of the value. */
function continueAttribute(line: string, attribute: { value: string } | undefined): void {
  if (!attribute) throw new RpslError('the object begins with the continuation of a line')
  attribute.value += `\n${withoutComment(line.slice(1))}`
}

function withoutComment(value: string): string {
  const hash = value.indexOf('#')
  return (hash < 0 ? value : value.slice(0, hash)).trim()
}

/** Returns all values of an attribute, in order. */
export function rpslValues(object: RpslObject, name: string): string[] {
  return object.attributes.filter((attribute) => attribute.name === name).map(({ value }) => value.trim())
}

/** Returns the value of an attribute that an object has exactly once; throws RpslError otherwise. */
export function rpslValue(object: RpslObject, name: string): string {
  const [value, another] = rpslValues(object, name)
  if (value === undefined || value === '') throw new RpslError(`the ${object.class} object has no ${name}`)
  if (another !== undefined) throw new RpslError(`the ${object.class} object has more than one ${name}`)
  return value
}
