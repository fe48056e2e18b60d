// DNSSEC over the API on a real PostgreSQL: each state, moved by publications and by the answers of the parent. The
// clock is the test's own.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { skipWithout } from '@pharos/lab/program'
import { createTestApi, type TestApi } from './api.ts'
import { addDnsTeam, type DnsTeam } from './support/dns.ts'
import { evaluateZone } from '../src/dns/dnssec/evaluate-dnssec.ts'
import { publishZone, type PublishOutcome } from '../src/dns/publish/publish-zone.ts'
import { readServedSets } from '../src/dns/serve/served.store.ts'
import { createSigningKey } from '../src/dns/sign/signing-key.ts'
import { signZone } from '../src/dns/sign/sign-zone.ts'
import { assertVerified, rolloverVerifiers, verifiers } from '../src/dns/testing.ts'
import { parseZoneName } from '../src/net/dns/name.ts'
import { parseRdata, printRdata } from '../src/net/dns/rdata/rdata.ts'
import type { SignedRrset } from '../src/net/dns/record.ts'
import { recordType } from '../src/net/dns/type.ts'

let api: TestApi
let red: DnsTeam
let blue: DnsTeam
before(async () => {
  api = await createTestApi()
  red = await addDnsTeam(api, 'red')
  blue = await addDnsTeam(api, 'blue')
})
after(() => api[Symbol.asyncDispose]())

const dsTtl = 600

/** A zone with its loops, at a time that only the test moves. */
async function createZone(name: string, body: object = {}) {
  const db = api.database.postgres.owner
  const created = await red.call('POST', '/zones', { name, ...body })
  assert.equal(created.status, 201, created.text)
  const id: number = created.body.id
  // Verifiers use the clock of this machine: the simulated time ends before it.
  let time = Date.now() - 8 * 3_600_000
  const now = (): Date => new Date(time)
  const deps = { db, ring: api.config.secret, signWhole: signZone, now }
  return {
    id,
    created: created.body,
    publish: (): Promise<PublishOutcome> => publishZone(deps, id),
    /** Runs both loops until the state is stable. */
    async settle(): Promise<void> {
      for (let round = 0; round < 4; round++) {
        await publishZone(deps, id)
        await evaluateZone(deps, id)
      }
    },
    pass(seconds: number): void {
      time += seconds * 1000
    },
    /** The answer of all servers of the parent, `times` in a row. */
    async parentHas(ds: readonly string[], times = 3): Promise<void> {
      const octets = ds.map((text) => Buffer.from(parseRdata(recordType.DS, text)))
      const list = `{${octets.map((one) => `"\\\\x${one.toString('hex')}"`).join()}}`
      await sql`
        update dns_delegations set status = 'delegated', checked = ${now()}, ds = ${list}::bytea[], is_ds_everywhere = true,
          equal_answers = ${times}, ds_ttl = case when ${octets.length > 0} then ${dsTtl} else ds_ttl end,
          ds_last_seen = case when ${octets.length > 0} then ${now()}::timestamptz else ds_last_seen end
        where zone_id = ${id}`.execute(db)
    },
    async served(): Promise<SignedRrset[]> {
      const sets: SignedRrset[] = []
      for await (const { set } of readServedSets(db, [id])) sets.push(set)
      return sets
    },
    /** Whether the parent is checked by the next run, instead of within the hour. Forgets that it is. */
    async isCheckDue(): Promise<boolean> {
      const { rows } = await sql<{ due: boolean }>`
        update dns_delegations new set due = now() + interval '1 hour' from dns_delegations old
        where new.zone_id = ${id} and old.zone_id = new.zone_id returning old.due <= now() as due`.execute(db)
      return rows[0]!.due
    },
    get: async () => (await red.call('GET', `/zones/${id}/dnssec`)).body,
    call: (method: 'POST' | 'DELETE', rest = '', payload?: object) =>
      red.call(method, `/zones/${id}/dnssec${rest}`, payload),
  }
}

const count = (sets: readonly SignedRrset[], type: number): number =>
  sets.filter((set) => set.type === type).length

async function activeZone(name: string) {
  const zone = await createZone(name)
  await zone.settle()
  zone.pass(3700)
  await zone.settle()
  const { ds_records: ds } = await zone.get()
  await zone.parentHas(ds)
  await zone.settle()
  assert.equal((await zone.get()).status, 'active')
  return { ...zone, ds: ds as readonly string[] }
}

