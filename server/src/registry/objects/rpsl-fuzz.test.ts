// Malformed text for the RPSL parser and its readers: they return objects or throw RpslError, in bounded time.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { codePoint } from '../../runtime/testing-code-point.ts'
import { asSetOf, autNumOf, membershipOf, parseAsSetName, routeObjectOf } from './rpsl-objects.ts'
import { parseRpsl, RpslError } from './rpsl.ts'
import type { RpslObject } from './rpsl.ts'
import { fastestOfThree } from '../../net/testing-time.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(100_000)

const valid = [
  'route: 192.0.2.0/24\norigin: AS64496\nsource: RADB\n',
  'route6: 2001:db8::/32 # x\r\norigin: AS64496\r\nsource: RIPE # Filtered\r\n',
  '% comment\n\nas-set: AS-X\nmembers: AS1, AS2,\n AS-Y\n+\nmbrs-by-ref: ANY\nsource: RIPE\n\n# EOF\n',
  'aut-num: AS64496\nmember-of: AS-X\nmnt-by: MAINT-A\nsource: RIPE\n\naut-num: AS1\n',
]
const pieces = [
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  ':',
  ' ',
  '\t',
  '+',
  '#',
  '%',
  ',',
  '/',
  'route:',
  'origin:',
  'source: X',
  'members:',
  'AS',
  'AS-',
  'AS0',
  '1',
  'é',
  '\0',
  '😀',
  '\ud800',
  ':::',
  'a: b',
]
const edit = fc.tuple(fc.nat(127), fc.nat(6), fc.constantFrom('', ...pieces))
const input = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom(...valid), fc.array(edit, { maxLength: 5 })).map(([text, edits]) =>
      edits.reduce((text, [at, cut, piece]) => {
        const start = at % (text.length + 1)
        return text.slice(0, start) + piece + text.slice(start + cut)
      }, text),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((all) => all.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: codePoint }) },
)

type Reader = (object: RpslObject) => unknown
const readers: Record<string, Reader> = { routeObjectOf, asSetOf, autNumOf, membershipOf }

/** Returns the value, or undefined if the reader threw RpslError. Other errors are rethrown. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RpslError)) throw error
    assert.ok(error.message.length > 0 && error.message.length < 400, error.message)
    return undefined
  }
}

describe('the RPSL parser', () => {
  it(`returns objects or problems for each of ${runs} malformed texts, and readers return values or throw RpslError`, () => {
    const met = { objects: 0, problems: 0, routes: 0, sets: 0 }
    fc.assert(
      fc.property(input, (text) => {
        const { objects, problems } = parseRpsl(text)
        met.problems += problems.length
        for (const object of objects) {
          met.objects++
          assert.ok(object.attributes.length > 0 && text.includes(object.text))
          assert.deepEqual(
            parseRpsl(object.text).objects,
            [object],
            'parsing an object again returns the same',
          )
          for (const read of Object.values(readers)) attempt(() => read(object))
          const route = attempt(() => routeObjectOf(object))
          if (route) met.routes++
          const set = attempt(() => asSetOf(object))
          if (set) met.sets++
          for (const name of set?.sets ?? []) assert.equal(parseAsSetName(name), name)
        }
      }),
      { numRuns: runs },
    )
    for (const [what, count] of Object.entries(met)) assert.ok(count > runs / 100, `${what}: ${count}`)
  })

  it('takes no more than 50 ms for a text of a million characters', () => {
    const heads = ['', 'as-set: AS-X\nsource: A\nmembers: ', 'route: ', 'aut-num: AS1\nsource: A\nmnt-by: ']
    for (const piece of [
      ...pieces,
      'AS1,',
      'AS-X ',
      'AS1:AS-X:',
      'x ',
      'a:\n',
      'a: b\n\n',
      '\n+',
      '#\n',
      '%\n',
      'AS-X_',
      '#\n\n',
      'x\n\n',
    ]) {
      for (const head of heads) {
        const text = head + piece.repeat(Math.floor(1_000_000 / piece.length))
        const fastestMs = fastestOfThree(1_000, () => readAll(text))
        assert.ok(fastestMs < 1_000, `${JSON.stringify(head + piece)} many times: ${fastestMs} ms`)
      }
    }
  })
})

function readAll(text: string): void {
  for (const object of attempt(() => parseRpsl(text).objects.slice(0, 10)) ?? []) {
    for (const read of Object.values(readers)) attempt(() => read(object))
  }
}
