// Malformed text for every parser of this folder: it is rejected with the parser's own error, or the result is
// canonical and parses to itself.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { parseAddress } from './address.ts'
import { AsnError, parseAsn } from './asn.ts'
import { CommunityError, parseCommunity, parseLargeCommunity } from './community.ts'
import { PrefixError } from './prefix-error.ts'
import { maskHostBits, parsePrefix, parsePrefixOrAddress } from './prefix.ts'
import { fastestOfThree } from './testing-time.ts'
import { scaled } from '../runtime/testing-scale.ts'

const parsers = [
  { name: 'parsePrefix', parse: parsePrefix, error: PrefixError },
  { name: 'parsePrefixOrAddress', parse: parsePrefixOrAddress, error: PrefixError },
  { name: 'maskHostBits', parse: maskHostBits, error: PrefixError },
  { name: 'parseAddress', parse: parseAddress, error: PrefixError },
  { name: 'parseAsn', parse: parseAsn, error: AsnError },
  { name: 'parseCommunity', parse: parseCommunity, error: CommunityError },
  { name: 'parseLargeCommunity', parse: parseLargeCommunity, error: CommunityError },
] as const

const runs = scaled(100_000)

const valid = [
  '203.0.113.0/24',
  '0.0.0.0/0',
  '203.0.113.77',
  '2001:db8::/32',
  '2001:db8:0:1:2:3:4:5',
  '::ffff:203.0.113.0/120',
  '64:ff9b::192.0.2.1/128',
  'fe80::1%eth0',
  '::/0',
  'AS64500',
  '4294967295',
  '1.10',
  '65000:100',
  '64500:1:2',
]
const alphabet = [...'0123456789abcdefABCDEF:./%sSxg -+\n\0٣é😀', '::', '/32', '255', 'ffff', '.0', '00']

/** A valid text with a few parts removed, inserted or repeated at the given positions. */
function mutate(text: string, edits: readonly (readonly [at: number, cut: number, piece: string])[]): string {
  for (const [at, cut, piece] of edits) {
    const start = at % (text.length + 1)
    text = text.slice(0, start) + piece + text.slice(start + cut)
  }
  return text
}

const edit = fc.tuple(fc.nat(63), fc.nat(3), fc.constantFrom('', ...alphabet))
const input = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...valid), fc.array(edit, { maxLength: 4 }))
      .map(([text, edits]) => mutate(text, edits)),
  },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...alphabet), { maxLength: 24 }).map((pieces) => pieces.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: codePoint }) },
)

describe('every parser of net', () => {
  it(`returns a canonical value or throws its own error for each of ${runs} malformed texts`, () => {
    const accepted = new Set<string>()
    const refused = new Set<string>()
    fc.assert(
      fc.property(input, (text) => {
        for (const { name, parse, error } of parsers) {
          const value = attempt(parse, error, text)
          if (value === undefined) refused.add(name)
          else {
            accepted.add(name)
            assert.equal(parse(String(value)), value, name)
          }
        }
      }),
      { numRuns: runs },
    )
    const names = parsers.map(({ name }) => name).sort()
    assert.deepEqual([[...accepted].sort(), [...refused].sort()], [names, names])
  })

  it('takes no more than 50 ms for a text of a million characters', () => {
    const pieces = [
      '0',
      '1',
      ':',
      '.',
      '/',
      '::',
      '1:',
      '1.',
      '%',
      ' ',
      'AS',
      '0.0',
      'f',
      '/0',
      '1.2.3.4/',
      '٣',
    ]
    for (const piece of pieces) {
      for (const text of [piece.repeat(1_000_000), `203.0.113.0/${piece.repeat(1_000_000)}`]) {
        for (const { name, parse, error } of parsers) {
          const fastestMs = fastestOfThree(1_000, () => {
            assert.equal(attempt(parse, error, text), undefined)
          })
          assert.ok(fastestMs < 1_000, `${name} on many ${JSON.stringify(piece)}: ${fastestMs} ms`)
        }
      }
    }
  })
})

/** Returns the value, or undefined if the parser threw its own error. Other errors are rethrown. */
function attempt(
  parse: (text: string) => unknown,
  error: new (...a: never[]) => Error,
  text: string,
): unknown {
  try {
    return parse(text)
  } catch (caught) {
    if (!(caught instanceof error)) throw caught
    assert.ok(caught.message.length > 0 && caught.message.length < 200)
    return undefined
  }
}
