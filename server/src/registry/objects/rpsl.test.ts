import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createRpslSplitter, parseRpsl, parseRpslObject, RpslError, rpslValue, rpslValues } from './rpsl.ts'
import type { RpslParagraph } from './rpsl.ts'
import { cpuMs } from '../../net/testing-time.ts'
import { scaled } from '../../runtime/testing-scale.ts'

/** In the format of a server's answer, with the beginning and the end of a dump. */
const dump = `% The EXAMPLE Database.
%
# Information: 2 objects

route:          192.0.2.0/24 # documentation
descr:          a network
                of two lines
+
+of three and an empty one
origin:         AS64496
mnt-by:         MAINT-A, MAINT-B
remarks:
# a comment between attributes
source:         EXAMPLE # Filtered


aut-num:  AS64496
source:EXAMPLE

# EOF
`

describe('parseRpsl', () => {
  it('parses objects between comments, with comments and continued lines', () => {
    const { objects, problems } = parseRpsl(dump)
    assert.deepEqual(problems, [])
    assert.deepEqual(
      objects.map((object) => [object.class, object.key]),
      [
        ['route', '192.0.2.0/24'],
        ['aut-num', 'AS64496'],
      ],
    )
    assert.deepEqual(
      objects[0]!.attributes.map(({ name, value }) => [name, value]),
      [
        ['route', '192.0.2.0/24'],
        ['descr', 'a network\nof two lines\n\nof three and an empty one'],
        ['origin', 'AS64496'],
        ['mnt-by', 'MAINT-A, MAINT-B'],
        ['remarks', ''],
        ['source', 'EXAMPLE'],
      ],
    )
    assert.ok(objects[0]!.text.includes('# a comment between attributes'))
  })

  it('parses the same with carriage returns', () => {
    const attributes = (text: string) => parseRpsl(text).objects.map((object) => object.attributes)
    assert.deepEqual(attributes(dump.replaceAll('\n', '\r\n')), attributes(dump))
  })

  it('continues after an invalid object, and returns its line', () => {
    const bad = 'route: 192.0.2.0/24\nno attribute\n\n continued\n\naut-num: AS64496\n\n9bad: x\n\n: x\n'
    const { objects, problems } = parseRpsl(bad)
    assert.deepEqual(
      objects.map(({ key }) => key),
      ['AS64496'],
    )
    assert.deepEqual(
      problems.map(({ line }) => line),
      [1, 4, 8, 10],
    )
    assert.match(problems[0]!.message, /"no attribute"/)
    assert.match(problems[1]!.message, /continuation/)
  })

  it('leaves out an object that is too long, and parses those after it', () => {
    const long = `aut-num: AS64496\nremarks: ${'x'.repeat(1_100_000)}\n\naut-num: AS64497\n`
    const { objects, problems } = parseRpsl(long)
    assert.deepEqual(
      objects.map(({ key }) => key),
      ['AS64497'],
    )
    assert.deepEqual(problems, [{ line: 1, message: 'the object is too long' }])
  })

  it('rejects text that is longer than any answer', () => {
    assert.equal(parseRpsl('a: b\n\n'.repeat(20_000)).objects.length, 20_000)
    assert.throws(() => parseRpsl('a: b\n\n'.repeat(20_001)), RpslError)
    assert.throws(() => parseRpsl('x\n\n'.repeat(1_001)), RpslError)
    const { problems } = parseRpsl(`a:${'\na: b'.repeat(50_000)}`)
    assert.match(problems[0]!.message, /50000 lines/)
  })
})

describe('parseRpslObject', () => {
  it('has attribute names in lower case and keeps the case of values', () => {
    assert.deepEqual(parseRpslObject('As-Set:AS-Example')?.attributes, [
      { name: 'as-set', value: 'AS-Example' },
    ])
  })

  it('is undefined for comments only', () => assert.equal(parseRpslObject('% nothing\n# here'), undefined))
})

describe('rpslValue', () => {
  const object = parseRpslObject('aut-num: AS64496\nsource: A\nsource: B\nremarks: # none')!
  it('returns an attribute that exists exactly once', () => {
    assert.equal(rpslValue(object, 'aut-num'), 'AS64496')
    assert.throws(() => rpslValue(object, 'source'), /more than one source/)
    assert.throws(() => rpslValue(object, 'remarks'), /no remarks/)
    assert.throws(() => rpslValue(object, 'descr'), RpslError)
    assert.deepEqual(rpslValues(object, 'source'), ['A', 'B'])
  })
})

describe('createRpslSplitter', () => {
  const split = (chunks: readonly string[], max?: number): RpslParagraph[] => {
    const paragraphs: RpslParagraph[] = []
    const splitter = createRpslSplitter(max)
    for (const chunk of chunks) splitter.push(chunk, (paragraph) => paragraphs.push(paragraph))
    splitter.end((paragraph) => paragraphs.push(paragraph))
    return paragraphs
  }
  const line = fc.constantFrom('a: b', ' c', '', '', '\r', 'a long line: of many words', 'x')
  const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n'))
  const chunksOf = (text: string, cuts: readonly number[]): string[] => {
    const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
    return [0, ...places].map((from, i) => text.slice(from, places[i] ?? text.length))
  }

  it('returns the same as splitting at empty lines, however the text is chunked', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(400), { maxLength: 12 }), (text, cuts) => {
        const expected = text
          .replaceAll('\r\n', '\n')
          .split(/\n{2,}|^\n+/)
          .map((paragraph) => paragraph.replace(/\n+$/, ''))
          .filter((paragraph) => paragraph !== '')
        const found = split(chunksOf(text, cuts)).map(({ text }) =>
          text.replaceAll('\r\n', '\n').replace(/\n+$/, ''),
        )
        assert.deepEqual(found, expected)
      }),
      { numRuns: scaled(5_000) },
    )
  })

  it('finds the same objects and lines with a small limit, each truncated to it', () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat(400), { maxLength: 12 }),
        fc.integer({ min: 1, max: 20 }),
        (text, cuts, max) => {
          const whole = split([text])
          assert.deepEqual(
            split(chunksOf(text, cuts), max),
            whole.map(({ text, line }) => ({ text: text.slice(0, max), line, isCut: text.length > max })),
          )
        },
      ),
      { numRuns: scaled(5_000) },
    )
  })

  it('holds no more than the limit and a chunk of an endless line', () => {
    const splitter = createRpslSplitter(1_000)
    const chunk = 'x'.repeat(10_000)
    const startMs = cpuMs()
    for (let i = 0; i < 10_000; i++) splitter.push(chunk, () => assert.fail())
    splitter.end(({ text, isCut }) => assert.deepEqual([text.length, isCut], [1_000, true]))
    assert.ok(cpuMs() - startMs < 5_000)
  })
})
