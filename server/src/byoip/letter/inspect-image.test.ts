import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { looksLikeJpeg, looksLikePng, refusalOfJpeg, refusalOfPng } from './inspect-image.ts'
import {
  jpegFrame,
  jpegSegment,
  pngChunk,
  pngHeader,
  pngSignature,
  sampleJpeg,
  samplePng,
} from './testing-letters.ts'
import { mutate, seed, seededRandom } from '../announcement/testing-mutation.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const png = (...chunks: Buffer[]) => Buffer.concat([pngSignature, ...chunks])
const pixels = pngChunk('IDAT', Buffer.from([1, 2, 3]))
const end = pngChunk('IEND')

/** Returns how often the work reads of the file: a byte, or a call of a method, which is given to the file itself. */
function readsOf(file: Buffer, work: (file: Buffer) => unknown): number {
  let reads = 0
  const get = (target: Buffer, name: string | symbol): unknown => {
    reads++
    const value: unknown = Reflect.get(target, name, target)
    return typeof value === 'function' ? value.bind(target) : value
  }
  work(new Proxy(file, { get }))
  return reads
}

describe('a PNG', () => {
  it('is accepted if it is well-formed', () => {
    assert.equal(looksLikePng(samplePng()), true)
    assert.equal(refusalOfPng(samplePng()), undefined)
    assert.equal(refusalOfPng(png(pngHeader(7_000, 10_000), pixels, end)), undefined)
  })

  it('is rejected with trailing data', () => {
    for (const rest of ['\0', 'PK\x03\x04', '<script>'])
      assert.equal(refusalOfPng(Buffer.concat([samplePng(), Buffer.from(rest)]))?.code, 'trailing_data')
  })

  it('is rejected if it is truncated at any byte', () => {
    for (let length = 8; length < samplePng().length; length++)
      assert.equal(refusalOfPng(samplePng().subarray(0, length))?.code, 'damaged', `${length} bytes`)
  })

  it('is rejected without image data, without a header, or with unknown critical chunks', () => {
    const refused = [
      png(pngHeader(1, 1), end),
      png(pixels, end),
      png(end),
      png(pngHeader(1, 1), pngHeader(1, 1), pixels, end),
      png(pngHeader(1, 1), pngChunk('EVIL'), pixels, end),
      png(pngHeader(1, 1), pixels, pngChunk('IEND', Buffer.from('x'))),
      png(pngChunk('IHDR', Buffer.alloc(12)), pixels, end),
      png(pngChunk('IHDR', Buffer.alloc(13)), pixels, end),
    ]
    for (const [at, bytes] of refused.entries()) assert.equal(refusalOfPng(bytes)?.code, 'damaged', `${at}`)
  })

  it('is rejected in sizes that no scanner produces', () => {
    for (const [width, height] of [
      [20_001, 1],
      [1, 20_001],
      [20_000, 20_000],
      [2 ** 31, 1],
    ] as const)
      assert.equal(refusalOfPng(png(pngHeader(width, height), pixels, end))?.code, 'dimensions')
    assert.equal(refusalOfPng(png(pngHeader(0, 1), pixels, end))?.code, 'damaged')
  })

  it('with a million chunks is rejected after as many reads as one with 30,000', () => {
    const of = (chunks: number) =>
      png(pngHeader(1, 1), Buffer.concat(Array<Buffer>(chunks).fill(pngChunk('tEXt'))))
    const [few, many] = [of(30_000), of(800_000)]
    assert.equal(refusalOfPng(many)?.code, 'too_complex')
    const reads = readsOf(many, refusalOfPng)
    assert.equal(reads, readsOf(few, refusalOfPng))
    assert.ok(reads < 200_000, `${reads} reads`)
  })

  it(`is rejected after any change, ${scaled(100_000)} times`, () => {
    const random = seededRandom(seed)
    const sample = samplePng()
    const isIntact = (bytes: Buffer) => bytes.equals(sample) || bytes.equals(samplePng({ comment: false }))
    for (let round = 0; round < scaled(100_000); round++) {
      const changed = mutate(sample, random)
      if (isIntact(changed) || !looksLikePng(changed)) continue
      const refusal = refusalOfPng(changed)
      assert.ok(refusal, `seed ${seed}, round ${round}: ${changed.toString('hex')}`)
    }
  })
})

