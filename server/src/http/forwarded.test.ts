import assert from 'node:assert/strict'
import { it } from 'node:test'
import { cleanForwardedFor } from './forwarded.ts'

const cleaned = (text: string) => {
  const headers = { 'x-forwarded-for': text }
  cleanForwardedFor(headers)
  return headers['x-forwarded-for']
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

it('has no known client, and nothing of what is left of it, at an element that is no address', () => {
  const texts = {
    '': '0.0.0.0',
    unknown: '0.0.0.0',
    _hidden: '0.0.0.0',
    '203.0.113.88:port': '0.0.0.0',
    '[203.0.113.88': '0.0.0.0',
    '300.0.0.1': '0.0.0.0',
    '198.51.100.7, unknown, 203.0.113.88': '0.0.0.0, 203.0.113.88',
    '198.51.100.7,, 203.0.113.88:1': '0.0.0.0, 203.0.113.88',
    '203.0.113.88, unknown': '0.0.0.0',
  }
  for (const [text, expected] of Object.entries(texts)) assert.equal(cleaned(text), expected, text)
})
