// DNSSEC with a real signed parent (Knot) and a real validating resolver (Unbound): every state from enabling to disabling without one SERVFAIL, and
// two ways of doing it wrong, which the prober sees.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryUdp } from '@pharos/lab/authoritative-peer'
import { skipWithout } from '@pharos/lab/program'
import { decodeMessage, emptyMessage, rcode } from '../../net/dns/message.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { parseName, parseZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { MemoryZone } from '../answer/memory-zone.ts'
import { isDsOf } from '../sign/dnskey.ts'
import { keySets, type ParentRequest } from '../sign/key-sets.ts'
import { signZone } from '../sign/sign-zone.ts'
import { defaultTimes } from '../sign/signature.ts'
import { createSigningKey, type SigningKey } from '../sign/signing-key.ts'
import { rrsetsOf } from '../testing.ts'
import { checkDelegation, type Delegation } from './delegation.ts'
import type { FindOptions } from './find-parent.ts'
import { nextState, parentRequestOf, disabled, type ParentFacts, type ZoneDnssec } from './state.ts'
import { childZone, startHierarchy, type Hierarchy } from './testing-parent.ts'

const zone = parseZoneName(childZone)
const [dsTtl, keyTtl, dataTtl] = [3, 4, 2]
const content = rrsetsOf(
  zone,
  `@  ${dataTtl} SOA ns hostmaster 1 60 60 1209600 1
   @  ${dataTtl} NS  ns
   ns ${dataTtl} A   127.0.0.1
   *  ${dataTtl} A   192.0.2.1`,
)
const seconds = (): number => Date.now() / 1000

/** The child, as the loops keep it: published content, and what the parent was last seen to have. */
class Child {
  #zone: ZoneDnssec = { status: 'disabled', isRemovalRequested: false, keys: [] }
  readonly #keys = new Map<number, SigningKey>()
  #delegation: Delegation | undefined
  #equal = 0
  #dsLastSeen: number | undefined
  served = new MemoryZone(zone, signZone(zone, content, undefined))
  keyTtl = keyTtl

  get zone(): ZoneDnssec {
    return this.#zone
  }

  set zone(next: ZoneDnssec) {
    this.#zone = next
    this.#publish()
  }

