import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Asn } from '../net/asn.ts'
import { findAsSetMember } from './as-set.ts'
import type { AsSetMembers } from './irr-source.ts'
import { scaled } from '../runtime/testing-scale.ts'

/** Numbers are ASNs, texts are sets. */
type Sets = Readonly<Record<string, readonly (number | string)[]>>

function lookup(sets: Sets) {
  const asked: string[] = []
  const membersOf = async (name: string): Promise<AsSetMembers | undefined> => {
    asked.push(name)
    if (!Object.hasOwn(sets, name)) return undefined
    return {
      asns: sets[name]!.filter((member) => typeof member === 'number') as Asn[],
      sets: sets[name]!.filter((member) => typeof member === 'string'),
    }
  }
  return { asked, membersOf }
}

const wide = { depthMax: 100, setsMax: 100 }
const of = (...asns: number[]) => new Set(asns as Asn[])

describe('findMember', () => {
  it('queries each set once, even if sets contain each other, and none after the member is found', async () => {
    const { asked, membersOf } = lookup({
      'AS-A': ['AS-B', 'AS-A', 'AS-C'],
      'AS-B': ['AS-A', 'AS-C', 'AS-D'],
      'AS-C': [1, 2],
      'AS-D': [1],
    })
    assert.deepEqual(await findAsSetMember('AS-A', of(9), membersOf, wide), { found: false })
    assert.deepEqual(asked, ['AS-A', 'AS-B', 'AS-C', 'AS-D'])
    asked.length = 0
    const found = await findAsSetMember('AS-A', of(1), membersOf, wide)
    assert.deepEqual(found, { found: true, asn: 1, through: ['AS-A', 'AS-C'] })
    assert.deepEqual(asked, ['AS-A', 'AS-B', 'AS-C'])
  })

  it('queries no more sets than the limit, and reports that', async () => {
    const names = Array.from({ length: 500 }, (_, at) => `AS-N${at}`)
    const { asked, membersOf } = lookup({ 'AS-A': names })
    const found = await findAsSetMember('AS-A', of(1), membersOf, { depthMax: 5, setsMax: 20 })
    assert.deepEqual(found, { found: false, reason: 'AS-A contains more than 20 sets' })
    assert.equal(asked.length, 20)
  })

  it('rejects if a set cannot be queried', async () => {
    const fails = () => Promise.reject(new Error('down'))
    await assert.rejects(findAsSetMember('AS-A', of(1), fails, wide), /down/)
  })

  const name = fc.constantFrom('AS-A', 'AS-B', 'AS-C', 'AS-D', 'AS-E')
  const member = fc.oneof(name, fc.integer({ min: 1, max: 8 }))
  const anySets = fc.dictionary(name, fc.array(member, { minLength: 1, maxLength: 4 }), { maxKeys: 5 })

  it('finds a member if one is reachable, with an existing path', async () => {
    await fc.assert(
      fc.asyncProperty(
        anySets,
        fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 2 }),
        async (sets, wanted) => {
          const found = await findAsSetMember('AS-A', of(...wanted), lookup(sets).membersOf, wide)
          assert.equal(
            found.found,
            [...closure(sets)].some((asn) => wanted.includes(asn)),
          )
          if (!found.found) return
          assert.ok(wanted.includes(found.asn))
          const way = [...found.through, found.asn]
          assert.equal(way[0], 'AS-A')
          for (const [at, step] of way.slice(1).entries()) assert.ok((sets as Sets)[way[at]!]!.includes(step))
        },
      ),
      { numRuns: scaled(2_000) },
    )
  })
})

/** Every ASN below AS-A. */
function closure(sets: Sets): Set<number> {
  const names = new Set(['AS-A'])
  const asns = new Set<number>()
  for (const name of names) {
    for (const member of sets[name] ?? []) {
      if (typeof member === 'number') asns.add(member)
      else names.add(member)
    }
  }
  return asns
}
