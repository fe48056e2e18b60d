import assert from 'node:assert/strict'
import { it } from 'node:test'
import { domainToASCII } from 'node:url'
import { unicodeName } from './unicode-name.ts'

it('decodes what the URL parser encodes', () => {
  for (const name of [
    'bücher.example',
    'münchen.straße-ä.example',
    '例え.テスト',
    'ελλάδα.gr',
    '😀.example',
    'правда.рф',
  ])
    assert.equal(unicodeName(domainToASCII(name)), name.normalize('NFC'))
})

it('leaves other names alone', () => {
  for (const name of [
    'example.com',
    '2.0.192.in-addr.arpa',
    'xn--ü.example',
    'xn--999999999999.example',
    'xn--',
  ])
    assert.equal(unicodeName(name), undefined)
})
