// Reads every object of a PDF and says why it is refused: encrypted, active, damaged, or something else besides a PDF.
// A library reads the objects; which bytes are objects is not left to it, since readers differ there and a file can show
// each of them another document. Whatever any reader could take for an object is read as one: inside streams, comments
// and strings, behind the end. Never run on the event loop: see inspect-letter.ts.
import { inflateSync } from 'node:zlib'
import {
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFName,
  PDFNull,
  PDFNumber,
  PDFParser,
  PDFRawStream,
  ParseSpeeds,
  type PDFObject,
} from '@cantoo/pdf-lib'
import { damaged, type Refusal } from './inspection.ts'
import { findObjects, findTrailers, refusalOfEnds } from './inspect-pdf-bytes.ts'

const nestingMax = 200
/** Of all object streams together, unpacked. */
const unpackedBytesMax = 64 * 1024 * 1024

/** Names that stand for something that runs, opens, sends or hides, and what to call it (ISO 32000-2). */
const activeNames: Readonly<Record<string, string>> = {
  JavaScript: 'a script',
  JS: 'a script',
  Launch: 'an action that starts a program',
  AA: 'actions that run by themselves',
  EmbeddedFile: 'an embedded file',
  EmbeddedFiles: 'an embedded file',
  EF: 'an embedded file',
  FileAttachment: 'an embedded file',
  RichMedia: 'multimedia',
  RichMediaExecute: 'multimedia',
  Rendition: 'multimedia',
  Movie: 'multimedia',
  Sound: 'multimedia',
  '3D': 'multimedia',
  GoTo3DView: 'multimedia',
  XFA: 'an XFA form',
  SubmitForm: 'a form that sends data',
  ImportData: 'a form that reads other files',
  GoToR: 'an action that opens another file',
  GoToE: 'an action that opens another file',
}

/** Thrown inside this file only. */
class Refused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.msg)
    this.refusal = refusal
  }
}

/** Why a file that looks like a PDF is refused; undefined when it is one that only shows something. */
export async function refusalOfPdf(bytes: Buffer): Promise<Refusal | undefined> {
  try {
    const ends = refusalOfEnds(bytes)
    if (ends) return ends
    const seen = readAll(bytes)
    return refusalOfNames(seen) ?? (await refusalOfDocument(bytes))
  } catch (error) {
    if (error instanceof Refused) return error.refusal
    return damaged('an object in it is not well-formed')
  }
}

/** What was met while reading. */
type Seen = { readonly names: Set<string>; readonly openActions: PDFObject[]; unpackedBytes: number }

/** The library's reader of objects, with an ear for names: those in a key given twice, too, of which it keeps the last. */
class ObjectReader extends PDFParser {
  readonly #seen: Seen
  #depth = 0
  #key = ''

  constructor(bytes: Uint8Array, seen: Seen) {
    super(bytes)
    this.#seen = seen
  }

  readAt(offset: number): PDFObject {
    this.bytes.moveTo(offset)
    return this.parseObject()
  }

