// DNSSEC with a real signed parent (Knot) and a real validating resolver (Unbound): every state from enabling to disabling without one SERVFAIL, and
// ways of doing it wrong, each of which the prober sees.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryUdp } from '@pharos/lab/authoritative-peer'
import { DnsProber } from '@pharos/lab/dns-prober'
import { skipWithout } from '@pharos/lab/program'
import { decodeMessage, emptyMessage } from '../../net/dns/message.ts'
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
import {
  defaultWaits,
  disabled,
  nextState,
  parentRequestOf,
  type ParentFacts,
  type Waits,
  type ZoneDnssec,
} from '../sign/key-state.ts'
import { childZone, startHierarchy, type Hierarchy } from './testing-parent.ts'
import { until, waitFor } from '../../../../lab/src/wait.ts'

const zone = parseZoneName(childZone)
const dataTtl = 2
const content = rrsetsOf(
  zone,
  `@  ${dataTtl} SOA ns hostmaster 1 60 60 1209600 1
   @  ${dataTtl} NS  ns
   ns ${dataTtl} A   127.0.0.1
   *  ${dataTtl} A   192.0.2.1`,
)
const seconds = (): number => Date.now() / 1000

type Ttls = { readonly ds: number; readonly key: number }

/** The child zone as the loops manage it: published content, and the last observed answer of the parent. */
class Child {
  #zone: ZoneDnssec = { status: 'disabled', isRemovalRequested: false, keys: [] }
  readonly #keys = new Map<number, SigningKey>()
  #delegation: Delegation | undefined
  #equal = 0
  #dsLastSeen: number | undefined
  readonly #ttl: Ttls
  readonly #waits: Waits
  served = new MemoryZone(zone, signZone(zone, content, undefined))

  constructor(ttl: Ttls, waits: Waits) {
    this.#ttl = ttl
    this.#waits = waits
  }

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

