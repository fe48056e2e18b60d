import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAsn } from '../net/asn.ts'
import { parsePrefix } from '../net/prefix.ts'
import { createRoaTable, vrpBits, type RoaTable } from './data/roa-table.ts'
import { createOriginSource } from './roa-origins.ts'

const signal = new AbortController().signal
const vrp = (prefix: string, asn: number) => vrpBits({ prefix: parsePrefix(prefix), maxLength: 48, asn })
const table = createRoaTable([
  vrp('203.0.113.0/24', 64500),
  vrp('203.0.113.0/24', 64501),
  vrp('2001:db8::/32', 64500),
  vrp('198.51.100.0/24', 4_199_999_999),
])

/** Counts the walks: each begins at place 0. */
function counted(inner: RoaTable): { table: RoaTable; walks: () => number } {
  let walks = 0
  const scan: RoaTable['scan'] = (place, ...rest) => {
    if (place === 0) walks++
    return inner.scan(place, ...rest)
  }
  return {
    table: new Proxy(inner, { get: (_, name) => (name === 'scan' ? scan : Reflect.get(inner, name)) }),
    walks: () => walks,
  }
}

describe('what an ASN may originate', () => {
  it('is every prefix of both families of which a ROA names it', async () => {
    const source = createOriginSource(() => ({ table, asOf: new Date() }))
    assert.deepEqual(await source.originsOf(parseAsn(64500), signal), {
      state: 'found',
      prefixes: ['203.0.113.0/24', '2001:db8::/32'],
    })
    assert.deepEqual(await source.originsOf(parseAsn(4_199_999_999), signal), {
      state: 'found',
      prefixes: ['198.51.100.0/24'],
    })
    assert.deepEqual(await source.originsOf(parseAsn(64502), signal), { state: 'found', prefixes: [] })
  })

  it('is not known without ROAs', async () => {
    const source = createOriginSource(() => undefined)
    assert.equal((await source.originsOf(parseAsn(64500), signal)).state, 'unavailable')
  })

  it('is found for many who ask at once in two walks', async () => {
    const { table: watched, walks } = counted(table)
    const source = createOriginSource(() => ({ table: watched, asOf: new Date() }))
    const first = source.originsOf(parseAsn(64500), signal)
    await Promise.resolve()
    const answers = await Promise.all([
      first,
      ...Array.from({ length: 100 }, (_, n) => source.originsOf(parseAsn(64500 + (n % 3)), signal)),
    ])
    const found = answers.map((answer) => (answer.state === 'found' ? answer.prefixes.length : -1))
    assert.deepEqual(found.slice(0, 4), [2, 2, 1, 0])
    assert.ok(walks() <= 2, String(walks()))
  })
})
