// Parses PNG and JPEG files from end to end without decoding a pixel. Pure. Accepted files are one well-formed picture of a
// size that scanners produce. A PNG must have no trailing data. Phones append data to a JPEG (a gain map, a video, a trailer),
// which image viewers ignore.
import { crc32 } from 'node:zlib'
import { damaged, pixelsMax, type LetterRejection } from './letter-refusal.ts'

const sideMax = 20_000
/** Encoders write a few hundred chunks. */
const chunksMax = 20_000

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

export const looksLikePng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(pngSignature)
export const looksLikeJpeg = (bytes: Buffer): boolean =>
  bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff

/** Bit depths by colour type (PNG, third edition, table 8). */
const pngDepths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}
const criticalChunks = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND'])

type Chunk = { readonly type: string; readonly data: Buffer; readonly end: number }

/** Returns why a file that looks like a PNG is rejected; undefined if it is accepted. */
export function refusalOfPng(bytes: Buffer): LetterRejection | undefined {
  let at = pngSignature.length
  let hasData = false
  for (let count = 0; count < chunksMax; count++) {
    const chunk = readChunk(bytes, at)
    if ('code' in chunk) return chunk
    const { type, data, end } = chunk
    if ((count === 0) !== (type === 'IHDR')) return damaged('IHDR is not its first chunk')
    if (type[0]! <= 'Z' && !criticalChunks.has(type)) return damaged(`it has an unknown chunk ${type}`)
    if (type === 'IHDR') {
      const refusal = refusalOfHeader(data)
      if (refusal) return refusal
    }
    if (type === 'IDAT') hasData = true
    at = end
    if (type !== 'IEND') continue
    if (!hasData || data.length > 0) return damaged('it has no picture')
    return at === bytes.length ? undefined : { code: 'trailing_data' }
  }
  return { code: 'too_complex' }
}

function readChunk(bytes: Buffer, at: number): Chunk | LetterRejection {
  if (at + 12 > bytes.length) return damaged('it ends in the middle')
  const end = at + 12 + bytes.readUInt32BE(at)
  if (end > bytes.length) return damaged('it ends in the middle')
  const type = bytes.toString('latin1', at + 4, at + 8)
  if (!/^[A-Za-z]{4}$/.test(type)) return damaged(`there is no chunk at byte ${at}`)
  if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4))
    return damaged(`the checksum of its chunk ${type} is wrong`)
  return { type, data: bytes.subarray(at + 8, end - 4), end }
}

function refusalOfHeader(data: Buffer): LetterRejection | undefined {
  if (data.length !== 13) return damaged('its header has a wrong length')
  const [depth, colour, compression, filter, interlace] = data.subarray(8)
  if (!pngDepths[colour!]?.includes(depth!) || compression !== 0 || filter !== 0 || interlace! > 1)
    return damaged('its header describes no picture')
  return refusalOfSize(data.readUInt32BE(0), data.readUInt32BE(4))
}

function refusalOfSize(width: number, height: number): LetterRejection | undefined {
  if (width === 0 || height === 0) return damaged('its width or height is 0')
  if (width <= sideMax && height <= sideMax && width * height <= pixelsMax) return undefined
  return { code: 'dimensions', found: [`${width}x${height}`] }
}

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7
/** Start of frame, in any of the codings; C4, C8 and CC are something else (ITU-T T.81, table B.1). */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** Returns why a file that looks like a JPEG is rejected; undefined if it is accepted. */
export function refusalOfJpeg(bytes: Buffer): LetterRejection | undefined {
  let at = 2
  let frames = 0
  let scans = 0
  for (let count = 0; count < chunksMax; count++) {
    if (bytes[at] !== 0xff) return damaged(`there is no marker at byte ${at}`)
    while (bytes[at] === 0xff) at++
    const marker = bytes[at++]
    if (marker === undefined) return damaged('it ends in the middle')
    if (marker === EOI) return frames === 1 && scans > 0 ? undefined : damaged('it has no picture')
    if (marker < 0xc0 || marker === SOI || isRestart(marker))
      return damaged(`there is no segment at byte ${at - 1}`)
    const end = at + (at + 2 <= bytes.length ? bytes.readUInt16BE(at) : 0)
    if (end < at + 2 || end > bytes.length) return damaged('it ends in the middle')
    if (isFrame(marker)) {
      const refusal = refusalOfFrame(bytes.subarray(at + 2, end))
      if (refusal) return refusal
      if (++frames > 1) return damaged('it holds more than one picture')
    }
    at = end
    if (marker !== SOS) continue
    if (frames === 0) return damaged('its picture has no size')
    scans++
    at = endOfScan(bytes, at)
  }
  return { code: 'too_complex' }
}

function refusalOfFrame(frame: Buffer): LetterRejection | undefined {
  const components = frame[5] ?? 0
  if (![1, 3, 4].includes(components) || frame.length !== 6 + 3 * components)
    return damaged('its header describes no picture')
  return refusalOfSize(frame.readUInt16BE(3), frame.readUInt16BE(1))
}

/** Returns the position of the next marker. In coded data FF is followed by 00, or by the number of a restart interval. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1]
    if (next !== undefined && next !== 0 && next !== 0xff && !isRestart(next)) return at
  }
  return bytes.length
}
