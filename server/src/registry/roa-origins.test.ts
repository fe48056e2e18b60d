import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAsn } from '../net/asn.ts'
import { parsePrefix } from '../net/prefix.ts'
import { createRoaTable, type RoaTable } from './objects/roa-table.ts'
import { vrpBits } from './objects/vrp.ts'
import { createOriginSearch } from './roa-origins.ts'

const vrp = (prefix: string, asn: number) => vrpBits({ prefix: parsePrefix(prefix), maxLength: 48, asn })
const table = createRoaTable([
  vrp('203.0.113.0/24', 64500),
  vrp('203.0.113.0/24', 64501),
  vrp('2001:db8::/32', 64500),
  vrp('198.51.100.0/24', 4_199_999_999),
])

/** Counts the searches: each begins at place 0. */
function counted(inner: RoaTable): { table: RoaTable; searches: () => number } {
  let searches = 0
  const scan: RoaTable['scan'] = (place, ...rest) => {
    if (place === 0) searches++
    return inner.scan(place, ...rest)
  }
  return {
    table: new Proxy(inner, { get: (_, name) => (name === 'scan' ? scan : Reflect.get(inner, name)) }),
    searches: () => searches,
  }
}

describe('the search for the prefixes of an ASN', () => {
  it('finds every prefix of both families for which a ROA names it', async () => {
    const originsOf = createOriginSearch()
    assert.deepEqual(await originsOf(table, parseAsn(64500)), ['203.0.113.0/24', '2001:db8::/32'])
    assert.deepEqual(await originsOf(table, parseAsn(4_199_999_999)), ['198.51.100.0/24'])
    assert.deepEqual(await originsOf(table, parseAsn(64502)), [])
  })

  it('serves many concurrent callers with two searches', async () => {
    const { table: watched, searches } = counted(table)
    const originsOf = createOriginSearch()
    const first = originsOf(watched, parseAsn(64500))
    await Promise.resolve()
    const answers = await Promise.all([
      first,
      ...Array.from({ length: 100 }, (_, n) => originsOf(watched, parseAsn(64500 + (n % 3)))),
    ])
    assert.deepEqual(
      answers.slice(0, 4).map(({ length }) => length),
      [2, 2, 1, 0],
    )
    assert.ok(searches() <= 2, String(searches()))
  })
})