describe('enabling DNSSEC', () => {
  it('signs a new zone, and returns its key with the zone', async () => {
    const zone = await createZone('new.example')
    assert.equal(zone.created.keys.length, 1)
    const { status, ds_records: ds, keys, publish_after: after, cds_published: cds } = await zone.get()
    assert.deepEqual(
      [status, ds.length, keys[0].state, keys[0].keytype, cds],
      ['signing', 2, 'introduced', 'csk', false],
    )
    assert.ok(Date.parse(after) > Date.now())
  })

  it(
    'moves from signing over pending_ds to active, and publishes CDS in between',
    { skip: skipWithout(...verifiers) },
    async () => {
      const zone = await createZone('enable.example', {
        dnssec: false,
        recordsets: [{ name: 'www', type: 'A', records: ['192.0.2.1'] }],
      })
      await zone.settle()
      assert.equal(count(await zone.served(), recordType.NSEC), 0)
      const enabled = await zone.call('POST')
      assert.deepEqual([enabled.status, enabled.body.status], [202, 'signing'])
      await zone.settle()
      assertVerified(parseZoneName('enable.example'), await zone.served())
      assert.equal(count(await zone.served(), recordType.CDS), 0)
      zone.pass(3700)
      await zone.settle()
      assert.deepEqual(
        [(await zone.get()).status, count(await zone.served(), recordType.CDS)],
        ['pending_ds', 1],
      )
      await zone.parentHas(enabled.body.ds_records, 2)
      await zone.settle()
      assert.equal((await zone.get()).status, 'pending_ds')
      await zone.parentHas(enabled.body.ds_records)
      await zone.settle()
      const active = await zone.get()
      assert.deepEqual([active.status, active.parent.ds_matches, active.reason], ['active', true, null])
      assertVerified(parseZoneName('enable.example'), await zone.served())
    },
  )

  it('names the time after which no cache has the unsigned zone', async () => {
    const zone = await createZone('later.example', {
      recordsets: [{ name: 'www', type: 'A', ttl: 86_400, records: ['192.0.2.1'] }],
    })
    const { publish_after: after } = await zone.get()
    assert.ok(Date.parse(after) > Date.now() + 86_000_000)
  })

  it('does not wait for a name server that is configured without the zone', async () => {
    const db = api.database.postgres.owner
    const zone = await createZone('partly.example')
    const { rows } = await sql<{ id: number }>`
      insert into dns_servers (name, address, catalog) values ('nsd.example.', '192.0.2.53', false) returning id`.execute(
      db,
    )
    const observed = (state: string, serial: number | null) =>
      sql`
        insert into dns_server_zones (server_id, zone_id, serial, state, checked)
        values (${rows[0]!.id}, ${zone.id}, ${serial}, ${state}, now())
        on conflict (server_id, zone_id) do update set serial = excluded.serial, state = excluded.state`.execute(
        db,
      )
    try {
      await observed('behind', 1)
      await zone.settle()
      zone.pass(3700)
      await zone.settle()
      assert.equal((await zone.get()).status, 'signing')
      await observed('absent', null)
      await zone.settle()
      zone.pass(3700)
      await zone.settle()
      assert.equal((await zone.get()).status, 'pending_ds')
    } finally {
      await sql`delete from dns_servers where id = ${rows[0]!.id}`.execute(db)
    }
  })

  it('is idempotent, and stores nothing in a dry run', async () => {
    const zone = await createZone('twice.example', { dnssec: false })
    const dry = await zone.call('POST', '?dry_run=true')
    assert.deepEqual([dry.status, dry.body.dry_run, (await zone.get()).status], [200, true, 'disabled'])
    const first = await zone.call('POST')
    const again = await zone.call('POST', '', {})
    assert.deepEqual([again.status, again.body.keys[0].id], [200, first.body.keys[0].id])
  })

  it('uses NSEC3 and another algorithm by choice', { skip: skipWithout(...verifiers) }, async () => {
    const zone = await createZone('nsec3.example', { dnssec: false })
    const { body } = await zone.call('POST', '', { algorithm: 'ED25519', nsec3: true, cds: false })
    assert.deepEqual([body.algorithm, body.nsec3, body.keys[0].algorithm], ['ED25519', true, 'ED25519'])
    await zone.settle()
    const sets = await zone.served()
    assert.deepEqual([count(sets, recordType.NSEC), count(sets, recordType.NSEC3PARAM)], [0, 1])
    assertVerified(parseZoneName('nsec3.example'), sets)
  })

  it('is 404 for a zone of another team', async () => {
    const zone = await createZone('foreign.example')
    for (const method of ['GET', 'POST', 'DELETE'] as const)
      assert.equal((await blue.call(method, `/zones/${zone.id}/dnssec`)).status, 404)
  })

  it('refuses an ETag that does not match', async () => {
    const zone = await createZone('etag.example')
    const answer = await red.call('DELETE', `/zones/${zone.id}/dnssec`, undefined, { 'if-match': '"other"' })
    assert.equal(answer.status, 412, answer.text)
  })
})

