// Files that tests upload as letters: small valid ones, and functions that write invalid PDFs. The product does not import
// this file.
import { crc32, deflateSync } from 'node:zlib'

export function pngChunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(data.length)
  head.write(type, 4, 'latin1')
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), data])))
  return Buffer.concat([head, data, sum])
}

export function pngHeader(width: number, height: number): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width)
  data.writeUInt32BE(height, 4)
  data.set([8, 2], 8)
  return pngChunk('IHDR', data)
}

export const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Returns an image of one color. */
export function samplePng(options: { readonly comment: boolean } = { comment: true }): Buffer {
  const [width, height] = [3, 2]
  const rows = Buffer.alloc(height * (1 + 3 * width))
  return Buffer.concat([
    pngSignature,
    pngHeader(width, height),
    ...(options.comment ? [pngChunk('tEXt', Buffer.from('Comment\0a letter'))] : []),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND'),
  ])
}

export function jpegSegment(marker: number, data: readonly number[]): Buffer {
  const length = data.length + 2
  return Buffer.from([0xff, marker, length >> 8, length & 0xff, ...data])
}

export const jpegFrame = (width: number, height: number): Buffer =>
  jpegSegment(0xc0, [8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0])

/** Returns one gray square of 8 by 8, with every table that such an image needs. */
export function sampleJpeg(): Buffer {
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xe0, [...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    jpegSegment(0xdb, [0, ...Array<number>(64).fill(1)]),
    jpegFrame(8, 8),
    jpegSegment(0xc4, [0x00, 1, ...Array<number>(15).fill(0), 0]),
    jpegSegment(0xc4, [0x10, 1, ...Array<number>(15).fill(0), 0]),
    jpegSegment(0xda, [1, 1, 0, 0, 63, 0]),
    Buffer.from([0x3f, 0xff, 0x00, 0xff, 0xd0, 0x3f, 0xff, 0xd9]),
  ])
}

export type PdfParts = {
  /** Contents of objects 1, 2, 3, ... between `obj` and `endobj`. */
  readonly objects: readonly (string | Buffer)[]
  /** Further entries of the trailer. */
  readonly trailer?: string
  /** Data between the objects and the table. */
  readonly between?: string
  /** Data behind the end. */
  readonly behind?: string | Buffer
}

/** Writes a PDF with a correct table of any objects; object 1 is the catalog. */
export function writePdf({ objects, trailer = '', between = '', behind = '' }: PdfParts): Buffer {
  const chunks: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
  const offsets: number[] = []
  let at = chunks[0]!.length
  const add = (chunk: Buffer) => {
    chunks.push(chunk)
    at += chunk.length
  }
  for (const [index, object] of objects.entries()) {
    offsets.push(at)
    add(Buffer.from(`${index + 1} 0 obj\n`))
    add(typeof object === 'string' ? Buffer.from(object, 'latin1') : object)
    add(Buffer.from('\nendobj\n'))
  }
  add(Buffer.from(between, 'latin1'))
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  add(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\n` +
        `startxref\n${at}\n%%EOF\n`,
      'latin1',
    ),
  )
  add(Buffer.isBuffer(behind) ? behind : Buffer.from(behind, 'latin1'))
  return Buffer.concat(chunks)
}

/** Writes a blank page; `catalog` contains further entries of its catalog, `more` the objects from 4 on. */
export function samplePdf(
  catalog = '',
  more: readonly (string | Buffer)[] = [],
  rest: Omit<PdfParts, 'objects'> = {},
): Buffer {
  return writePdf({
    objects: [
      `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>',
      ...more,
    ],
    ...rest,
  })
}

/** Returns a stream as an object. */
export function pdfStream(dictionary: string, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${content.length} >>\nstream\n`, 'latin1'),
    content,
    Buffer.from('\nendstream'),
  ])
}

/** Returns an object stream with the objects, each with its number. */
export function pdfObjectStream(objects: readonly (readonly [number, string])[]): Buffer {
  let offset = 0
  const table = objects.map(([number, text]) => {
    const pair = `${number} ${offset}`
    offset += text.length + 1
    return pair
  })
  const head = `${table.join(' ')} `
  const content = deflateSync(Buffer.from(head + objects.map(([, text]) => `${text} `).join(''), 'latin1'))
  return pdfStream(`/Type /ObjStm /N ${objects.length} /First ${head.length} /Filter /FlateDecode`, content)
}