  override parseObject(): PDFObject {
    if (++this.#depth > nestingMax) throw new Refused({ type: 'too_complex', msg: 'is nested too deeply' })
    const key = this.#key
    this.#key = ''
    const object = super.parseObject()
    this.#depth--
    if (key === 'OpenAction') this.#seen.openActions.push(object)
    return object
  }

  protected override parseName(): PDFName {
    const name = super.parseName()
    this.#key = name.decodeText()
    this.#seen.names.add(this.#key)
    return name
  }
}

function readAll(bytes: Buffer): Seen {
  const seen: Seen = { names: new Set(), openActions: [], unpackedBytes: 0 }
  const reader = new ObjectReader(bytes, seen)
  const objects = findObjects(bytes)
  if (!objects) throw new Refused(damaged('a comment stands where an object begins'))
  for (const offset of objects) {
    const object = reader.readAt(offset)
    if (object instanceof PDFRawStream) readStream(object, seen)
  }
  for (const offset of findTrailers(bytes)) reader.readAt(offset)
  return seen
}

const value = (dict: PDFDict, name: string): PDFObject | undefined => dict.get(PDFName.of(name))
const isName = (object: PDFObject | undefined, name: string): boolean => object === PDFName.of(name)

function readStream({ dict, contents }: PDFRawStream, seen: Seen): void {
  if (value(dict, 'F') !== undefined)
    throw new Refused({ type: 'active_content', msg: 'refers to content in another file', found: ['F'] })
  const first = value(dict, 'First')
  const isObjects =
    isName(value(dict, 'Type'), 'ObjStm') || (first !== undefined && value(dict, 'N') !== undefined)
  if (!isObjects && !isName(value(dict, 'Type'), 'XRef')) return
  const unpacked = unpack(dict, contents, seen)
  if (!isObjects) return
  if (!(first instanceof PDFNumber) || value(dict, 'DecodeParms') !== undefined || !isPacked(dict))
    throw new Refused(damaged('its object streams are of an unusual kind'))
  const reader = new ObjectReader(unpacked, seen)
  for (const offset of offsetsOf(unpacked, first.asNumber())) reader.readAt(offset)
}

function isPacked(dict: PDFDict): boolean {
  const filter = value(dict, 'Filter')
  const only = filter instanceof PDFArray && filter.size() === 1 ? filter.get(0) : filter
  return isName(only, 'FlateDecode')
}

/** Within a bound: a kilobyte can be a gigabyte. What the library unpacks by itself later has passed here before. */
function unpack(dict: PDFDict, contents: Uint8Array, seen: Seen): Buffer {
  if (!isPacked(dict)) {
    if (value(dict, 'Filter') === undefined) return Buffer.from(contents)
    throw new Refused(damaged('its object streams are of an unusual kind'))
  }
  try {
    const unpacked = inflateSync(contents, { maxOutputLength: unpackedBytesMax - seen.unpackedBytes })
    seen.unpackedBytes += unpacked.length
    return unpacked
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE')
      throw new Refused(damaged('an object stream does not unpack'))
    throw new Refused({ type: 'too_complex', msg: 'unpacks to far more than it is' })
  }
}

/** An object stream begins with pairs of a number and an offset (ISO 32000-2, 7.5.7). */
function offsetsOf(unpacked: Buffer, first: number): number[] {
  const words = unpacked.toString('latin1', 0, first).match(/[^\0\t\n\f\r ]+/g) ?? []
  if (words.length % 2 === 1 || !words.every((word) => /^\d{1,10}$/.test(word)))
    throw new Refused(damaged('an object stream has no table of its objects'))
  return words.filter((_, at) => at % 2 === 1).map((word) => first + Number(word))
}

function refusalOfNames({ names, openActions }: Seen): Refusal | undefined {
  if (names.has('Encrypt'))
    return { type: 'encrypted', msg: 'is encrypted; remove its password and upload it again' }
  const found = [...names].filter((name) => Object.hasOwn(activeNames, name)).sort()
  const what = new Set(found.map((name) => activeNames[name]!))
  // A place in the document to begin with is no action; what is behind a reference could be another at each look.
  if (openActions.some((one) => !(one instanceof PDFArray) && one !== PDFNull)) {
    found.push('OpenAction')
    what.add('an action that runs when it is opened')
  }
  if (found.length === 0) return undefined
  const msg = `holds ${[...what].join(', ')}; print it to a new PDF and upload that`
  return { type: 'active_content', msg, found }
}

/** That the library, which is as lenient as viewers are, finds pages in it. */
async function refusalOfDocument(bytes: Buffer): Promise<Refusal | undefined> {
  const document = await PDFDocument.load(bytes, {
    throwOnInvalidObject: true,
    updateMetadata: false,
    parseSpeed: ParseSpeeds.Fastest,
  })
  return document.getPageCount() > 0 ? undefined : damaged('it has no pages')
}
