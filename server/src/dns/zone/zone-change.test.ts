// Differences between record sets, and the journal's octets. Pure.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseName, type DomainName } from '../../net/dns/name.ts'
import { parseRdata } from '../../net/dns/rdata/rdata.ts'
import { recordType } from '../../net/dns/type.ts'
import { decodeRrsets, encodeRrsets } from '../sign/rrset-list.ts'
import { setsBefore } from '../version/version.ts'
import { isEmpty, journalOf, planDifference, setId, type DesiredSet, type StoredSet } from './zone-change.ts'

const now = new Date('2026-04-01T00:00:00Z')
const a = (name: string, ...addresses: string[]): DesiredSet => ({
  name: parseName(name),
  type: recordType.A,
  ttl: 300,
  rdata: addresses.map((address) => parseRdata(recordType.A, address)),
  source: 'user',
})
const stored = (...sets: DesiredSet[]): StoredSet[] => [...planDifference([], sets, now).added]

describe('a difference', () => {
  it('is empty for the same records in another order, spelling or number', () => {
    const before = stored(a('www.example.', '192.0.2.1', '192.0.2.2'))
    const difference = planDifference(before, [a('WWW.Example.', '192.0.2.2', '192.0.2.1', '192.0.2.2')], now)
    assert.ok(isEmpty(difference))
    assert.equal(difference.unchangedCount, 1)
  })

  it('has a comment beside the version', () => {
    const before = stored(a('www.example.', '192.0.2.1'))
    const difference = planDifference(before, [{ ...a('www.example.', '192.0.2.1'), comment: 'x' }], now)
    assert.ok(isEmpty(difference))
    assert.equal(difference.commented.length, 1)
  })

  it('removes what is named without records, and nothing else', () => {
    const before = stored(a('a.example.', '192.0.2.1'), a('b.example.', '192.0.2.1'))
    const { removed, added, changed } = planDifference(before, [a('a.example.'), a('c.example.')], now)
    assert.deepEqual([removed.map(({ name }) => name), added, changed], [['a.example.'], [], []])
  })
})

describe('the journal', () => {
  const names = fc.constantFrom('a.example.', 'b.example.', 'c.a.example.', '\\000\\.x.example.')
  const addresses = fc.uniqueArray(fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'), { maxLength: 3 })
  const request = fc.uniqueArray(fc.tuple(names, addresses), { selector: ([name]) => name, maxLength: 4 })

  it('is decoded as it was encoded', () => {
    fc.assert(
      fc.property(request, (sets) => {
        const given = sets
          .map(([name, list]) => a(name, ...list))
          .map(({ name, type, ttl, rdata }) => ({ name, type, ttl, rdata }))
        assert.deepEqual(decodeRrsets(encodeRrsets(given)), given)
      }),
    )
  })

  it('leads back to any earlier version', () => {
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 6 }), (requests) => {
        let sets = new Map<string, StoredSet>()
        const states = [contentsOf(sets)]
        const versions: { what: string; removed: Buffer; added: Buffer }[] = []
        for (const one of requests) {
          const difference = planDifference(
            sets.values(),
            one.map(([name, list]) => a(name, ...list)),
            now,
          )
          const { removed, added } = journalOf(difference)
          versions.unshift({
            what: 'recordset.update',
            removed: encodeRrsets(removed),
            added: encodeRrsets(added),
          })
          sets = new Map(sets)
          for (const set of removed) sets.delete(setId(set))
          for (const set of added) sets.set(setId(set), set)
          states.push(contentsOf(sets))
        }
        for (const [version, state] of states.entries()) {
          const back = setsBefore(versions.slice(0, requests.length - version)).map((set): DesiredSet => ({
            ...set,
            ttl: 300,
          }))
          const difference = planDifference(sets.values(), back, now)
          const after = new Map(sets)
          for (const set of journalOf(difference).removed) after.delete(setId(set))
          for (const set of journalOf(difference).added) after.set(setId(set), set)
          assert.deepEqual(contentsOf(after), state)
        }
      }),
    )
  })

  const contentsOf = (sets: ReadonlyMap<string, StoredSet>): [DomainName, string][] =>
    [...sets.values()].map(({ name, content }): [DomainName, string] => [name, content]).toSorted()
})
