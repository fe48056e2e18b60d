// Delegations: the parent is found from the root on, every server of it is asked, and silence is no answer. The servers of the test answer as ours do.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeMessage, emptyMessage } from '../../net/dns/message.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { parseName, parseZoneName, type ZoneName } from '../../net/dns/name.ts'
import { MemoryZone } from '../answer/memory-zone.ts'
import { respond } from '../answer/respond.ts'
import { signZone } from '../sign/sign-zone.ts'
import { rrsetsOf } from '../testing.ts'
import { checkDelegation, mergeViews, type ServerView } from './delegation.ts'
import { findParent, ParentNotFound, type FindOptions } from './find-parent.ts'

const soa = '@ 60 SOA ns. h. 1 60 60 60 60\n@ 60 NS ns.\n'
const digest = 'ab'.repeat(32)

/** Zones by the address of the server that has them. */
const servers: Readonly<Record<string, readonly [string, string][]>> = {
  '192.0.2.1': [
    [
      '.',
      `${soa}test. 60 NS a.test.\na.test. 60 A 192.0.2.2\ntest. 60 NS b.net.\nnet. 60 NS n.net.\nn.net. 60 A 192.0.2.4`,
    ],
  ],
  '192.0.2.2': [
    ['test.', `${soa}child 300 NS ns.child\nns.child 300 A 192.0.2.9\nchild 600 DS 1 13 2 ${digest}`],
  ],
  '192.0.2.3': [
    ['test.', `${soa}child 300 NS ns.child\nns.child 300 A 192.0.2.9\nchild 900 DS 1 13 2 ${digest}`],
  ],
  // The address of b.net. has no glue in the root, so it is queried.
  '192.0.2.4': [['net.', `${soa}b 60 A 192.0.2.3`]],
}

const zonesAt = (address: string): ReadonlyMap<ZoneName, MemoryZone> =>
  new Map(
    (servers[address] ?? []).map(([name, text]) => {
      const zone = parseZoneName(name)
      return [zone, new MemoryZone(zone, signZone(zone, rrsetsOf(zone, text), undefined))]
    }),
  )

const optionsWithout = (...silent: string[]): FindOptions => ({
  roots: [{ name: 'a.root.', addresses: [{ address: '192.0.2.1', port: 53 }] }],
  isAllowed: () => true,
  isDelegable: (zone) => zone !== 'never.invalid.',
  ask: ({ address }, question) =>
    silent.includes(address)
      ? Promise.reject(new Error('no answer'))
      : Promise.resolve(
          decodeMessage(
            respond(
              { zones: zonesAt(address) },
              encodeMessage({ ...emptyMessage, questions: [question] }),
              'tcp',
            )!,
          ),
        ),
})

const child = parseZoneName('child.test.')
const assigned = [parseName('ns.child.test.')]

describe('the parent of a zone', () => {
  it('is found from the root on, with servers that have no glue', async () => {
    const parent = await findParent(optionsWithout(), child)
    assert.deepEqual(
      parent.map(({ name, addresses }) => [name, addresses.map(({ address }) => address)]),
      [
        ['a.test.', ['192.0.2.2']],
        ['b.net.', ['192.0.2.3']],
      ],
    )
  })

  it('is the closest zone above a zone that is not delegated', async () => {
    const parent = await findParent(optionsWithout(), parseZoneName('other.test.'))
    assert.deepEqual(
      parent.map(({ name }) => name),
      ['a.test.', 'b.net.'],
    )
  })

  it('is not found if nobody answers, or for a name that has none', async () => {
    await assert.rejects(findParent(optionsWithout('192.0.2.1'), child), ParentNotFound)
    await assert.rejects(
      findParent(optionsWithout('192.0.2.2', '192.0.2.3'), parseZoneName('x.y.child.test.')),
      ParentNotFound,
    )
    await assert.rejects(findParent(optionsWithout(), parseZoneName('never.invalid.')), ParentNotFound)
  })
})

describe('a delegation', () => {
  it('has the DS records and the largest TTL of all servers', async () => {
    const { status, ds, isDsEverywhere, isComplete, nsTtl, dsTtl } = await checkDelegation(
      optionsWithout(),
      child,
      assigned,
    )
    assert.deepEqual(
      [status, ds.length, isDsEverywhere, isComplete, nsTtl, dsTtl],
      ['delegated', 1, true, true, 300, 900],
    )
  })

  it('is not complete while a server is silent', async () => {
    const { status, ds, isDsEverywhere, isComplete } = await checkDelegation(
      optionsWithout('192.0.2.3'),
      child,
      assigned,
    )
    assert.deepEqual([status, ds.length, isDsEverywhere, isComplete], ['delegated', 1, false, false])
  })

  it('is absent for a name without NS records, and elsewhere with those of others', async () => {
    const other = parseZoneName('other.test.')
    assert.equal((await checkDelegation(optionsWithout(), other, assigned)).status, 'absent')
    assert.equal(
      (await checkDelegation(optionsWithout(), child, [parseName('ns.ours.')])).status,
      'elsewhere',
    )
  })

  it('is not complete if servers differ, and unavailable without an answer', () => {
    const view = (ds: readonly Uint8Array[]): ServerView => ({ ns: assigned, nsTtl: 60, ds, dsTtl: 60 })
    const differing = mergeViews([view([Uint8Array.of(1)]), view([])], assigned)
    assert.deepEqual([differing.ds.length, differing.isComplete, differing.isDsEverywhere], [1, false, false])
    assert.equal(mergeViews([undefined, undefined], assigned).status, 'unavailable')
    assert.equal(mergeViews([], assigned).isComplete, false)
  })
})
