// Parses a form with a file: `multipart/form-data` (RFC 7578), from a complete body of limited size. As strict as the
// rest of the API: unknown, repeated and malformed parts are rejected. It does not write to disk.
import { createHash, type Hash } from 'node:crypto'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import type { ProblemError } from '@pharos/contract/problem'
import type { Upload } from '@pharos/contract/route'
import { errorAt, fail } from '../runtime/error.ts'
import { requireUtf8, tooLarge } from './body-type.ts'
import { createTextReader, unknownParameter } from './query.ts'

export type UploadedFile = {
  /** File name given by the sender, without a path; otherwise unverified. */
  readonly filename: string
  /** Media type given by the sender; the actual type must be derived from the bytes. */
  readonly mediaType: string
  readonly bytes: Buffer
}

export type ReadForm = {
  readonly fields: Record<string, unknown>
  readonly file: UploadedFile
  /** Digest of the content, independent of the boundary, which differs each time a form is sent. */
  readonly digest: Buffer
}

type Part =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | ({ readonly kind: 'file'; readonly name: string } & UploadedFile)

/** Size limit of a form beyond that of its file. */
export const formOverheadBytes = 65_536
const partsMax = 200
const textBytesMax = 4_096
const anyBytes = 'application/octet-stream'

/**
 * Returns a parser for the forms of one route. It throws `unsupported_media_type` (415), `malformed` (400),
 * `body_too_large` (413) if the file is too large, and `invalid` (422) with all invalid fields.
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

/** Checks the media type; done before the body is read. */
export function requireForm(contentType: string | undefined): void {
  if (!/^multipart\/form-data *(;|$)/i.test(contentType ?? ''))
    throw fail('unsupported_media_type', 'form', { given: contentType })
  requireUtf8(contentType)
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
    const part = collect(name, stream, fileBytesMax).then((bytes): Part => ({
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
  // The parser silently omits parts that it cannot parse.
  if (parts.length !== countParts(boundary, body) || parts.some(({ name }) => name === undefined))
    throw malformed('a part has no valid Content-Disposition')
  return parts
}

async function collect(name: string, stream: BusboyFileStream, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  const { promise: read, resolve, reject } = Promise.withResolvers<void>()
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
  stream.on('limit', () => reject(tooLarge(name, bytesMax)))
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

/** Each value is preceded by its length, so that different forms never have the same bytes. */
function add(hash: Hash, ...values: (string | Buffer)[]): void {
  for (const value of values) hash.update(`${Buffer.byteLength(value)}:`).update(value)
}
