// The page after a sign-in is a page of the portal, or none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReturnTo } from './return-to.ts'

test('pages of the portal are accepted', () => {
  for (const page of [
    '/',
    '/zones',
    '/announcements/7',
    '/events?status=EVENT_ONGOING&ordering=-id',
    '/team/sign-in',
  ])
    assert.equal(parseReturnTo(page), page)
})

test('everything else is no page', () => {
  const hostile = [
    undefined,
    '',
    'zones',
    '//mallory.example',
    '/\\mallory.example',
    '\\\\mallory.example',
    'javascript:alert(1)',
    'https://mallory.example/zones',
    '/%2f%2fmallory.example',
    '%2f%2fmallory.example',
    '/%5cmallory.example',
    '/zones//mallory.example',
    '/@mallory.example',
    '/.mallory.example',
    '/mallory',
    '/sign-in',
    '/zones\n',
    '\t/zones',
    `/zones?${'x'.repeat(500)}`,
  ]
  for (const page of hostile) assert.equal(parseReturnTo(page), null, String(page))
})
