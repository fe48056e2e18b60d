import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { codePoint } from '../../runtime/testing-code-point.ts'
import type { Asn } from '../../net/asn.ts'
import type { Prefix } from '../../net/prefix.ts'
import { autNumQuery, membersQuery, openingLines, routesQuery, serialsQuery } from './whois-query.ts'
import { scaled } from '../../runtime/testing-scale.ts'

it('formats each query as a line of the protocol', () => {
  assert.equal(routesQuery('2001:db8::/32' as Prefix), '!r2001:db8::/32,L')
  assert.equal(membersQuery('as64496:as-x'), '!iAS64496:AS-X')
  assert.equal(autNumQuery(64_496 as Asn), '!maut-num,AS64496')
  assert.equal(serialsQuery([]), '!j-*')
  assert.equal(serialsQuery(['ripe', 'RADB']), '!jRIPE,RADB')
  assert.deepEqual(openingLines(['RIPE', 'radb'], 40), ['!!', '!nPharos', '!t40', '!sRIPE,RADB'])
  assert.deepEqual(openingLines([], 5_000.5), ['!!', '!nPharos', '!t1000'])
})

it('returns exactly one line for any input, or throws', () => {
  const text = fc.oneof(
    fc.string({ unit: codePoint }),
    fc
      .tuple(
        fc.constantFrom('AS-X', 'RADB', '192.0.2.0/24', '64496', ''),
        fc.constantFrom('', '\n', '\r', '\r\n!q', ',1', ' ', '\0', '\u2028', '!'),
        fc.constantFrom('', 'AS-Y', '!sOTHER'),
      )
      .map((parts) => parts.join('')),
  )
  const makers: readonly ((text: string) => string[])[] = [
    (text) => [routesQuery(text as Prefix)],
    (text) => [membersQuery(text)],
    (text) => [autNumQuery(text as unknown as Asn)],
    (text) => [serialsQuery([text])],
    (text) => openingLines([text], 10),
  ]
  const made = makers.map(() => 0)
  fc.assert(
    fc.property(text, (text) => {
      for (const [at, make] of makers.entries()) {
        const lines = attempt(() => make(text))
        if (lines) made[at]!++
        for (const line of lines ?? []) assert.match(line, /^!(!|[nmrijst][A-Za-z0-9.,:/*_-]+)$/)
      }
    }),
    { numRuns: scaled(20_000) },
  )
  assert.ok(
    made.every((count) => count > 0),
    made.join(),
  )
})

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
