// The page after a sign-in is a page of the portal, or none.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
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

test('the pages are all of the portal but those of guests', () => {
  const text = readFileSync(new URL('../../../portal/src/pages.tsx', import.meta.url), 'utf8')
  const [framed] = text.split('export const guestPages')
  const first = [...framed!.matchAll(/\bpath: '(\/[a-z-]+)/g)].map(([, path]) => path!)
  assert.ok(first.length > 20)
  for (const path of new Set(first)) assert.equal(parseReturnTo(path), path)
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