describe('imported keys', () => {
  it('sign the zone, and a key that cannot be imported is refused with its place', async () => {
    const key = createSigningKey(14, 'csk')
    const privateKey = key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
    const keys = [{ dnskey: printRdata(recordType.DNSKEY, key.dnskey), private_key: privateKey }]
    const zone = await createZone('imported.example', { dnssec: false })
    const refused = await zone.call('POST', '', { keys: [...keys, { ...keys[0], private_key: 'nothing' }] })
    assert.equal(refused.status, 422, refused.text)
    assert.deepEqual([refused.status, refused.body.errors[0].loc], [422, ['body', 'keys', 1]])
    assert.ok(!refused.text.includes('PRIVATE KEY'))
    const { status, body } = await zone.call('POST', '', { keys })
    assert.equal(status, 202, JSON.stringify(body))
    assert.deepEqual(
      [status, body.keys[0].key_tag, body.keys[0].algorithm],
      [202, key.tag, 'ECDSAP384SHA384'],
    )
    assert.ok(!JSON.stringify(body).includes('PRIVATE KEY'))
  })
})

describe('active DNSSEC', () => {
  it('waits for the parent again if the DS record is gone, and is an error if it belongs to another key', async () => {
    const zone = await activeZone('watched.example')
    await zone.parentHas([`1 13 2 ${'ab'.repeat(32)}`])
    await zone.settle()
    const failed = await zone.get()
    assert.deepEqual([failed.status, failed.parent.ds_matches], ['error', false])
    assert.match(failed.reason, /belong to none of the keys/)
    await zone.parentHas([])
    await zone.settle()
    assert.equal((await zone.get()).status, 'pending_ds')
  })

  it(
    'replaces its key: both sign, then CDS names the new one, then the old one is removed',
    { skip: skipWithout(...verifiers) },
    async () => {
      const zone = await activeZone('rollover.example')
      const name = parseZoneName('rollover.example')
      await zone.isCheckDue()
      const started = await zone.call('POST', '/rollover')
      assert.ok(await zone.isCheckDue())
      assert.deepEqual([started.status, started.body.keys.length, started.body.ds_records], [202, 2, zone.ds])
      assert.equal((await zone.call('POST', '/rollover')).status, 409)
      await zone.settle()
      assertVerified(name, await zone.served(), rolloverVerifiers)
      zone.pass(3700)
      await zone.settle()
      const switched = await zone.get()
      assert.notDeepEqual(switched.ds_records, zone.ds)
      assert.deepEqual(
        switched.keys.map(({ state }: { readonly state: string }) => state),
        ['retiring', 'active'],
      )
      await zone.parentHas(switched.ds_records)
      await zone.settle()
      assert.equal((await zone.get()).keys.length, 2)
      zone.pass(dsTtl)
      await zone.settle()
      const done = await zone.get()
      assert.deepEqual([done.status, done.keys.length], ['active', 1])
      assertVerified(name, await zone.served())
    },
  )
})