  addKey(): void {
    const id = this.#keys.size + 1
    this.#keys.set(id, createSigningKey(13, 'csk'))
    const key = {
      id,
      state: 'introduced',
      introduced: undefined,
      dsSeen: undefined,
      retired: undefined,
    } as const
    this.zone = { ...this.#zone, keys: [...this.#zone.keys, key] }
  }

  /** The DS records that CDS asks for. */
  get wantedDs(): readonly Uint8Array[] {
    return this.served.find(zone, recordType.CDS)?.rdata ?? []
  }

  #publish(): void {
    const present = this.#zone.keys
      .filter(({ state }) => state !== 'removed')
      .map(({ id }) => this.#keys.get(id)!)
    const request = parentRequestOf(this.#zone)
    const parent: ParentRequest =
      request.request === 'keys'
        ? { request: 'keys', dnskeys: request.ids.map((id) => this.#keys.get(id)!.dnskey) }
        : request
    const published =
      present.length === 0
        ? []
        : keySets(
            zone,
            present.map(({ dnskey }) => dnskey),
            parent,
            this.keyTtl,
          )
    const signing = { zone, keys: present, denial: 'nsec', now: seconds(), times: defaultTimes } as const
    const sets = signZone(zone, [...content, ...published], present.length === 0 ? undefined : signing)
    this.served = new MemoryZone(zone, sets)
  }

  /** One run of both loops. */
  async run(find: FindOptions): Promise<void> {
    const delegation = await checkDelegation(find, zone, [parseName('ns.child.test.')])
    const isEqual = delegation.isComplete && String(this.#delegation?.ds) === String(delegation.ds)
    this.#equal = isEqual ? this.#equal + 1 : 1
    if (delegation.ds.length > 0 || (this.#delegation?.ds.length ?? 0) > 0) this.#dsLastSeen = seconds()
    this.#delegation = delegation
    const withDs = [...this.#keys].filter(([, { dnskey }]) =>
      delegation.ds.some((ds) => isDsOf(zone, ds, dnskey)),
    )
    const ids = withDs.map(([id]) => id)
    const parent: ParentFacts = {
      checked: seconds(),
      isSettled: this.#equal >= 3,
      hasDs: delegation.ds.length > 0,
      dsAnywhere: ids,
      dsEverywhere: delegation.isDsEverywhere ? ids : [],
      dsTtl,
      dsLastSeen: this.#dsLastSeen,
    }
    const facts = {
      isServed: true,
      canSign: true,
      isValid: true,
      zoneTtl: dataTtl,
      keyTtl,
      propagation: 1,
      parent,
    }
    const { reason: _reason, due: _due, ...next } = nextState(this.#zone, facts, seconds())
    if (JSON.stringify(next) !== JSON.stringify(this.#zone)) this.zone = next
  }
}

describe('DNSSEC before a validating resolver', { skip: skipWithout('knotd', 'knotc', 'unbound') }, () => {
  const child = new Child()
  let hierarchy: Hierarchy
  let find: FindOptions
  const stop = new AbortController()
  /** Answers by RCODE and AD since the last look. */
  let seen = new Map<string, number>()
  let prober: Promise<void>

  before(async () => {
    hierarchy = await startHierarchy(() => ({ zones: new Map([[zone, child.served]]) }))
    const roots = [{ name: 'parent', addresses: [{ address: '127.0.0.1', port: hierarchy.parentPort }] }]
    find = {
      roots,
      isAllowed: () => true,
      isDelegable: () => true,
      ask: async ({ port }, question) =>
        decodeMessage(await queryUdp(port, encodeMessage({ ...emptyMessage, id: 7, questions: [question] }))),
    }
    prober = probe()
  })
  after(async () => {
    stop.abort()
    await prober
    await hierarchy.close()
  })

  /** Asks for a name that no cache has, all the time. */
  async function probe(): Promise<void> {
    while (!stop.signal.aborted) {
      const name = parseName(`r${Math.random().toString(36).slice(2)}.${childZone}`)
      const answer = await hierarchy.resolve(name, recordType.A).catch(() => undefined)
      const key = `${answer?.rcode} ${answer?.ad ? 'AD' : '-'}`
      seen.set(key, (seen.get(key) ?? 0) + 1)
      await sleep(25)
    }
  }

  function look(): { readonly failures: number; readonly secure: number; readonly answers: number } {
    const counts = [...seen]
    seen = new Map()
    const sum = (of: (key: string) => boolean): number =>
      counts.filter(([key]) => of(key)).reduce((total, [, count]) => total + count, 0)
    return {
      failures: sum((key) => !key.startsWith(`${rcode.NOERROR} `)),
      secure: sum((key) => key.endsWith('AD')),
      answers: sum(() => true),
    }
  }

  /** Runs the loops until the condition holds, then a little longer than any cache. */
  async function runUntil(isDone: () => boolean, restSeconds = 0): Promise<void> {
    const end = seconds() + 60
    while (!isDone()) {
      assert.ok(seconds() < end, JSON.stringify(child.zone))
      await child.run(find)
      await sleep(200)
    }
    for (const until = seconds() + restSeconds; seconds() < until; await sleep(200)) await child.run(find)
  }

  const enable = async (): Promise<void> => {
    child.zone = { ...child.zone, status: 'signing', keys: [] }
    child.addKey()
    await runUntil(() => child.zone.status === 'pending_ds')
    hierarchy.setDs(child.wantedDs, dsTtl)
    await runUntil(() => child.zone.status === 'active', 4)
  }

  it('is enabled without a failure, and is then validated', async () => {
    await enable()
    look()
    await sleep(1000)
    const { failures, secure, answers } = look()
    assert.deepEqual([failures, secure === answers, answers > 5], [0, true, true])
  })

  it('replaces the key without a failure', async () => {
    child.addKey()
    await runUntil(() => child.zone.keys.at(-1)!.state === 'active')
    hierarchy.setDs(child.wantedDs, dsTtl)
    await runUntil(
      () => child.zone.keys.filter(({ state }) => state !== 'removed').length === 1,
      keyTtl + dsTtl,
    )
    const { failures, secure, answers } = look()
    assert.deepEqual([failures, secure], [0, answers])
  })

  it('is disabled without a failure', async () => {
    child.zone = { ...child.zone, status: 'pending_disabled', isRemovalRequested: true }
    assert.deepEqual([...child.wantedDs[0]!], [0, 0, 0, 0, 0])
    await runUntil(() => true, 1)
    hierarchy.setDs([], dsTtl)
    await runUntil(() => child.zone.status === 'disabled', keyTtl + dsTtl)
    const { failures, answers } = look()
    assert.deepEqual([failures, answers > 20], [0, true])
  })

  /** Signs at once and waits for the resolver to validate: what caches held before does not matter here. */
  async function activate(): Promise<void> {
    child.zone = { ...child.zone, status: 'signing', keys: [] }
    child.addKey()
    child.zone = {
      ...child.zone,
      status: 'active',
      keys: child.zone.keys.map((key) => ({ ...key, state: 'active' })),
    }
    hierarchy.setDs(child.wantedDs, dsTtl)
    for (let secure = 0; secure === 0; secure = look().secure) await sleep(500)
  }

  it('fails if it is disabled after the TTL of the DS record alone', async () => {
    child.keyTtl = 12
    await activate()
    hierarchy.setDs([], dsTtl)
    await sleep((dsTtl + 0.5) * 1000)
    assert.equal(look().failures, 0)
    child.zone = disabled(child.zone)
    await sleep(4000)
    assert.ok(look().failures > 0)
  })

  // The last one: a resolver keeps it in mind for a minute that the keys of a zone were bogus.
  it('fails if it is disabled by force while the parent has a DS record', async () => {
    await activate()
    child.zone = disabled(child.zone)
    await sleep((keyTtl + 1) * 1000)
    assert.ok(look().failures > 0)
  })
})