describe('a JPEG', () => {
  it('is accepted if it is well-formed', () => {
    assert.equal(looksLikeJpeg(sampleJpeg()), true)
    assert.equal(refusalOfJpeg(sampleJpeg()), undefined)
  })

  it('is accepted with data that phones append: a gain map, a trailer, a video', () => {
    const video = Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0isommp42', 'latin1')
    const trailer = Buffer.from('MotionPhoto_DataSEFHk\0\0\0SEFT', 'latin1')
    for (const rest of [sampleJpeg(), trailer, Buffer.concat([video, trailer]), Buffer.from([0])])
      assert.equal(refusalOfJpeg(Buffer.concat([sampleJpeg(), rest])), undefined)
  })

  it('is rejected if it is truncated at any byte', () => {
    for (let length = 3; length < sampleJpeg().length; length++)
      assert.equal(refusalOfJpeg(sampleJpeg().subarray(0, length))?.code, 'damaged', `${length} bytes`)
  })

  it('is rejected without image data, with two images, or with misplaced segments', () => {
    const start = Buffer.from([0xff, 0xd8])
    const stop = Buffer.from([0xff, 0xd9])
    const scan = jpegSegment(0xda, [1, 1, 0, 0, 63, 0])
    const refused = [
      [start, stop],
      [start, jpegFrame(8, 8), stop],
      [start, scan, stop],
      [start, jpegFrame(8, 8), jpegFrame(8, 8), scan, stop],
      [start, start, jpegFrame(8, 8), scan, stop],
      [start, Buffer.from([0xff, 0x01]), jpegFrame(8, 8), scan, stop],
      [start, Buffer.from([0xff, 0xe0, 0, 1]), jpegFrame(8, 8), scan, stop],
      [start, Buffer.from('text'), stop],
      [start, jpegSegment(0xc0, [8, 0, 8, 0, 8, 9, 1, 0x11, 0]), scan, stop],
    ]
    for (const [at, parts] of refused.entries())
      assert.equal(refusalOfJpeg(Buffer.concat(parts))?.code, 'damaged', `${at}`)
  })

  it('is rejected in sizes that no scanner produces', () => {
    const of = (width: number, height: number) =>
      refusalOfJpeg(Buffer.concat([Buffer.from([0xff, 0xd8]), jpegFrame(width, height)]))?.code
    assert.equal(of(20_001, 1), 'dimensions')
    assert.equal(of(20_000, 20_000), 'dimensions')
    assert.equal(of(0, 8), 'damaged')
  })

  it('is read at most four times for each of its bytes, whatever it consists of', () => {
    const half = sampleJpeg().subarray(0, -2)
    const stop = Buffer.from([0xff, 0xd9])
    const scan = jpegSegment(0xda, [1, 1, 0, 0, 63, 0])
    const contents: [what: string, unit: Buffer][] = [
      ['escaped markers', Buffer.from([0xff, 0x00])],
      ['restart markers', Buffer.from([0xff, 0xd0])],
      ['fill bytes', Buffer.from([0xff])],
      ['coded data', Buffer.from([0x12])],
      ['scans', scan],
      ['scans with data', Buffer.concat([scan, Buffer.alloc(200, 1)])],
      ['comments', jpegSegment(0xfe, [])],
    ]
    for (const [what, unit] of contents)
      for (const tail of [stop, Buffer.alloc(0)]) {
        const file = Buffer.concat([half, Buffer.alloc(64 * 1024, unit), tail])
        const reads = readsOf(file, refusalOfJpeg)
        assert.ok(reads <= 4 * file.length, `${what}: ${reads} reads of ${file.length} bytes`)
      }
  })

  it('of 10 MiB that consists of markers is accepted', () => {
    const markers = Buffer.alloc(10 * 1024 * 1024, Buffer.from([0xff, 0x00]))
    const whole = Buffer.concat([sampleJpeg().subarray(0, -2), markers, Buffer.from([0xff, 0xd9])])
    assert.equal(refusalOfJpeg(whole), undefined)
  })

  it(`is parsed to its end or rejected after any change, ${scaled(100_000)} times`, () => {
    const random = seededRandom(seed)
    let taken = 0
    for (let round = 0; round < scaled(100_000); round++) {
      const changed = mutate(sampleJpeg(), random)
      if (!looksLikeJpeg(changed) || refusalOfJpeg(changed)) continue
      taken++
      assert.ok(
        changed.includes('ffd9', 0, 'hex'),
        `seed ${seed}, round ${round}: ${changed.toString('hex')}`,
      )
    }
    // Changes inside tables and coded data are not detected by a parser of segments.
    assert.ok(taken > 100, `${taken} were accepted`)
  })
})
