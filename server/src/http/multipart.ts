// Reads a form with a file: `multipart/form-data` (RFC 7578) from a body that was received whole, within its bound.
// Strict as the rest of the API: what is unknown, repeated or broken is refused. It keeps nothing on disk.
import { createHash, type Hash } from 'node:crypto'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import type { ProblemError } from '@pharos/contract/problem'
import type { Upload } from '@pharos/contract/route'
import { errorAt, fail } from '../runtime/error.ts'
import { createTextReader, unknownParameter } from './query.ts'

export type UploadedFile = {
  /** As the sender calls it, without a path; nothing else is promised of it. */
  readonly filename: string
  /** As the sender says; what it is, is for the bytes to say. */
  readonly mediaType: string
  readonly bytes: Buffer
}

export type ReadForm = {
  readonly fields: Record<string, unknown>
  readonly file: UploadedFile
  /** Of what was sent, whatever the boundary was: that differs each time one form is sent. */
  readonly digest: Buffer
}

type Part =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | ({ readonly kind: 'file'; readonly name: string } & UploadedFile)

/** How much more than its file a form may have. */
export const formOverheadBytes = 65_536
const partsMax = 200
const textBytesMax = 4_096
const anyBytes = 'application/octet-stream'

/**
 * A reader for the forms of one route. Throws `unsupported_media_type` (415), `malformed` (400), `body_too_large` (413)
 * when the file is, and `invalid` (422) with everything that is wrong with the fields.
 */
export function createFormReader(
  upload: Upload,
): (contentType: string | undefined, body: Buffer) => Promise<ReadForm> {
  const readTexts = createTextReader('body', upload.fields)
  return async (contentType, body) => {
    const parts = await splitParts(boundaryOf(contentType), body, upload.file.bytesMax)
    const texts = new Map<string, string[]>()
    const errors = errorsOfFiles(upload, parts)
    for (const part of parts) {
      if (part.kind !== 'text' || part.name === upload.file.name) continue
      texts.set(part.name, [...(texts.get(part.name) ?? []), part.text])
    }
    const fields = readTexts(texts, errors)
    const file = parts.find((part) => part.kind === 'file')!
    requireMediaType(upload, file)
    return { fields, file, digest: digestOf(parts) }
  }
}

/** What forms are: checked before anything of the body is read. */
export function requireForm(contentType: string | undefined): void {
  if (!/^multipart\/form-data *(;|$)/i.test(contentType ?? '')) throw fail('unsupported_media_type', 'form')
}

/** RFC 2046, 5.1.1. */
function boundaryOf(contentType: string | undefined): string {
  requireForm(contentType)
  const match = /; *boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+./:=?-]{1,70})) *(?:;|$)/i.exec(
    contentType!,
  )
  const boundary = match?.[1] ?? match?.[2]
  if (boundary === undefined) throw malformed('the Content-Type has no valid boundary')
  return boundary
}

const malformed = (why: string, cause?: unknown) => fail('malformed', 'form', { error: why }, { cause })

async function splitParts(boundary: string, body: Buffer, fileBytesMax: number): Promise<Part[]> {
  const begun: Promise<Part>[] = []
  const { promise: read, resolve, reject } = Promise.withResolvers<void>()
  const parser = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    limits: {
      fieldNameSize: 100,
      fieldSize: textBytesMax,
      fileSize: fileBytesMax,
      parts: partsMax,
      headerPairs: 20,
      headerSize: 8_192,
    },
  })
  parser.on('error', (error) => reject(malformed((error as Error).message, error)))
  parser.on('partsLimit', () => reject(malformed(`it has more than ${partsMax} parts`)))
  parser.on('field', (name, text, _nameCut, textCut) => {
    if (textCut) reject(malformed(`a text has more than ${textBytesMax} bytes`))
    begun.push(Promise.resolve({ kind: 'text', name, text }))
  })
  parser.on('file', (name, stream, filename, _encoding, mediaType) => {
    const part = collect(stream, fileBytesMax).then((bytes): Part => ({
      kind: 'file',
      name,
      filename: filename ?? '',
      mediaType,
      bytes,
    }))
    part.catch(reject)
    begun.push(part)
  })
  parser.on('finish', resolve)
  parser.end(body)
  await read
  const parts = await Promise.all(begun)
  // The parser leaves out a part that it cannot make sense of, and says nothing.
  if (parts.length !== countParts(boundary, body) || parts.some(({ name }) => name === undefined))
    throw malformed('a part has no valid Content-Disposition')
  return parts
}

async function collect(stream: BusboyFileStream, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  const { promise: read, resolve, reject } = Promise.withResolvers<void>()
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
  stream.on('limit', () => reject(fail('body_too_large', 'file', { bytesMax })))
  stream.on('error', (error) => reject(malformed(error.message, error)))
  stream.on('end', resolve)
  await read
  return Buffer.concat(chunks)
}

function countParts(boundary: string, body: Buffer): number {
  const delimiter = Buffer.from(`--${boundary}\r\n`)
  let count = body.subarray(0, delimiter.length).equals(delimiter) ? 1 : 0
  const inside = Buffer.concat([Buffer.from('\r\n'), delimiter])
  for (let at = body.indexOf(inside); at >= 0; at = body.indexOf(inside, at + 2)) count++
  return count
}

function errorsOfFiles({ fields, file }: Upload, parts: readonly Part[]): ProblemError[] {
  const errors: ProblemError[] = []
  const loc = ['body', file.name] as const
  const given = parts.filter(({ name }) => name === file.name)
  if (given.some(({ kind }) => kind === 'text')) errors.push(errorAt(loc, 'file'))
  else if (given.length === 0) errors.push(errorAt(loc, 'required'))
  if (given.length > 1) errors.push(errorAt(loc, 'repeated'))
  const known = Object.keys(fields.properties)
  for (const { name, kind } of parts) {
    if (kind === 'text' || name === file.name) continue
    if (known.includes(name)) errors.push(errorAt(['body', name], 'notFile'))
    else errors.push(unknownParameter(['body', name], [file.name, ...known]))
  }
  return errors
}

function requireMediaType({ file: { mediaTypes } }: Upload, { mediaType }: UploadedFile): void {
  if (mediaType === anyBytes || mediaTypes.includes(mediaType)) return
  throw fail('unsupported_media_type', 'part', { mediaType: mediaType.slice(0, 100), accepted: mediaTypes })
}

function digestOf(parts: readonly Part[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) {
    add(hash, part.kind, part.name)
    if (part.kind === 'text') add(hash, part.text)
    else add(hash, part.filename, part.mediaType, part.bytes)
  }
  return hash.digest()
}

/** Each with its length before it, so that no two forms come to the same bytes. */
function add(hash: Hash, ...values: (string | Buffer)[]): void {
  for (const value of values) hash.update(`${Buffer.byteLength(value)}:`).update(value)
}
