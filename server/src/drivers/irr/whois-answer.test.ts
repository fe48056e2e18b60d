import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createWhoisDecoder, WhoisAnswerError, type WhoisAnswer } from './whois-answer.ts'
import { fastestOfThree } from '../../net/testing-time.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(100_000)
const bytesMax = 100_000

function encode(answer: WhoisAnswer): Buffer {
  switch (answer.kind) {
    case 'found':
      return Buffer.from(`A${Buffer.byteLength(answer.text)}\n${answer.text}C\n`)
    case 'refused':
      return Buffer.from(`F ${answer.message}\n`)
    default:
      return Buffer.from(`${{ none: 'C', absent: 'D', several: 'E' }[answer.kind]}\n`)
  }
}

const text = fc.array(fc.constantFrom('C\n', 'A5\n', 'D', 'route: x\n', '\n', 'é', '😀', ''), {
  maxLength: 8,
})
const answer: fc.Arbitrary<WhoisAnswer> = fc.oneof(
  text.map((parts) => ({ kind: 'found' as const, text: parts.join('') })),
  fc.constantFrom({ kind: 'none' as const }, { kind: 'absent' as const }, { kind: 'several' as const }),
  fc.constantFrom('', 'no', 'A10').map((message) => ({ kind: 'refused' as const, message })),
)

/** Pushes the bytes in chunks that end at the cuts. */
function decodePieces(bytes: Buffer, cuts: readonly number[]): WhoisAnswer[] {
  const decoder = createWhoisDecoder(bytesMax)
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].flatMap((from, at) => decoder.push(bytes.subarray(from, places[at] ?? bytes.length)))
}

describe('the decoder of whois answers', () => {
  it('decodes the same answers however the bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(answer, { maxLength: 6 }),
        fc.array(fc.nat(300), { maxLength: 10 }),
        (answers, cuts) => {
          assert.deepEqual(decodePieces(Buffer.concat(answers.map(encode)), cuts), answers)
        },
      ),
      { numRuns: scaled(5_000) },
    )
  })

  it('accepts lines that end with a carriage return', () => {
    const decoder = createWhoisDecoder(bytesMax)
    assert.deepEqual(decoder.push(Buffer.from('C\r\nD\r\nA3\r\nx\r\nC\r\nF no\r\n')), [
      { kind: 'none' },
      { kind: 'absent' },
      { kind: 'found', text: 'x\r\n' },
      { kind: 'refused', message: 'no' },
    ])
  })

  it('reports whether an answer is incomplete', () => {
    const decoder = createWhoisDecoder(bytesMax)
    for (const [bytes, isInside] of [
      ['', false],
      ['A2', true],
      ['\n', true],
      ['x\n', true],
      ['C', true],
      ['\n', false],
    ] as const) {
      decoder.push(Buffer.from(bytes))
      assert.equal(decoder.isInside, isInside)
    }
  })

  const refusals: readonly [string, string, WhoisAnswerError['reason']][] = [
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n', 'garbage'],
    ['an empty line', '\n', 'garbage'],
    ['an invalid length', 'A-1\n', 'garbage'],
    ['a length with a sign', 'A+5\n', 'garbage'],
    ['a length in hexadecimal', 'A0x10\n', 'garbage'],
    ['an endless length', `A${'1'.repeat(1_500)}`, 'garbage'],
    ['data beyond its length', 'A2\nx\nmore\n', 'garbage'],
    ['data that ends with another answer', 'A2\nx\nD\n', 'garbage'],
    ['a line without end', 'F '.padEnd(2_000, 'x'), 'garbage'],
    ['an answer above the limit', `A${bytesMax + 1}\n`, 'too_large'],
    ['a length beyond any answer', 'A999999999999999\n', 'too_large'],
  ]
  for (const [what, bytes, reason] of refusals) {
    it(`rejects ${what}, and everything after it`, () => {
      const decoder = createWhoisDecoder(bytesMax)
      const isRefused = (error: unknown) => error instanceof WhoisAnswerError && error.reason === reason
      assert.throws(() => decoder.push(Buffer.from(bytes)), isRefused)
      assert.throws(() => decoder.push(Buffer.from('C\n')), isRefused)
    })
  }

  it(`decodes or rejects each of ${runs} malformed inputs`, () => {
    const piece = fc.constantFrom('A', 'C', 'D', 'E', 'F', '\n', '\r', ' ', '0', '1', '9', '\0', '\xff')
    const edit = fc.tuple(fc.nat(99), fc.nat(4), piece)
    const met = { answers: 0, refusals: 0 }
    fc.assert(
      fc.property(
        fc.array(answer, { maxLength: 3 }),
        fc.array(edit, { maxLength: 4 }),
        fc.array(fc.nat(200), { maxLength: 3 }),
        (answers, edits, cuts) => {
          const bytes = edits.reduce(
            (text, [at, cut, piece]) => {
              const start = at % (text.length + 1)
              return text.slice(0, start) + piece + text.slice(start + cut)
            },
            Buffer.concat(answers.map(encode)).toString('latin1'),
          )
          try {
            met.answers += decodePieces(Buffer.from(bytes, 'latin1'), cuts).length
          } catch (error) {
            assert.ok(error instanceof WhoisAnswerError)
            met.refusals++
          }
        },
      ),
      { numRuns: runs },
    )
    assert.ok(met.answers > runs / 4 && met.refusals > runs / 10, JSON.stringify(met))
  })

  it('decodes a chunk of any repeated input in bounded time', () => {
    for (const piece of ['C\n', 'A0\nC\n', 'F x\n', 'A', '\n', '0', 'A1\n\nC\n']) {
      const bytes = Buffer.from(piece.repeat(65_536 / piece.length))
      const fastestMs = fastestOfThree(1_000, () => attempt(bytes))
      assert.ok(fastestMs < 1_000, `${JSON.stringify(piece)}: ${fastestMs} ms`)
    }
  })
})

function attempt(bytes: Buffer): void {
  try {
    decodePieces(bytes, [])
  } catch (error) {
    assert.ok(error instanceof WhoisAnswerError)
  }
}
