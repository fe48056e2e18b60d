import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { RecordSet } from '@pharos/contract/dns/recordset'
import {
  draftOf,
  isBlank,
  isChanged,
  mistakesIn,
  newDraft,
  parseTtl,
  placeRowErrors,
  requestOf,
  ttlInput,
  ttlPresets,
  ttlText,
} from './record-drafts.ts'

const set = (name: string, type: string, records: string[]): RecordSet => ({
  id: `${name}/${type}`,
  zone_id: 1,
  name,
  fqdn: `${name}.example.com.`,
  type,
  ttl: 3600,
  records,
  comment: '',
  managed: false,
  created: '2026-01-01T00:00:00Z',
  touched: '2026-01-01T00:00:00Z',
})
const www = draftOf(set('www', 'A', ['192.0.2.1', '192.0.2.2']))
const mapOf = (...drafts: (typeof www)[]) => new Map(drafts.map((one) => [one.key, one]))

it('reads a TTL in seconds or with a unit', () => {
  assert.deepEqual(['3600', '5m', ' 1 H', '2d', '1w', '', 'x', '1y', '-1'].map(parseTtl), [
    3600,
    300,
    3600,
    172_800,
    604_800,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  assert.deepEqual([60, 90, 3600, 86_400, 0].map(ttlText), ['1 min', '90 s', '1 h', '1 d', '0 s'])
  assert.deepEqual([300, 90, 3600, 172_800, 604_800, 0].map(ttlInput), ['5m', '90', '1h', '2d', '1w', '0'])
  for (const text of ttlPresets) assert.equal(ttlInput(parseTtl(text)!), text)
})

it('knows a new row in which nothing was typed', () => {
  const row = newDraft('new 1')
  assert.deepEqual(
    [row, { ...row, type: 'MX' }, { ...row, name: 'www' }, { ...www, values: '' }].map(isBlank),
    [true, true, false, false],
  )
})

it('sends changed rows only', () => {
  assert.equal(isChanged(www), false)
  const edited = { ...www, values: '192.0.2.1\n\n 192.0.2.9 ', ttl: '5m' }
  assert.deepEqual(requestOf(mapOf(www, { ...edited, key: 'b' })), {
    recordsets: [{ name: 'www', type: 'A', ttl: 300, records: ['192.0.2.1', '192.0.2.9'] }],
    keys: ['b'],
  })
})

it('deletes a set that is renamed, unless another row takes its place', () => {
  const renamed = { ...www, name: 'web' }
  assert.deepEqual(
    requestOf(mapOf(renamed)).recordsets.map(({ name, records }) => [name, records.length]),
    [
      ['www', 0],
      ['web', 2],
    ],
  )
  const heir = { ...newDraft('new'), name: 'WWW', values: '192.0.2.7' }
  assert.deepEqual(requestOf(mapOf(renamed, heir)).keys, ['www/A', 'new'])
  assert.deepEqual(requestOf(mapOf({ ...www, isRemoved: true })).recordsets, [
    { name: 'www', type: 'A', records: [] },
  ])
})

it('finds mistakes, and places those of the server at the row and field', () => {
  const bad = { ...newDraft('n'), ttl: 'soon' }
  assert.deepEqual(Object.keys(mistakesIn(mapOf(bad)).get('n')!), ['name', 'ttl', 'values'])
  const twice = { ...newDraft('m'), name: 'a', values: '1' }
  assert.deepEqual([...mistakesIn(mapOf(twice, { ...twice, key: 'o' })).keys()], ['o'])
  const error = (...loc: (string | number)[]) => ({ loc, msg: loc.join('.'), type: 'x' })
  const { placed, rest } = placeRowErrors(
    [
      error('body', 'recordsets', 1, 'records', 0),
      error('body', 'recordsets', 0, 'name'),
      error('header', 'if-match'),
    ],
    ['a', 'b'],
    ({ msg }) => msg,
  )
  assert.deepEqual(
    [...placed],
    [
      ['b', { values: 'body.recordsets.1.records.0' }],
      ['a', { name: 'body.recordsets.0.name' }],
    ],
  )
  assert.equal(rest.length, 1)
})
