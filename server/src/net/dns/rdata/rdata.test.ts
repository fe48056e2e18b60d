// Record data of every type: canonical text, refusals that name the field, and properties for random octets and texts.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { compareOctets, parseName } from '../name.ts'
import { findType, recordType } from '../type.ts'
import { RdataError, canonicalRdata, parseRdata, printRdata, targetOf, validateRdata } from './rdata.ts'
import { invalidData, validData } from './testing-corpus.ts'
import { scaled } from '../../../runtime/testing-scale.ts'

const origin = parseName('example')

type Sample = { readonly type: number; readonly text: string; readonly canonical: string }

const samples: Sample[] = validData.map((line) => {
  const [, mnemonic, text, canonical] = /^(\S+) (.*?)(?: => (.*))?$/.exec(line)!
  return { type: findType(mnemonic!)!, text: text!, canonical: canonical ?? text! }
})

describe('parseRdata', () => {
  for (const [at, { type, text, canonical }] of samples.entries()) {
    it(`reads ${validData[at]!.slice(0, 80)}`, () => {
      const rdata = parseRdata(type, text, { origin })
      validateRdata(type, rdata)
      assert.equal(printRdata(type, rdata), canonical)
      assert.deepEqual(parseRdata(type, canonical), canonicalRdata(type, rdata))
    })
  }

  for (const line of invalidData) {
    it(`refuses ${line.slice(0, 80)}`, () => {
      const [, mnemonic, text] = /^(\S+) ?(.*)$/.exec(line)!
      assert.throws(
        () => parseRdata(findType(mnemonic!)!, text!, { origin }),
        (error) => error instanceof RdataError && error.field !== '' && error.message.length < 200,
      )
    })
  }

  it('reads the names of later SVCB keys, which name servers do not read yet', () => {
    const rdata = parseRdata(recordType.HTTPS, '1 . ohttp tls-supported-groups=29,23')
    assert.equal(printRdata(recordType.HTTPS, rdata), '1 . key8 key9="\\000\\029\\000\\023"')
  })

  it('refuses a backslash in a list that escapes nothing, which name servers drop (RFC 9460 appendix A.1)', () => {
    for (const list of ['a\\\\b', 'h2,h\\\\3', 'h2\\\\'])
      assert.throws(
        () => parseRdata(recordType.SVCB, `1 . alpn=${list}`),
        /before a comma or a backslash only/,
      )
  })

  it('refuses what BIND or Knot refuses at transfer, and what Knot writes to its file and cannot read back', () => {
    const lines = [
      'LOC \\# 1 01',
      'APL \\# 4 00030000',
      'SSHFP \\# 2 fafa',
      'IPSECKEY 1 0 0 .',
      'IPSECKEY 1 0 0 . AQ==',
      'IPSECKEY \\# 5 0104010101',
      'CSYNC 66 3 TYPE255',
      'CSYNC \\# 12 000000420003000460200008',
    ]
    for (const line of lines) {
      const [type, ...data] = line.split(' ')
      assert.throws(() => parseRdata(findType(type!)!, data.join(' ')), RdataError, line)
    }
  })

  it('refuses typographic quotes around a text, unless they are written as octets', () => {
    const octets = (text: string) => Buffer.from(text).toString('latin1')
    for (const text of [
      '\u201cv=spf1 -all\u201d',
      '\u2018a\u2019',
      '\u00aba\u00bb',
      '"\u201ca\u201d"',
      'v=spf1 -all\u201d',
    ])
      assert.throws(() => parseRdata(recordType.TXT, octets(text)), /typographic quotes/, text)
    for (const text of ['"it\u2019s"', '"\u201ca\u201d b"', String.raw`\226\128\156a\226\128\157`])
      assert.ok(parseRdata(recordType.TXT, octets(text)).length > 0, text)
  })

  it('splits long strings only if it is asked to', () => {
    const text = `"${'a'.repeat(600)}"`
    assert.throws(() => parseRdata(recordType.TXT, text), /at most 255 octets/)
    const rdata = parseRdata(recordType.TXT, text, { splitsStrings: true })
    assert.deepEqual([rdata[0], rdata[256], rdata[512], rdata.length], [255, 255, 90, 603])
  })

  it('refuses what only zone files have', () => {
    for (const text of ['v=DKIM1; k=rsa', '(a)', 'a\nb', '"a', 'a\\', '"a\nb"'])
      assert.throws(() => parseRdata(recordType.TXT, text), RdataError, text)
  })

  it('advises against digests of a wrong length that name servers accept', () => {
    assert.throws(
      () => parseRdata(recordType.TLSA, '3 1 1 abcd'),
      /certificate data: 2 octets, but its type has 32/,
    )
  })
})

