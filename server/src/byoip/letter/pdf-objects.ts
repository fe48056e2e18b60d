// Reads all objects of a PDF with the parser of pdf.js and checks their content: scripts, attached files, actions that
// leave the document. Runs in a thread only: see letter-thread.ts.
import type { LetterRefusalCode } from '@pharos/contract/byoip/letter'
import { damaged, pixelsMax, type LetterRejection } from './letter-refusal.ts'
import { internals, type Dict, type PdfStream, type XRef } from './pdf-library.ts'

const { BaseStream, Lexer, LocalPdfManager, Name, Parser, Ref } = internals

/** Of an action (/S), an annotation (/Subtype) or an object (/Type): ISO 32000-2, 12.6.4, 12.5.6 and 7.11. */
const refusedKinds: Readonly<Record<string, LetterRefusalCode>> = {
  JavaScript: 'script',
  Launch: 'launch',
  GoToR: 'link',
  GoToE: 'attachment',
  EmbeddedFile: 'attachment',
  FileAttachment: 'attachment',
  Filespec: 'attachment',
  SubmitForm: 'form',
  ImportData: 'form',
  Rendition: 'multimedia',
  Movie: 'multimedia',
  Sound: 'multimedia',
  RichMedia: 'multimedia',
  RichMediaExecute: 'multimedia',
  GoTo3DView: 'multimedia',
  '3D': 'multimedia',
}
/** Rejected with any value, also a reference to an object that this parser does not find. */
const refusedKeys: Readonly<Record<string, LetterRefusalCode>> = {
  JavaScript: 'script',
  EmbeddedFiles: 'attachment',
  EF: 'attachment',
  XFA: 'form',
}
const rules: Readonly<Record<string, (value: unknown, key: string) => Found | undefined>> = {
  S: checkKind,
  Subtype: checkKind,
  Type: checkKind,
  JS: checkScript,
  URI: checkLink,
  Base: checkLink,
  F: checkLink,
  UF: checkLink,
  ...Object.fromEntries(Object.keys(refusedKeys).map((key) => [key, checkKey])),
}

type Found = { readonly code: LetterRefusalCode; readonly name: string }

function checkKind(value: unknown): Found | undefined {
  if (!(value instanceof Name) || !Object.hasOwn(refusedKinds, value.name)) return undefined
  return { code: refusedKinds[value.name]!, name: value.name }
}

function checkKey(value: unknown, name: string): Found | undefined {
  return value === null ? undefined : { code: refusedKeys[name]!, name }
}

function checkScript(value: unknown, name: string): Found | undefined {
  return typeof value === 'string' || value instanceof BaseStream ? { code: 'script', name } : undefined
}

function checkLink(value: unknown, name: string): Found | undefined {
  return typeof value === 'string' && !isSafeLink(value) ? { code: 'link', name } : undefined
}

/** Visits every value, also in unreferenced objects and in repeated keys. */
type VisitedValues = {
  readonly entries: { readonly key: string; readonly value: unknown }[]
  readonly found: Found[]
}
let visited: VisitedValues | undefined

const { set } = internals.Dict.prototype
internals.Dict.prototype.set = function (this: Dict, key, value) {
  if (Object.hasOwn(rules, key)) visited?.entries.push({ key, value })
  set.call(this, key, value)
}
const { get } = Name
Name.get = (text) => {
  if (text.includes('\0')) visited?.found.push({ code: 'name', name: text.replaceAll('\0', '#00') })
  return get.call(Name, text)
}

/**
 * Returns why the objects of the PDF are rejected; undefined if they are allowed. The table of objects is read twice: as
 * stored in the file, and rebuilt from the file's bytes, as readers do that find the file's table invalid.
 */
export function refusalOfObjects(bytes: Uint8Array): LetterRejection | undefined {
  const tables = [false, true].map((recovery) => readTable(bytes, recovery))
  if (tables.some((table) => table.isEncrypted)) return { code: 'encrypted' }
  const found = tables.flatMap((table) => table.found)
  const first = found[0]
  if (!first)
    return tables.some((table) => table.isRead) ? undefined : damaged('it has no table of its objects')
  const names = found.filter(({ code }) => code === first.code).map(({ name }) => name)
  return { code: first.code, found: [...new Set(names)].sort().slice(0, 10) }
}

type Table = { readonly isRead: boolean; readonly isEncrypted: boolean; readonly found: readonly Found[] }

