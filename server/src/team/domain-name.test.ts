import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  canonicalDomain,
  domainOfEmail,
  objectionTo,
  recordLabel,
  type TeamDomainName,
} from './domain-name.ts'
import { scaled } from '../runtime/testing-scale.ts'

const numRuns = scaled(20_000)

const objection = (text: string, allowDocumentation = false) => {
  const domain = canonicalDomain(text)
  assert.ok(domain, text)
  return objectionTo(domain, { allowDocumentation })?.type
}

describe('a domain name', () => {
  it('is converted to lower case and A-labels, without a trailing dot', () => {
    const written: Record<string, string> = {
      'Acme.NET': 'acme.net',
      'acme.net.': 'acme.net',
      'münchen.de': 'xn--mnchen-3ya.de',
      'MÜNCHEN.DE': 'xn--mnchen-3ya.de',
      'xn--mnchen-3ya.de': 'xn--mnchen-3ya.de',
      'XN--MNCHEN-3YA.de': 'xn--mnchen-3ya.de',
      'faß.de': 'xn--fa-hia.de',
      'acme。net': 'acme.net',
      'ａｃｍｅ.net': 'acme.net',
      '1.2.3.4.acme.net': '1.2.3.4.acme.net',
      'a.xn--p1ai': 'a.xn--p1ai',
      'r3---sn.acme.net': 'r3---sn.acme.net',
    }
    for (const [text, expected] of Object.entries(written))
      assert.equal(canonicalDomain(text), expected, text)
  })

  it('is rejected if it is a wildcard, an address, a URL, a service or a single label', () => {
    const refused = [
      ['', '.', 'acme', 'net.', 'a..net', '.acme.net', 'acme.net..', 'a。。net'],
      ['*.acme.net', '_dmarc.acme.net', 'a_b.net', 'a b.net', ' acme.net', 'acme.net\n', 'acme.net\0'],
      ['192.0.2.1', '0x7f.1', '127.1', '１２７.0.0.1', '[2001:db8::1]', '2001:db8::1', 'acme.1', 'acme.0x'],
      ['https://acme.net', 'acme.net/', 'acme.net:53', 'user@acme.net', 'acme.net?', 'acme.net#', '%61.net'],
      ['a／b.net', 'a\\b.net', '-a.net', 'a-.net', 'xn--a.net', 'xn--.net', 'xn--zzzzzz.net'],
      [`${'a'.repeat(64)}.net`, `${'é'.repeat(60)}.net`, 'a.'.repeat(126) + 'net', 'a'.repeat(100_000)],
    ].flat()
    for (const text of refused) assert.equal(canonicalDomain(text), undefined, JSON.stringify(text))
  })

  it('may have labels of 63 characters, and 253 in total', () => {
    const long = `${'a'.repeat(63)}.`.repeat(3)
    assert.equal(canonicalDomain(`${long}${'b'.repeat(57)}.net`)?.length, 253)
    assert.equal(canonicalDomain(`${long}${'b'.repeat(58)}.net`), undefined)
  })

  it('is canonical or rejected, for any text', () => {
    const ascii = ['.', '-', '_', '*', '@', ':', '/', '%', '[', '0', '9', 'x', 'xn--', 'acme', 'net', '.test']
    const others = [
      'ü',
      'ß',
      '\u00ad',
      '\u200d',
      '\u0660',
      '\uff0e',
      '。',
      '１',
      '\ud800',
      '\0',
      '0x',
      'ﬁ',
      'ש',
      '💩',
    ]
    const piece = fc.constantFrom(...ascii, ...others)
    const made = fc.oneof(
      fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
      fc.string({ unit: 'grapheme' }),
    )
    fc.assert(
      fc.property(made, (text) => {
        const domain = canonicalDomain(text)
        if (domain === undefined) return
        assert.match(domain, /^(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{1,63}$/)
        assert.ok(domain.length <= 253)
        assert.equal(canonicalDomain(domain), domain)
        assert.equal(canonicalDomain(domain.toUpperCase()), domain)
        assert.equal(canonicalDomain(`${domain}.`), domain)
        objectionTo(domain, { allowDocumentation: false })
      }),
      { numRuns },
    )
  })
})

describe('a domain that a team adds', () => {
  it('is not a public suffix of a registry or of a provider', () => {
    const never = ['acme.localhost', 'acme.test', 'acme.invalid', 'printer.local', 'acme.onion', 'acme.alt']
    for (const text of [...never, 'acme.internal', '113.0.203.in-addr.arpa', 'home.arpa']) {
      assert.equal(objection(text), 'special_use', text)
      assert.equal(objection(text, true), 'special_use', text)
    }
    for (const text of ['acme.example', 'example.com', 'www.example.org']) {
      assert.equal(objection(text), 'special_use', text)
      assert.equal(objection(text, true), undefined, text)
    }
  })

  it('is short enough for the name of its record', () => {
    const long = `${'a'.repeat(63)}.`.repeat(3)
    const fits = canonicalDomain(`${long}${'b'.repeat(235 - long.length - 4)}.net`)!
    assert.equal(`${recordLabel}.${fits}`.length, 253)
    assert.equal(objectionTo(fits, { allowDocumentation: false }), undefined)
    assert.equal(objectionTo(`b${fits}` as TeamDomainName, { allowDocumentation: false })?.type, 'too_long')
  })
})

describe('the domain of an e-mail address', () => {
  it('is the text after the last @, in canonical form', () => {
    assert.equal(domainOfEmail('someone@Acme.NET'), 'acme.net')
    assert.equal(domainOfEmail('"a@b"@münchen.de'), 'xn--mnchen-3ya.de')
    for (const email of ['', 'acme.net', '@acme.net', 'a@', 'a@localhost', 'a@[192.0.2.1]'])
      assert.equal(domainOfEmail(email), undefined, email)
  })
})