describe('record data', () => {
  it('in canonical form has the names of old types in lower case, and no others', () => {
    const canonical = (type: number, text: string): string =>
      Buffer.from(canonicalRdata(type, parseRdata(type, text))).toString('latin1')
    assert.match(canonical(recordType.MX, '10 MAIL.'), /mail/)
    assert.match(canonical(recordType.SRV, '1 2 3 SRV.'), /srv/)
    assert.match(canonical(recordType.SVCB, '1 SVC.'), /SVC/)
    assert.match(canonical(recordType.NSEC, 'NEXT. A'), /NEXT/)
    assert.match(canonical(recordType.RRSIG, 'A 13 1 1 1 1 1 SIGNER. AAAA'), /signer/)
    assert.match(canonical(recordType.NAPTR, '1 1 "U" "S" "!R!S!" NAPTR.'), /naptr/)
  })

  it('points at a target', () => {
    assert.equal(targetOf(recordType.MX, parseRdata(recordType.MX, '10 Mail.Example.')), 'mail.example.')
    assert.equal(targetOf(recordType.SRV, parseRdata(recordType.SRV, '1 2 3 srv.example.')), 'srv.example.')
    assert.equal(targetOf(recordType.A, parseRdata(recordType.A, '192.0.2.1')), undefined)
  })

  it('of any type and any octets prints a text that parses to its canonical form', () => {
    const types = [...new Set([...Object.values(recordType), 65_280])]
    const octets = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.tuple(fc.constantFrom(...samples), fc.nat(200), fc.nat(255)).map(([{ type, text }, at, octet]) => {
        const rdata = parseRdata(type, text, { origin }).slice()
        if (rdata.length > 0) rdata[at % rdata.length] = octet
        return rdata
      }),
    )
    fc.assert(
      fc.property(fc.constantFrom(...types), octets, (type, rdata) => {
        const text = printRdata(type, rdata)
        try {
          validateRdata(type, rdata)
        } catch (error) {
          assert.ok(error instanceof RdataError)
          assert.match(text, /^\\# /)
          return
        }
        const canonical = canonicalRdata(type, rdata)
        assert.equal(compareOctets(reparse(type, text), canonical), 0, text)
        assert.equal(printRdata(type, canonical), text)
      }),
      { numRuns: scaled(30_000) },
    )
  })

  it('of mutated texts is read or refused with RdataError', () => {
    const pieces = [
      '',
      ' ',
      '"',
      '\\',
      ',',
      '=',
      '-',
      '0',
      '99999',
      '.',
      '\\#',
      'é',
      '\u0430',
      '\n',
      '(',
      ';',
      'a'.repeat(300),
    ]
    const edit = fc.tuple(fc.nat(100), fc.nat(3), fc.constantFrom(...pieces))
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        ({ type, text }, edits) => {
          let mutated = text
          for (const [at, cut, piece] of edits) {
            const start = at % (mutated.length + 1)
            mutated = mutated.slice(0, start) + piece + mutated.slice(start + cut)
          }
          try {
            const rdata = parseRdata(type, mutated, { origin })
            validateRdata(type, rdata)
            assert.equal(
              compareOctets(reparse(type, printRdata(type, rdata)), canonicalRdata(type, rdata)),
              0,
            )
          } catch (error) {
            assert.ok(error instanceof RdataError, String(error))
          }
        },
      ),
      { numRuns: scaled(30_000) },
    )
  })
})

/** Without the advice, which octets of the wire may violate. */
function reparse(type: number, text: string): Uint8Array {
  try {
    return parseRdata(type, text)
  } catch (error) {
    if (error instanceof RdataError && error.reason === 'length' && error.field === 'certificate data')
      return parseRdata(65_280, `\\# ${hexOf(text).length / 2} ${hexOf(text)}`)
    throw error
  }
}

function hexOf(text: string): string {
  const [usage, selector, matching, data] = text.split(' ')
  return (
    [usage, selector, matching].map((value) => Number(value).toString(16).padStart(2, '0')).join('') + data
  )
}
