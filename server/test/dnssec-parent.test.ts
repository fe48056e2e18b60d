// DNSSEC of a zone between the API, a real parent (Knot) and a resolver that validates (Unbound): the loop of
// delegations queries the parent and stores its answers in PostgreSQL, the states follow, and after each change of
// denial or algorithm verifiers and the resolver accept the zone.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { skipWithout } from '@pharos/lab/program'
import { createTestApi, type TestApi } from './api.ts'
import { addDnsTeam, type DnsTeam } from './support/dns.ts'
import { checkDelegations } from '../src/dns/dnssec/check-delegations.ts'
import { evaluateZone } from '../src/dns/dnssec/evaluate-dnssec.ts'
import type { FindOptions } from '../src/dns/dnssec/find-parent.ts'
import { childZone, startHierarchy, type Hierarchy } from '../src/dns/dnssec/testing-parent.ts'
import { publishZone } from '../src/dns/publish/publish-zone.ts'
import { ServedZones } from '../src/dns/serve/served-zones.ts'
import { signZone } from '../src/dns/sign/sign-zone.ts'
import { assertVerified, rolloverVerifiers, verifiers } from '../src/dns/testing.ts'
import { exchange } from '../src/drivers/dns-follower/exchange.ts'
import { rcode } from '../src/net/dns/message.ts'
import { parseName, parseZoneName, type DomainName } from '../src/net/dns/name.ts'
import { parseRdata } from '../src/net/dns/rdata/rdata.ts'
import type { SignedRrset } from '../src/net/dns/record.ts'
import { recordType } from '../src/net/dns/type.ts'
import { silentLog } from '../src/runtime/log.ts'

const zoneName = parseZoneName(childZone)
const signal = new AbortController().signal