  /** The DS records requested by CDS. */
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
            this.#ttl.key,
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
      dsTtl: this.#ttl.ds,
      dsLastSeen: this.#dsLastSeen,
    }
    const facts = {
      isServed: true,
      canSign: true,
      isValid: true,
      zoneTtl: dataTtl,
      keyTtl: this.#ttl.key,
      propagation: 1,
      parent,
    }
    const { reason: _reason, due: _due, ...next } = nextState(this.#zone, facts, seconds(), this.#waits)
    if (JSON.stringify(next) !== JSON.stringify(this.#zone)) this.zone = next
  }
}

/** The child with its parent, and a prober at the resolver. */
class Scene {
  readonly child: Child
  readonly #ttl: Ttls
  readonly #hierarchy: Hierarchy
  readonly #find: FindOptions
  readonly prober: DnsProber

  constructor(child: Child, ttl: Ttls, hierarchy: Hierarchy) {
    this.child = child
    this.#ttl = ttl
    this.#hierarchy = hierarchy
    const roots = [{ name: 'parent', addresses: [{ address: '127.0.0.1', port: hierarchy.parentPort }] }]
    this.#find = {
      roots,
      isAllowed: () => true,
      isDelegable: () => true,
      ask: async ({ port }, question) =>
        decodeMessage(await queryUdp(port, encodeMessage({ ...emptyMessage, id: 7, questions: [question] }))),
    }
    this.prober = new DnsProber(hierarchy.resolverPort, childZone)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.prober[Symbol.asyncDispose]()
    await this.#hierarchy.close()
  }

  setDs(rdata: readonly Uint8Array[]): Promise<void> {
    return this.#hierarchy.setDs(rdata, this.#ttl.ds)
  }

  /** Runs the loops until the condition holds, then a little longer than any cache. */
  async runUntil(isDone: () => boolean, restSeconds = 0): Promise<void> {
    const run = async () => {
      if (isDone()) return true
      await this.child.run(this.#find)
      return undefined
    }
    await waitFor(String(isDone), run, { everyMs: 200 })
    for (const until = seconds() + restSeconds; seconds() < until; await sleep(200))
      await this.child.run(this.#find)
  }

  enable(): void {
    this.child.zone = { ...this.child.zone, status: 'signing', keys: [] }
    this.child.addKey()
  }

  /**
   * Signs without the steps of the rollover and waits for the resolver to validate: earlier caches do not matter here.
   */
  async activate(): Promise<void> {
    const { child } = this
    this.enable()
    const keys = child.zone.keys.map((key) => ({ ...key, state: 'active' as const }))
    child.zone = { ...child.zone, status: 'active', keys }
    await this.setDs(child.wantedDs)
    await waitFor('the resolver validates', () => this.prober.look().validated > 0)
    this.prober.look()
  }

  /** Runs until the resolver has failed since the last look. */
  async fails(): Promise<void> {
    await this.runUntil(() => this.prober.look().failures > 0)
  }

  /** Adds a key, has the parent follow, and lets the old one go. */
  async rollOver(restSeconds = 0): Promise<void> {
    const { child } = this
    child.addKey()
    await this.runUntil(() => child.zone.keys.at(-1)!.state === 'active')
    await this.setDs(child.wantedDs)
    await this.runUntil(
      () => child.zone.keys.filter(({ state }) => state !== 'removed').length === 1,
      restSeconds,
    )
  }
}

async function createScene(ttl: Ttls, waits = defaultWaits): Promise<Scene> {
  const child = new Child(ttl, waits)
  return new Scene(child, ttl, await startHierarchy(() => ({ zones: new Map([[zone, child.served]]) })))
}

/** In seconds: caches have it as long as a test takes, on any machine. */
const lasting = 3_600

const options = { skip: skipWithout('knotd', 'knotc', 'unbound'), concurrency: true }

describe('DNSSEC before a validating resolver', options, () => {
  it('is enabled, replaces its key and is disabled without a failure', async () => {
    const ttl = { ds: 3, key: 4 }
    await using scene = await createScene(ttl)
    const { child, prober } = scene
    scene.enable()
    await scene.runUntil(() => child.zone.status === 'pending_ds')
    await scene.setDs(child.wantedDs)
    await scene.runUntil(() => child.zone.status === 'active', 4)
    assert.equal(prober.look().failures, 0)
    const before = prober.counts.answers
    await until(() => prober.counts.answers > before + 5)
    const active = prober.look()
    assert.deepEqual([active.failures, active.validated], [0, active.answers])

    await scene.rollOver(ttl.key + ttl.ds)
    const rolled = prober.look()
    assert.deepEqual([rolled.failures, rolled.validated], [0, rolled.answers])

    child.zone = { ...child.zone, status: 'pending_disabled', isRemovalRequested: true }
    assert.deepEqual([...child.wantedDs[0]!], [0, 0, 0, 0, 0])
    await scene.runUntil(() => true, 1)
    await scene.setDs([])
    await scene.runUntil(() => child.zone.status === 'disabled', ttl.key + ttl.ds)
    const { failures, answers } = prober.look()
    assert.deepEqual([failures, answers > 20], [0, true])
  })

  it('fails if the DS record of a new key is entered before every cache has the key', async () => {
    await using scene = await createScene({ ds: 3, key: lasting }, { ...defaultWaits, introduce: () => 0 })
    await scene.activate()
    await scene.rollOver()
    await scene.fails()
  })

  it('fails if a replaced key is removed while caches have its DS record', async () => {
    await using scene = await createScene({ ds: lasting, key: 3 }, { ...defaultWaits, retire: () => 0 })
    await scene.activate()
    await scene.rollOver()
    await scene.fails()
  })

  it('fails if it is disabled after the TTL of the DS record alone', async () => {
    const waits: Waits = { ...defaultWaits, unsign: (_, { dsTtl }) => dsTtl }
    await using scene = await createScene({ ds: 3, key: lasting }, waits)
    await scene.activate()
    scene.child.zone = { ...scene.child.zone, status: 'pending_disabled', isRemovalRequested: true }
    await scene.setDs([])
    await scene.runUntil(() => scene.child.zone.status === 'disabled')
    await scene.fails()
  })

  it('fails if it is disabled by force while the parent has a DS record', async () => {
    const ttl = { ds: 3, key: 4 }
    await using scene = await createScene(ttl)
    await scene.activate()
    scene.child.zone = disabled(scene.child.zone)
    await scene.fails()
  })
})
