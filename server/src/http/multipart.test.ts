import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Upload } from '@pharos/contract/route'
import { Id, Optional, Repeatable, Strict, Time } from '@pharos/contract/scalar'
import { Failure } from '../runtime/error.ts'
import { scaled } from '../runtime/testing-scale.ts'
import { createFormReader } from './multipart.ts'

const upload: Upload = {
  fields: Strict({ until: Optional(Time), ids: Optional(Repeatable(Id)) }),
  file: { name: 'file', description: '', bytesMax: 1000, mediaTypes: ['application/pdf', 'image/png'] },
}
const readForm = createFormReader(upload)

type Written = readonly [headers: string, content: string | Buffer]

const form = (parts: readonly Written[], boundary = 'b') =>
  Buffer.concat([
    ...parts.flatMap(([headers, content]) => [
      Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
      Buffer.from(content as string),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ])

const disposition = 'Content-Disposition: form-data'
const file = (content: string | Buffer = 'bytes', name = 'a.pdf'): Written => [
  `${disposition}; name="file"; filename="${name}"\r\nContent-Type: application/pdf`,
  content,
]
const text = (name: string, content: string): Written => [`${disposition}; name="${name}"`, content]

const read = (...parts: Written[]) => readForm('multipart/form-data; boundary=b', form(parts))

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof Failure, String(error))
    return error
  }
  throw new Error('the form was accepted')
}

const codeOf = async (work: Promise<unknown>) => (await failureOf(work)).code
const errorsOf = async (...parts: Written[]) =>
  ((await failureOf(read(...parts))).errors ?? []).map(({ loc, type }) => `${loc.join('.')}: ${type}`)

describe('a form', () => {
  it('is parsed: texts by their types, the file byte for byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    const got = await read(text('until', '2027-01-31'), text('ids', '3'), file(bytes), text('ids', '4'))
    assert.deepEqual(got.fields, { until: '2027-01-31T00:00:00.000Z', ids: [3, 4] })
    assert.deepEqual(got.file.bytes, bytes)
    assert.equal(got.file.filename, 'a.pdf')
    assert.equal(got.file.mediaType, 'application/pdf')
  })

  it('is parsed with line ends, dashes and part of a boundary in its file', async () => {
    for (const content of ['\r\n', '\r\n--', '\r\n--c\r\n', '\r\n\r\n', ''])
      assert.equal((await read(file(content))).file.bytes.toString(), content)
  })

  it('is parsed with any characters in its boundary', async () => {
    for (const boundary of ["'()+_,-./:=?", '----WebKitFormBoundaryAbC', 'a b', 'x'.repeat(70)]) {
      const contentType = `Multipart/Form-Data; charset=utf-8; boundary="${boundary}"`
      assert.equal((await readForm(contentType, form([file()], boundary))).file.bytes.toString(), 'bytes')
    }
  })

  it('has the same digest for every encoding of the same content, and a different one for other content', async () => {
    const of = async (...parts: Written[]) => (await read(...parts)).digest.toString('hex')
    const elsewhere = await readForm(
      'multipart/form-data; boundary=other',
      form([text('ids', '3'), file()], 'other'),
    )
    assert.equal(elsewhere.digest.toString('hex'), await of(text('ids', '3'), file()))
    const digests = await Promise.all([
      of(text('ids', '3'), file()),
      of(text('ids', '33'), file()),
      of(text('ids', '3'), text('ids', '3'), file()),
      of(text('ids', '3'), file('byteS')),
      of(text('ids', '3'), file('bytes', 'b.pdf')),
    ])
    assert.equal(new Set(digests).size, digests.length)
  })
})