describe('a signed zone and its parent', { skip: skipWithout('knotd', 'unbound', ...verifiers) }, () => {
  let api: TestApi
  let red: DnsTeam
  let zones: ServedZones
  let id: number
  let hierarchy: Hierarchy
  let isSilent = false
  before(async () => {
    api = await createTestApi()
    red = await addDnsTeam(api, 'red')
    zones = new ServedZones({ db: db(), isInMemory: true, now: () => new Date() })
    const created = await red.call('POST', '/zones', {
      name: 'child.test',
      dnssec: false,
      nameservers: ['ns.child.test.'],
      recordsets: [
        { name: 'ns', type: 'A', records: ['127.0.0.1'] },
        { name: 'www', type: 'A', records: ['192.0.2.1'] },
        { name: '*.wild', type: 'TXT', records: ['"any"'] },
      ],
    })
    assert.equal(created.status, 201, created.text)
    id = created.body.id
    await settle()
    hierarchy = await start()
  })
  after(async () => {
    await hierarchy?.close()
    await api?.[Symbol.asyncDispose]()
  })

  const db = () => api.database.postgres.owner
  const start = () => startHierarchy(() => ({ zones: zones.contents }))

  /** Whole waits are the subject of key-state.test.ts; here the resolver starts without a cache instead. */
  // States have whole seconds: an observation in this second is past.
  const waits = { introduce: () => 0, retire: () => -1, unsign: () => -1 }
  async function settle(): Promise<void> {
    const deps = { db: db(), ring: api.config.secret, signWhole: signZone, now: () => new Date(), waits }
    for (let round = 0; round < 4; round++) {
      await publishZone(deps, id)
      await evaluateZone(deps, id)
    }
    await zones.refresh(false)
  }

  const find: FindOptions = {
    ask({ address, port }, question) {
      if (isSilent) return Promise.reject(new Error('silence'))
      return exchange({ address, port, timeoutMs: 2_000 }, { questions: [question] })
    },
    get roots() {
      return [{ name: 'test.', addresses: [{ address: '127.0.0.1', port: hierarchy.parentPort }] }]
    },
    isAllowed: () => true,
    isDelegable: () => true,
  }

  /** Checks the delegation as often as given, each time as if it were due. */
  async function check(times = 1): Promise<Record<string, unknown>> {
    for (let i = 0; i < times; i++) {
      await sql`update dns_delegations set due = now() - interval '1 s'`.execute(db())
      await checkDelegations(
        { db: db(), find, now: () => new Date(), cacheSeconds: 86_400 },
        silentLog,
        signal,
      )
    }
    const { rows } = await sql<Record<string, unknown>>`
      select status, ns, cardinality(ds) as ds, is_ds_everywhere, equal_answers, ds_ttl, leased_until,
        ds_first_seen is not null as is_first_seen, ds_last_seen = checked as is_last_seen,
        extract(epoch from due - checked)::integer as due
      from dns_delegations where zone_id = ${id}`.execute(db())
    return rows[0]!
  }

  const dnssec = async () => (await red.call('GET', `/zones/${id}/dnssec`)).body
  const post = async (body: object) => {
    const answer = await red.call('POST', `/zones/${id}/dnssec`, body)
    assert.equal(answer.status, 202, answer.text)
    return answer.body
  }
  const setDs = (texts: readonly string[]) =>
    hierarchy.setDs(
      texts.map((text) => parseRdata(recordType.DS, text)),
      3,
    )

  const resolve = (name: DomainName, type: number) =>
    exchange(
      { address: '127.0.0.1', port: hierarchy.resolverPort, timeoutMs: 10_000 },
      {
        questions: [{ name, type, class: 1 }],
        rd: true,
        edns: { udpSize: 1_232, version: 0, do: true, options: [] },
      },
    )

  const served = async (): Promise<SignedRrset[]> => Array.fromAsync((await zones.open(zoneName))!.sets)

  /** Verifiers accept the zone, and a resolver without a cache validates every kind of answer. */
  async function isValid(
    ds: readonly string[],
    programs: typeof rolloverVerifiers = verifiers,
  ): Promise<void> {
    assertVerified(zoneName, await served(), programs)
    await hierarchy.close()
    hierarchy = await start()
    await setDs(ds)
    const questions = [
      ['www', recordType.A, rcode.NOERROR],
      ['a.wild', recordType.TXT, rcode.NOERROR],
      ['www', recordType.AAAA, rcode.NOERROR],
      ['nothing', recordType.A, rcode.NXDOMAIN],
    ] as const
    for (const [label, type, expected] of questions) {
      const answer = await resolve(parseName(label, zoneName), type)
      assert.deepEqual([label, answer.rcode, answer.ad], [label, expected, true])
    }
  }

  it('has a delegation that is read from every server of the parent, into rows', async () => {
    const first = await check()
    assert.deepEqual(
      [first['status'], first['ns'], first['ds'], first['equal_answers'], first['leased_until']],
      ['delegated', ['ns.child.test.'], 0, 1, null],
    )
    assert.equal(first['due'], 3_600, 'a zone without DNSSEC waits for nothing')
    assert.equal((await check(2))['equal_answers'], 3)
    const { nameservers } = (await red.call('GET', `/zones/${id}`)).body
    assert.equal(nameservers.delegation_status, 'delegated')
  })

  it('becomes active when the DS record is there three times, and no answer is no change', async () => {
    await post({})
    await settle()
    assert.equal((await dnssec()).status, 'pending_ds')
    const { ds_records: ds } = await dnssec()
    await isValid(ds)
    const seen = await check()
    assert.deepEqual(
      [
        seen['ds'],
        seen['is_ds_everywhere'],
        seen['is_first_seen'],
        seen['is_last_seen'],
        seen['ds_ttl'],
        seen['due'],
      ],
      [2, true, true, true, 3, 3],
    )
    await settle()
    assert.equal((await dnssec()).status, 'pending_ds')
    isSilent = true
    const silent = await check(2)
    assert.deepEqual([silent['status'], silent['ds'], silent['equal_answers']], ['unavailable', 2, 0])
    const unknown = (await dnssec()).parent
    assert.deepEqual([unknown.ds_present, unknown.ds_matches, unknown.ds_records.length], [null, null, 2])
    isSilent = false
    await check(2)
    await settle()
    assert.equal((await dnssec()).status, 'pending_ds')
    await check()
    await settle()
    const { status, parent } = await dnssec()
    assert.deepEqual([status, parent.ds_matches], ['active', true])
  })

  it('is valid after a change to NSEC3, and back, without another key', async () => {
    const { ds_records: ds } = await dnssec()
    const { keys } = await post({ nsec3: true })
    await settle()
    const types = new Set((await served()).map(({ type }) => type))
    assert.deepEqual([types.has(recordType.NSEC3), types.has(recordType.NSEC)], [true, false])
    await isValid(ds)
    await post({ nsec3: false })
    await settle()
    assert.ok(
      (await served()).every(({ type }) => type !== recordType.NSEC3 && type !== recordType.NSEC3PARAM),
    )
    await isValid(ds)
    assert.deepEqual((await dnssec()).keys[0].id, keys[0].id)
  })

  it('is valid in every step of a change to Ed25519 with NSEC3, and then has the new key alone', async () => {
    const { ds_records: old } = await dnssec()
    await post({ algorithm: 'ED25519', nsec3: true })
    await settle()
    const both = await dnssec()
    assert.deepEqual(
      both.keys.map(({ algorithm, state }: Record<string, string>) => [algorithm, state]),
      [
        ['ECDSAP256SHA256', 'retiring'],
        ['ED25519', 'active'],
      ],
    )
    await isValid(old, rolloverVerifiers)
    await isValid(both.ds_records, rolloverVerifiers)
    await check(3)
    await settle()
    const done = await dnssec()
    assert.deepEqual(
      [done.status, done.algorithm, done.keys.length, done.nsec3],
      ['active', 'ED25519', 1, true],
    )
    await isValid(done.ds_records)
    const again = await red.call('POST', `/zones/${id}/dnssec`, { cds: true })
    assert.deepEqual([again.status, again.body.nsec3], [200, true], 'a field that is not given stays')
  })

  it('loses its DS record: the time of the last one is kept, and it is unsigned after', async () => {
    await setDs([])
    const first = await check()
    assert.deepEqual(
      [first['ds'], first['is_last_seen'], first['is_ds_everywhere']],
      [0, true, false],
      'it may have been there until this check',
    )
    assert.equal((await check())['is_last_seen'], false)
    await check()
    await settle()
    const removed = await dnssec()
    assert.deepEqual([removed.status, removed.parent.ds_present], ['pending_ds', false])
    assert.equal((await red.call('DELETE', `/zones/${id}/dnssec`)).status, 202)
    await check(3)
    await settle()
    assert.equal((await dnssec()).status, 'disabled')
    assert.ok((await served()).every(({ rrsig }) => rrsig.length === 0))
    await hierarchy.close()
    hierarchy = await start()
    const { rcode: code, ad } = await resolve(parseName('www', zoneName), recordType.A)
    assert.deepEqual([code, ad], [rcode.NOERROR, false])
  })
})
