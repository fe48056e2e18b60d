// Names: one canonical text per name, and keys whose octet order is the canonical order of RFC 4034.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  NameError,
  compareNames,
  compareOctets,
  countLabels,
  isBelow,
  labelsOf,
  nameFromKey,
  nameFromWire,
  nameKey,
  nameToWire,
  parentOf,
  parseName,
  printName,
  root,
} from './name.ts'
import type { NameErrorReason } from './name.ts'
import { domainName } from './testing.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const origin = parseName('example.com')

describe('parseName', () => {
  it('gives one spelling of a name', () => {
    const cases: [text: string, name: string][] = [
      ['WWW.Example.COM.', 'www.example.com.'],
      ['\\119ww.example.com', 'www.example.com.'],
      ['a\\.b.example.com.', 'a\\.b.example.com.'],
      ['a\\046b.example.com.', 'a\\.b.example.com.'],
      ['\\\\.\\@.\\$.x', '\\\\.\\@.\\$.x.'],
      ['\\000\\255\\032.x', '\\000\\255\\032.x.'],
      ['*.x', '*.x.'],
      ['.', '.'],
    ]
    for (const [text, name] of cases) assert.equal(parseName(text), name, text)
    assert.equal(parseName('www', origin), 'www.example.com.')
    assert.equal(parseName('@', origin), 'example.com.')
  })

  it('accepts 255 octets and labels of 63, and no more', () => {
    const label = 'a'.repeat(63)
    const longest = `${label}.${label}.${label}.${'a'.repeat(61)}.`
    assert.equal(nameToWire(parseName(longest)).length, 255)
    assert.equal(reasonOf(`a${longest}`), 'label_length')
    assert.equal(reasonOf(`${label}.${label}.${label}.${'a'.repeat(62)}.`), 'name_length')
    assert.equal(reasonOf(`${label}.${label}.${label}.${'a'.repeat(61)}.b.`), 'name_length')
    assert.equal(reasonOf('a.'.repeat(128)), 'name_length')
    assert.equal(parseName('a.'.repeat(127)), 'a.'.repeat(127))
  })

  it('refuses malformed names with a reason', () => {
    const cases: [text: string, reason: NameErrorReason][] = [
      ['', 'empty'],
      ['@', 'relative'],
      ['..', 'empty'],
      ['.a', 'empty'],
      ['a..b', 'empty'],
      ['\\', 'escape'],
      ['a\\25', 'escape'],
      ['a\\256b', 'escape'],
      ['a\\1x3', 'escape'],
      ['a b', 'character'],
      ['a\0b', 'character'],
      ['b\u00fccher.example', 'character'],
      ['ex\u0430mple.com', 'character'],
      ['\\\u0430.com', 'escape'],
    ]
    for (const [text, reason] of cases) assert.equal(reasonOf(text), reason, JSON.stringify(text))
  })
})

describe('names', () => {
  it('are the same after text, wire and key', () => {
    fc.assert(
      fc.property(domainName, (name) => {
        const wire = nameToWire(name)
        assert.equal(parseName(name), name)
        assert.equal(nameFromWire(wire), name)
        assert.equal(parseName(printName(wire)), name)
        assert.equal(nameFromKey(nameKey(name)), name)
        assert.equal(countLabels(name), labelsOf(name).length)
        const parent = parentOf(name)
        if (parent === undefined) assert.equal(name, root)
        else {
          assert.ok(isBelow(name, parent))
          assert.deepEqual(labelsOf(name).slice(1), labelsOf(parent))
        }
      }),
      { numRuns: scaled(3_000) },
    )
  })

  it('are below another one if its labels are their last labels', () => {
    fc.assert(
      fc.property(domainName, domainName, (name, ancestor) => {
        const [labels, last] = [labelsOf(name), labelsOf(ancestor)]
        const isProper =
          labels.length > last.length && labels.slice(labels.length - last.length).join() === last.join()
        assert.equal(isBelow(name, ancestor), isProper)
        const [key, start] = [nameKey(name), nameKey(ancestor)]
        assert.equal(
          key.length > start.length && compareOctets(key.subarray(0, start.length), start) === 0,
          isProper,
        )
      }),
    )
    assert.equal(isBelow(parseName('a\\.example.com'), origin), false)
    assert.equal(isBelow(parseName('a\\\\.example.com'), origin), true)
  })

  it('sort by their keys as in RFC 4034 section 6.1', () => {
    const sorted = [
      'example',
      'a.example',
      'yljkjljk.a.example',
      'Z.a.example',
      'zABC.a.EXAMPLE',
      'z.example',
    ]
    sorted.push('\\001.z.example', '*.z.example', '\\200.z.example')
    const names = sorted.map((text) => parseName(text))
    assert.deepEqual([...names].reverse().sort(compareNames), names)
  })

  it('sort label by label, whatever octets they have', () => {
    const byLabels = (a: string, b: string): number => {
      const [left, right] = [a, b].map((name) => labelsOf(parseName(name)).reverse())
      for (let i = 0; i < Math.min(left!.length, right!.length); i++) {
        const difference = compareOctets(
          nameToWire(parseName(left![i]!)).slice(1, -1),
          nameToWire(parseName(right![i]!)).slice(1, -1),
        )
        if (difference !== 0) return Math.sign(difference)
      }
      return Math.sign(left!.length - right!.length)
    }
    fc.assert(
      fc.property(domainName, domainName, (a, b) => {
        assert.equal(Math.sign(compareNames(a, b)), byLabels(a, b))
      }),
      { numRuns: scaled(2_000) },
    )
  })
})

function reasonOf(text: string): NameErrorReason | undefined {
  try {
    parseName(text)
    return undefined
  } catch (error) {
    assert.ok(error instanceof NameError)
    return error.reason
  }
}