describe('disabling DNSSEC', () => {
  it('unsigns at once if the parent never had a DS record', async () => {
    const zone = await createZone('never.example')
    await zone.settle()
    await zone.parentHas([])
    assert.equal((await zone.call('DELETE')).status, 204)
    await zone.settle()
    const sets = await zone.served()
    assert.ok(sets.every(({ rrsig }) => rrsig.length === 0))
    assert.deepEqual([count(sets, recordType.DNSKEY), count(sets, recordType.NSEC)], [0, 0])
    assert.deepEqual([(await zone.get()).status, (await zone.get()).keys], ['disabled', []])
  })

  it('is 409 with a DS record, and waits after a requested removal until no cache has it', async () => {
    const zone = await activeZone('disable.example')
    await zone.isCheckDue()
    const refused = await zone.call('DELETE')
    assert.deepEqual([refused.status, refused.body.code], [409, 'ds_present'])
    assert.ok(await zone.isCheckDue())
    const requested = await zone.call('DELETE', '?request_removal=true')
    assert.deepEqual([requested.status, requested.body.status], [202, 'pending_disabled'])
    await zone.settle()
    const cds = (await zone.served()).find(({ type }) => type === recordType.CDS)!
    assert.deepEqual([...cds.rdata[0]!], [0, 0, 0, 0, 0])
    await zone.parentHas([])
    await zone.settle()
    assert.ok((await zone.get()).unsigned_after)
    zone.pass(dsTtl + 3600)
    await zone.settle()
    assert.equal((await zone.get()).status, 'pending_disabled')
    zone.pass(10)
    await zone.parentHas([])
    await zone.settle()
    assert.equal((await zone.get()).status, 'disabled')
    assert.ok((await zone.served()).every(({ rrsig }) => rrsig.length === 0))
  })

  it('is cancelled by enabling it again, with the same key', async () => {
    const zone = await activeZone('cancel.example')
    await zone.call('DELETE', '?request_removal=true')
    await zone.settle()
    const { body } = await zone.call('POST')
    assert.deepEqual(body.ds_records, zone.ds)
    await zone.settle()
    assert.equal((await zone.get()).status, 'active')
  })

  it('by force is immediate, and recorded in the audit log', async () => {
    const zone = await activeZone('force.example')
    assert.equal((await zone.call('DELETE', '?force=true')).status, 204)
    await zone.settle()
    assert.ok((await zone.served()).every(({ rrsig }) => rrsig.length === 0))
    const { rows } = await sql<{ action: string }>`
      select action from audit_entries where target = ${`zone:${zone.id}`} and action = 'dnssec.disable'`.execute(
      api.database.postgres.owner,
    )
    assert.equal(rows.length, 1)
  })
})

describe('name servers and DNSSEC', () => {
  const db = () => api.database.postgres.owner
  async function withServer(
    { signing = 'pharos', catalog = true }: { readonly signing?: string; readonly catalog?: boolean },
    work: (serverId: number) => Promise<void>,
  ): Promise<void> {
    const { rows } = await sql<{ id: number }>`
      insert into dns_servers (name, address, signing, catalog)
      values ('ns.servers.example.', '192.0.2.53', ${signing}, ${catalog}) returning id`.execute(db())
    try {
      await work(rows[0]!.id)
    } finally {
      await sql`delete from dns_servers`.execute(db())
    }
  }
  const observe = (serverId: number, zoneId: number, state: string, seconds = 0) =>
    sql`insert into dns_server_zones (server_id, zone_id, serial, state, checked, reached)
      select ${serverId}, z.id, z.serial, ${state}, now(), z.published + make_interval(secs => ${seconds})
      from dns_zones z where z.id = ${zoneId}
      on conflict (server_id, zone_id) do update
        set serial = excluded.serial, state = excluded.state, reached = excluded.reached`.execute(db())

  it('cannot be enabled where all name servers sign by themselves, and new zones are not signed', async () => {
    const zone = await createZone('before.example', { dnssec: false })
    await withServer({ signing: 'external' }, async () => {
      assert.equal((await zone.get()).signer, 'external')
      const refused = await zone.call('POST')
      assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
      const created = await createZone('external.example')
      assert.deepEqual([created.created.keys, (await created.get()).status], [[], 'disabled'])
    })
    assert.deepEqual([(await zone.get()).signer, (await zone.call('POST')).status], ['pharos', 202])
  })

  it('waits for every server that has our signatures, and for no other', async () => {
    const zone = await createZone('served.example')
    const introduced = async () => {
      await zone.settle()
      return (await zone.get()).keys[0].state === 'introduced' && (await zone.get()).reason
    }
    await withServer({}, async (serverId) => {
      assert.match(await introduced(), /Not all name servers/)
      await observe(serverId, zone.id, 'behind')
      await sql`update dns_server_zones set serial = 1`.execute(db())
      assert.match(await introduced(), /Not all name servers/)
      await sql`update dns_servers set signing = 'external'`.execute(db())
      assert.match(await introduced(), /caches/)
    })
    const other = await createZone('elsewhere.example')
    await withServer({ catalog: false }, async (serverId) => {
      await other.settle()
      await observe(serverId, other.id, 'absent')
      await other.settle()
      assert.match((await other.get()).reason, /caches/)
    })
  })

  it('adds the time of the slowest name server to the wait before unsigning', async () => {
    const zone = await activeZone('slow.example')
    await zone.call('DELETE', '?request_removal=true')
    await zone.settle()
    await zone.parentHas([])
    const earliest = async () => Date.parse((await zone.get()).unsigned_after) / 1000
    const without = await earliest()
    await withServer({}, async (serverId) => {
      await observe(serverId, zone.id, 'serving', 100)
      assert.equal((await earliest()) - without, 100)
      await observe(serverId, zone.id, 'unreachable', 100)
      assert.equal((await earliest()) - without, 0)
    })
  })
})