describe('an invalid form', () => {
  it('is 415 with another media type', async () => {
    for (const contentType of [
      undefined,
      '',
      'application/json',
      'multipart/mixed; boundary=b',
      'multipart/form-datax',
    ])
      assert.equal(
        await codeOf(readForm(contentType, form([file()]))),
        'unsupported_media_type',
        `${contentType}`,
      )
  })

  it('is 400 if its boundary is missing, invalid or wrong', async () => {
    const types = [
      '',
      '; boundary=',
      '; boundary=""',
      `; boundary=${'x'.repeat(71)}`,
      '; boundary="a',
      '; boundary=c',
    ]
    for (const rest of types)
      assert.equal(await codeOf(readForm(`multipart/form-data${rest}`, form([file()]))), 'malformed', rest)
  })

  it('is 400 if it is truncated at any position', async () => {
    const whole = form([text('ids', '3'), file()])
    // The last line break belongs to the delimiter.
    for (let length = 0; length < whole.length - 2; length++)
      assert.equal(
        await codeOf(readForm('multipart/form-data; boundary=b', whole.subarray(0, length))),
        'malformed',
        `${length} bytes`,
      )
  })

  it('is 400 if a part has no name', async () => {
    for (const headers of [
      'X: y',
      'Content-Disposition: attachment; name="file"',
      disposition,
      'Content-Type: text/plain',
    ])
      assert.equal(await codeOf(read(file(), [headers, 'x'])), 'malformed', headers)
  })

  it('is 413 if its file is too large, and 400 if a text or the number of parts is', async () => {
    assert.equal((await read(file(Buffer.alloc(1000)))).file.bytes.length, 1000)
    assert.equal(await codeOf(read(file(Buffer.alloc(1001)))), 'body_too_large')
    assert.equal(await codeOf(read(file(), text('until', 'x'.repeat(5_000)))), 'malformed')
    assert.equal(await codeOf(read(file(), ...Array<Written>(300).fill(text('ids', '1')))), 'malformed')
  })

  it('is 422 with all fields that are unknown, repeated, missing or of the wrong type', async () => {
    assert.deepEqual(await errorsOf(text('ids', '1')), ['body.file: required'])
    assert.deepEqual(await errorsOf(file(), file()), ['body.file: repeated'])
    assert.deepEqual(await errorsOf(text('file', 'x')), ['body.file: file'])
    assert.deepEqual(await errorsOf(file(), text('other', 'x'), text('File', 'x')), [
      'body.other: unknown',
      'body.File: unknown',
    ])
    assert.deepEqual(await errorsOf(file(), text('until', '2027-01-01'), text('until', '2027-01-01')), [
      'body.until: repeated',
    ])
    assert.deepEqual(await errorsOf(file(), text('until', ''), text('ids', '1.5')), [
      'body.until: date-time',
      'body.ids: integer',
    ])
    assert.deepEqual(await errorsOf(file(), text('__proto__', 'x'), text('constructor', 'x')), [
      'body.__proto__: unknown',
      'body.constructor: unknown',
    ])
    const fileAsText: Written = [`${disposition}; name="ids"; filename="x"`, '1']
    assert.deepEqual(await errorsOf(file(), fileAsText), ['body.ids: text'])
    assert.deepEqual(await errorsOf(file(), [`${disposition}; name="no"; filename="x"`, '1']), [
      'body.no: unknown',
    ])
  })

  it('is 415 if its file has another media type', async () => {
    for (const type of ['text/html', 'image/svg+xml', 'application/x-pdf']) {
      const part: Written = [`${disposition}; name="file"; filename="a"\r\nContent-Type: ${type}`, 'x']
      assert.equal(await codeOf(read(part)), 'unsupported_media_type', type)
    }
    const unknown: Written = [
      `${disposition}; name="file"; filename="a"\r\nContent-Type: application/octet-stream`,
      'x',
    ]
    assert.equal((await read(unknown)).file.mediaType, 'application/octet-stream')
  })

  it('is parsed or rejected after each of 20,000 mutations', async () => {
    const whole = form([text('ids', '3'), file('some bytes'), text('until', '2027-01-31')])
    const words = [
      '--b',
      '\r\n',
      '--b--',
      '\r\n--b\r\n',
      'filename="',
      ';',
      'Content-Disposition:',
      '\0',
      'file',
    ]
    const codes = new Map<string, number>()
    // The hash of a number is random enough, and the same in each run.
    for (let round = 0; round < scaled(20_000); round++) {
      const dice = createHash('sha256').update(String(round)).digest()
      const at = dice.readUInt16BE(0) % whole.length
      const past = at + (dice[2]! % 8)
      const put = dice[3]! % 2 === 0 ? Buffer.from([dice[4]!]) : Buffer.from(words[dice[4]! % words.length]!)
      const changed = Buffer.concat([whole.subarray(0, at), put, whole.subarray(past)])
      const code = await readForm('multipart/form-data; boundary=b', changed).then(
        () => 'read',
        (error: Error) => (error instanceof Failure ? error.code : `${error.stack}`),
      )
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    assert.deepEqual([...codes.keys()].sort(), ['invalid', 'malformed', 'read', 'unsupported_media_type'])
  })
})
