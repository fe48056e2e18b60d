import assert from 'node:assert/strict'
import { it } from 'node:test'
import { cleanForwardedFor } from './forwarded.ts'

const cleaned = (text: string) => {
  const headers = { 'x-forwarded-for': text }
  cleanForwardedFor(headers)
  return headers['x-forwarded-for'] as string | undefined
}

it('keeps the addresses of the header, without ports and brackets', () => {
  const texts = {
    '203.0.113.88': '203.0.113.88',
    '203.0.113.88:1234': '203.0.113.88',
    '2001:db8::1': '2001:db8::1',
    '[2001:db8::1]': '2001:db8::1',
    '[2001:db8::1]:443': '2001:db8::1',
    '"[2001:db8::1]:443"': '2001:db8::1',
    '198.51.100.7, 203.0.113.88:1234 ,192.0.2.1': '198.51.100.7, 203.0.113.88, 192.0.2.1',
    '::ffff:192.0.2.1': '::ffff:192.0.2.1',
  }
  for (const [text, expected] of Object.entries(texts)) assert.equal(cleaned(text), expected, text)
})

it('trusts nothing before an element that is no address', () => {
  const texts = {
    '': undefined,
    unknown: undefined,
    _hidden: undefined,
    '203.0.113.88:port': undefined,
    '[203.0.113.88': undefined,
    '300.0.0.1': undefined,
    '198.51.100.7, unknown, 203.0.113.88': '203.0.113.88',
    '198.51.100.7,, 203.0.113.88:1': '203.0.113.88',
    '203.0.113.88, unknown': undefined,
  }
  for (const [text, expected] of Object.entries(texts)) assert.equal(cleaned(text), expected, text)
})