describe('a zone with several signers', () => {
  const theirs = createSigningKey(13, 'csk')
  const dnskey = printRdata(recordType.DNSKEY, theirs.dnskey)
  async function createShared(name: string, body: object = {}) {
    const zone = await createZone(name, body)
    const { status } = await red.call('PUT', `/zones/${zone.id}/settings`, { multi_signer: true })
    assert.equal(status, 200)
    return zone
  }
  const keysOf = (sets: readonly SignedRrset[]) =>
    sets.find(({ type }) => type === recordType.DNSKEY)?.rdata.length ?? 0

  it(
    'publishes the keys of the others beside its own, whatever else changes',
    { skip: skipWithout(...verifiers) },
    async () => {
      const zone = await createShared('several.example')
      const path = `/zones/${zone.id}/recordsets`
      await zone.settle()
      const added = await red.call('PUT', `${path}/@/DNSKEY`, { ttl: 3600, records: [dnskey] })
      assert.ok(added.status < 300, added.text)
      await zone.settle()
      assert.equal(keysOf(await zone.served()), 2)
      assertVerified(parseZoneName('several.example'), await zone.served(), ['ldns-verify-zone'])
      const { keys, status } = await zone.get()
      assert.deepEqual(
        keys.map(({ managed, active, id }: Record<string, unknown>) => [managed, active, id === null]),
        [
          [true, true, false],
          [false, false, true],
        ],
      )
      assert.deepEqual([keys[1].key_tag, status], [theirs.tag, 'signing'])
      await red.call('PUT', `${path}/www/A`, { ttl: 300, records: ['192.0.2.1'] })
      await zone.settle()
      assert.equal(keysOf(await zone.served()), 2)
      zone.pass(3700)
      await zone.settle()
      assert.equal((await zone.get()).status, 'pending_ds')
      assert.equal((await red.call('DELETE', `${path}/@/DNSKEY`)).status, 204)
      await zone.settle()
      assert.deepEqual([keysOf(await zone.served()), (await zone.get()).keys.length], [1, 1])
    },
  )

  it('keeps the keys of the others without DNSSEC here', async () => {
    const zone = await createShared('theirs.example', { dnssec: false })
    await zone.settle()
    await red.call('PUT', `/zones/${zone.id}/recordsets/@/DNSKEY`, { ttl: 3600, records: [dnskey] })
    await zone.settle()
    await red.call('PUT', `/zones/${zone.id}/recordsets/www/A`, { ttl: 300, records: ['192.0.2.1'] })
    await zone.settle()
    assert.equal(keysOf(await zone.served()), 1)
  })
})

describe('private keys', () => {
  it('are sealed, bound to their zone, and deleted with the key', async () => {
    const zone = await createZone('sealed.example')
    const db = api.database.postgres.owner
    const read = async () =>
      (
        await sql<{ private_sealed: Buffer | null }>`
        select private_sealed from dns_keys where zone_id = ${zone.id}`.execute(db)
      ).rows[0]!.private_sealed
    const sealed = await read()
    assert.ok(sealed && !sealed.includes(Buffer.from('2a8648ce3d0301', 'hex')))
    await zone.call('DELETE', '?force=true')
    assert.equal(await read(), null)
  })

  it('that do not open stop the publication and change no signature', async () => {
    const zone = await activeZone('lost.example')
    const before = await zone.served()
    await sql`update dns_keys set private_sealed = '\\x00' where zone_id = ${zone.id}`.execute(
      api.database.postgres.owner,
    )
    await sql`update dns_zones set resign_requested = date_trunc('milliseconds', now()) where id = ${zone.id}`.execute(
      api.database.postgres.owner,
    )
    assert.equal(await zone.publish(), 'error')
    await zone.settle()
    const { status, reason } = await zone.get()
    assert.deepEqual([status, /PHAROS_SECRET/.test(reason)], ['error', true])
    assert.deepEqual(await zone.served(), before)
  })
})
