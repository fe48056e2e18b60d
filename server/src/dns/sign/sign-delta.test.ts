// Deltas: any sequence of changes leaves the zone as signing it whole would, and three verifiers accept it.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { skipWithout } from '@pharos/lab/program'
import { nameToWire, parseName, parseZoneName } from '../../net/dns/name.ts'
import type { Rrset, SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { MemoryZone } from '../answer/memory-zone.ts'
import { assertVerified, rrsetsOf, verifiers, zoneFileOf } from '../testing.ts'
import { keySets } from './key-sets.ts'
import { signDelta, type RrsetChange } from './sign-delta.ts'
import { signZone } from './sign-zone.ts'
import type { SignatureSettings } from './signature.ts'
import { signingOf } from './testing.ts'
import { differenceOf } from './transfer.ts'

const zone = parseZoneName('example.')
const apex = rrsetsOf(
  zone,
  `@ 3600 SOA ns.other. hostmaster 1 3600 900 1209600 300
   @ 3600 NS  ns.other.`,
)

/** A zone before its first change, and its desired content by `key`. */
function startOf(signing: SignatureSettings | undefined): { model: Map<string, Rrset>; served: MemoryZone } {
  const dnskeys = signing?.keys.map(({ dnskey }) => dnskey) ?? []
  const sets = [...apex, ...keySets(zone, dnskeys, { request: 'keys', dnskeys }, 3600)]
  const model = new Map(sets.map((set) => [key(set), set]))
  return { model, served: new MemoryZone(zone, signZone(zone, sets, signing)) }
}

const key = ({ name, type }: Pick<Rrset, 'name' | 'type'>): string => `${name} ${type}`

const target = nameToWire(parseName('ns.other.'))
const data: Readonly<Record<number, Uint8Array>> = {
  [recordType.A]: Uint8Array.of(192, 0, 2, 1),
  [recordType.TXT]: Uint8Array.of(1, 65),
  [recordType.NS]: target,
  [recordType.DS]: Uint8Array.from([0, 1, 13, 2, ...Array<number>(32).fill(7)]),
  [recordType.DNAME]: target,
}

type Step = { readonly labels: readonly string[]; readonly type: number; readonly ttl: number | undefined }

const stepOf = (types: readonly number[]): fc.Arbitrary<Step> =>
  fc.record({
    labels: fc.array(fc.constantFrom('a', 'b', 'c', '*', 'ab'), { minLength: 1, maxLength: 4 }),
    type: fc.constantFrom(...types),
    ttl: fc.constantFrom(undefined, undefined, 60, 300),
  })

/** Applies the steps of a version to the model; the last step of a set wins. */
function changeOf(model: Map<string, Rrset>, steps: readonly Step[]): RrsetChange[] {
  const changes = new Map<string, RrsetChange>()
  for (const { labels, type, ttl } of steps) {
    const name = parseName(`${labels.join('.')}.${zone}`)
    const after = ttl === undefined ? undefined : { name, type, ttl, rdata: [data[type]!] }
    changes.set(key({ name, type }), { name, type, after })
    if (after) model.set(key(after), after)
    else model.delete(key({ name, type }))
  }
  return [...changes.values()]
}

/** Everything but the signatures themselves. */
const shapeOf = (sets: Iterable<SignedRrset>): string[] =>
  [...sets].map((set) => `${zoneFileOf([{ ...set, rrsig: [] }])} ${set.rrsig.length} signatures`).sort()

describe('a delta', () => {
  const types = Object.keys(data).map(Number)
  const versions = fc.array(fc.array(stepOf(types), { minLength: 1, maxLength: 8 }), { maxLength: 12 })

  for (const denial of ['nsec', 'nsec3', undefined] as const) {
    it(`leaves the zone as signing it whole would, and changes nothing the second time: ${denial}`, async () => {
      const signing = denial && signingOf(zone, denial)
      const property = fc.asyncProperty(versions, async (versions) => {
        const { model, served } = startOf(signing)
        for (const steps of versions) {
          const change = changeOf(model, steps)
          served.apply((await signDelta(zone, served, change, signing))!)
          assert.deepEqual(await signDelta(zone, served, change, signing), [])
          assert.deepEqual(shapeOf(served.sets()), shapeOf(signZone(zone, model.values(), signing)))
        }
      })
      await fc.assert(property, { numRuns: 50 })
    })
  }

  it('is verified after 100 changes', { skip: skipWithout(...verifiers) }, async () => {
    // Names below a DNAME, and NS of a wildcard, are refused by verifiers.
    const valid = stepOf([recordType.A, recordType.TXT, recordType.NS]).filter(
      ({ labels, type }) => type !== recordType.NS || labels[0] !== '*',
    )
    for (const denial of ['nsec', 'nsec3'] as const) {
      const signing = signingOf(zone, denial)
      const { model, served } = startOf(signing)
      const versions = fc.sample(fc.array(valid, { minLength: 1, maxLength: 4 }), { numRuns: 100 })
      for (const steps of versions) {
        served.apply((await signDelta(zone, served, changeOf(model, steps), signing))!)
      }
      assertVerified(zone, served.sets())
    }
  })

  it('touches one set and its neighbour in the chain, and keeps all other signatures', async () => {
    const signing = signingOf(zone)
    const { served } = startOf(signing)
    const [after] = rrsetsOf(zone, 'www 60 A 192.0.2.1')
    const changes = (await signDelta(zone, served, [{ ...after!, after: after! }], signing))!
    assert.deepEqual(
      changes.map(({ before, after }) => [before?.name, after?.name, after?.type]),
      [
        [undefined, 'www.example.', recordType.A],
        ['example.', 'example.', recordType.NSEC],
        [undefined, 'www.example.', recordType.NSEC],
      ],
    )
  })

  it('asks for the whole zone if the keys, the chain, or the negative TTL differ', async () => {
    const signing = signingOf(zone)
    const { served } = startOf(signing)
    const others = [signingOf(zone), { ...signing, denial: 'nsec3' as const }, undefined]
    for (const other of others) assert.equal(await signDelta(zone, served, [], other), undefined)
    const [after] = rrsetsOf(zone, '@ 3600 SOA ns.other. hostmaster 2 3600 900 1209600 60')
    assert.equal(await signDelta(zone, served, [{ ...after!, after: after! }], signing), undefined)
  })

  it('transfers only the records and signatures that differ', () => {
    const [before] = rrsetsOf(zone, 'www 60 A 192.0.2.1\nwww 60 A 192.0.2.2')
    const [after] = rrsetsOf(zone, 'www 60 A 192.0.2.2\nwww 60 A 192.0.2.3')
    const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)]
    const { removed, added } = differenceOf([
      { before: { ...before!, rrsig: [one] }, after: { ...after!, rrsig: [two] } },
    ])
    assert.deepEqual(removed, [{ ...before!, rdata: [before!.rdata[0]], rrsig: [one] }])
    assert.deepEqual(added, [{ ...after!, rdata: [after!.rdata[1]], rrsig: [two] }])
  })
})
