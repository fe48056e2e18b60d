// The signing thread returns the same sets as signing in place, without blocking the event loop.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { longestTurn } from '@pharos/lab/longest-turn'
import { skipWithout } from '@pharos/lab/program'
import { parseZoneName } from '../../net/dns/name.ts'
import { assertVerified, rrsetsOf, verifiers } from '../testing.ts'
import { keySets } from './key-sets.ts'
import { signInThread } from './sign-in-thread.ts'
import { setKey, signZone } from './sign-zone.ts'
import { signingOf } from './testing.ts'

const zone = parseZoneName('example.')
const signing = signingOf(zone)
const dnskeys = signing.keys.map(({ dnskey }) => dnskey)
const content = (names: number) => [
  ...rrsetsOf(
    zone,
    `@ 3600 SOA ns hostmaster 1 3600 900 1209600 300
     @ 3600 NS ns.other.
     ${Array.from({ length: names }, (_, i) => `host${i} 300 A 192.0.2.${i % 256}`).join('\n')}`,
  ),
  ...keySets(zone, dnskeys, { request: 'none' }, 3600),
]

describe('signing in a thread', () => {
  it('returns a zone that verifiers accept', { skip: skipWithout(...verifiers) }, async () => {
    assertVerified(zone, await signInThread(zone, content(1000), signing))
  })

  it('keeps the signatures of the zone as served', async () => {
    const served = new Map([...signZone(zone, content(600), signing)].map((set) => [setKey(set), set]))
    const again = await signInThread(zone, content(600), signing, served)
    assert.deepEqual(
      again.map(({ rrsig }) => rrsig.map((octets) => Buffer.from(octets).toString('hex'))),
      [...served.values()].map(({ rrsig }) => rrsig.map((octets) => Buffer.from(octets).toString('hex'))),
    )
  })

  it('throws what signing throws', async () => {
    await assert.rejects(signInThread(zone, [], signing), { message: 'the zone has no SOA' })
  })

  it('never blocks the event loop for a fifth of the time of signing in place', async () => {
    const sets = content(5000)
    const before = process.threadCpuUsage()
    assert.ok([...signZone(zone, sets, signing)].length > 5000)
    const { user, system } = process.threadCpuUsage(before)
    const inPlaceMs = (user + system) / 1000
    let blockedMs = Infinity
    // The collector of garbage can add to any turn.
    for (let run = 0; run < 3 && blockedMs >= inPlaceMs / 5; run += 1)
      blockedMs = Math.min(blockedMs, (await longestTurn(() => signInThread(zone, sets, signing))).longestMs)
    assert.ok(blockedMs < inPlaceMs / 5, `${blockedMs} ms of ${inPlaceMs} ms`)
  })
})