function readTable(bytes: Uint8Array, recovery: boolean): Table {
  const { pdfDocument: document } = new LocalPdfManager({
    source: bytes,
    docId: 'letter',
    password: '',
    evaluatorOptions: {},
  })
  visited = { entries: [], found: [] }
  const { entries, found } = visited
  const { xref } = document
  const isRead = attempt(() => {
    document.checkHeader()
    document.parseStartXRef()
    document.parse(recovery)
    found.push(...readObjects(xref))
    return true
  })
  for (const { key, value } of entries) {
    const one = rules[key]!(Object.hasOwn(refusedKeys, key) ? value : resolve(value, xref), key)
    if (one) found.push(one)
  }
  visited = undefined
  const isEncrypted = !xref.encrypt && attempt(() => xref.trailer?.get('Encrypt')) instanceof internals.Dict
  return { isRead: isRead === true, isEncrypted, found }
}

/** Resolves a reference, also through further references, which only some readers follow. */
function resolve(value: unknown, xref: XRef): unknown {
  let found = value
  for (let steps = 0; found instanceof Ref && steps < 10; steps++) {
    const ref = found
    found = attempt(() => xref.fetch(ref))
  }
  return found
}

function readObjects(xref: XRef): Found[] {
  const found: Found[] = []
  // The next free number is the length of the table.
  const length = xref.getNewTemporaryRef().num
  for (let number = 0; number < length; number++) {
    const entry = xref.getEntry(number)
    if (!entry) continue
    const object = attempt(() => xref.fetch(Ref.get(number, entry.uncompressed ? entry.gen : 0)))
    if (object instanceof BaseStream) found.push(...checkStream(object, xref))
  }
  return found
}

function checkStream(stream: PdfStream, xref: XRef): Found[] {
  const { dict } = stream
  const value = (key: string) => attempt(() => dict.get(key))
  // Its content is in another file, at a path or network share.
  if (value('F') != null) return [{ code: 'link', name: 'F' }]
  if (Number(value('Width')) * Number(value('Height')) > pixelsMax)
    return [{ code: 'dimensions', name: `${value('Width')}x${value('Height')}` }]
  const [first, count] = [value('First'), value('N')]
  if (Number.isInteger(first) && Number.isInteger(count))
    attempt(() => readObjectStream(stream, xref, first as number, count as number))
  return []
}

/** Reads also objects that no table lists: a reader that rebuilds the table finds them (ISO 32000-2, 7.5.7). */
function readObjectStream(stream: PdfStream, xref: XRef, first: number, count: number): void {
  const parserAt = (at: PdfStream) => new Parser({ lexer: new Lexer(at), xref, allowStreams: false })
  const table = parserAt(stream)
  const start = (stream.start ?? 0) + first
  for (let at = 0; at < count; at++) {
    table.getObj()
    const offset = table.getObj()
    if (!Number.isInteger(offset)) return
    parserAt(stream.makeSubStream(start + (offset as number))).getObj()
  }
}

/** Skips an object that the parser rejects; a nesting that is too deep stops the parser. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw error
    return undefined
  }
}

const allowedSchemes = new Set(['http', 'https', 'mailto', 'tel'])

/**
 * Links that a mail program or a browser opens without access to local files or network shares. `text` is a string of the file, one character
 * for each byte.
 */
export function isSafeLink(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- browsers leave out tabs and line ends before they look for the scheme
  const link = decode(text).replace(/[\0-\x20\x7f-\xa0]+/g, '')
  if (/^[\\/]{2}/.test(link)) return false
  const scheme = /^([^:/?#\\]*):/.exec(link)?.[1]?.toLowerCase()
  if (scheme === undefined || allowedSchemes.has(scheme)) return true
  // `www.example.com:8443/path`, as people write it.
  return /^[\w-]+(\.[\w-]+)+:\d+([/?#]|$)/.test(link)
}

/** ISO 32000-2, 7.9.2.2: UTF-16 or UTF-8 with a BOM, otherwise PDFDocEncoding, of which schemes use only ASCII. */
function decode(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  const mark = /^(\xfe\xff|\xff\xfe|\xef\xbb\xbf)/.exec(text)?.[1]
  if (mark === undefined) return text
  return new TextDecoder(
    { '\xfe\xff': 'utf-16be', '\xff\xfe': 'utf-16le', '\xef\xbb\xbf': 'utf-8' }[mark],
  ).decode(bytes)
}
