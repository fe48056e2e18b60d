// The DNS parts of one process from a row to name servers that follow: publish loop, catalog zone, observation, and the built-in server.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { startFollower, type Follower } from '@pharos/lab/dns-follower'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { wake } from '../db/wake.ts'
import { decideApproval } from '../approval/testing.ts'
import { writeZoneVersion, insertTestZone } from './publish/testing.ts'
import { dig, testKey } from '../drivers/dns-server/testing.ts'
import { createFollower } from '../drivers/dns-follower/name-server.ts'
import { parseZoneName } from '../net/dns/name.ts'
import { recordType } from '../net/dns/type.ts'
import { loadConfig, type Config } from '../runtime/config.ts'
import { silentLog } from '../runtime/log.ts'
import { seal } from '../runtime/secrets.ts'
import { runRole, type Serving } from '../process/serve.ts'

const memory = {
  read: () => undefined,
  mode: () => 0o600,
  create: () => {},
}

const configOf = (databaseUrl: string): Config =>
  loadConfig(
    {
      DATABASE_URL: databaseUrl,
      PHAROS_SECRET: 's'.repeat(32),
      PHAROS_PORT: '0',
      PHAROS_DNS_LISTEN: '127.0.0.1:0',
      PHAROS_NETFLOW_LISTEN: 'off',
      PHAROS_SFLOW_LISTEN: 'off',
      PHAROS_LOG_LEVEL: 'silent',
    },
    memory,
  )

const catalog = 'catalog.pharos.invalid.'

async function statusOf(database: TestDatabase, id: number): Promise<object> {
  const { rows } = await sql<object>`
    select status, reason, attrs from dns_zones where id = ${id}`.execute(database.postgres.owner)
  return rows[0]!
}

describe('a zone in the database', { skip: skipWithout('dig', 'named', 'knotd') }, () => {
  let database: TestDatabase
  let serving: Serving
  let port: number
  let config: Config
  const peers: Follower[] = []
  before(async () => {
    database = await createTestDatabase()
    config = configOf(database.databaseUrl)
    serving = await runRole(config, ['reconciler', 'nameserver'], silentLog)
    port = Number(serving.dns!.split(':').at(-1))
  })
  after(async () => {
    await serving.stop()
    for (const peer of peers) await peer[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  const db = () => database.postgres.owner

  async function addServer(peer: Follower): Promise<void> {
    await sql`
      with k as (
        insert into dns_tsig_keys (name, algorithm, secret_sealed)
        values (${testKey.name}, ${testKey.algorithm}, ${seal(config.secret, 'tsig-key', testKey.secret, testKey.name)})
        on conflict (name) do update set algorithm = excluded.algorithm returning id)
      insert into dns_servers (name, address, port, tsig_key_id)
      select ${`${peer.name.toLowerCase()}.example.`}, ${peer.address}, ${peer.port}, id from k`.execute(db())
    await wake(db(), 'dns')
  }

  it('is answered over UDP and TCP once it is published', async () => {
    await waitFor('the load of all zones', async () =>
      /REFUSED/.test(await dig(port, 'www.first.example', 'A')),
    )
    const id = await insertTestZone(db(), 'first.example', 'www 300 A 192.0.2.1')
    await waitFor(
      'the answer',
      async () => (await dig(port, '+short', 'www.first.example', 'A')) === '192.0.2.1',
    )
    assert.equal(await dig(port, '+short', '+tcp', 'www.first.example', 'A'), '192.0.2.1')
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2' })
    await waitFor(
      'the change',
      async () => (await dig(port, '+short', 'www.first.example', 'A')) === '192.0.2.2',
    )
    assert.match(await dig(port, 'none.first.example', 'A'), /status: NXDOMAIN[^]*flags: qr aa/)
    assert.match(await dig(port, 'first.example', 'AXFR'), /Transfer failed/)
    assert.deepEqual(await statusOf(database, id), { status: 'ok', reason: null, attrs: null })
  })

  it('reaches BIND and Knot through the catalog zone, with TSIG, and its status says so', async () => {
    for (const name of ['BIND', 'Knot'] as const) {
      const peer = await startFollower(name, {
        primary: { address: '127.0.0.1', port },
        key: testKey,
        zones: [],
        catalog,
      })
      peers.push(peer)
      await addServer(peer)
    }
    const id = await insertTestZone(db(), 'second.example', 'www 300 A 192.0.2.1')
    await waitFor('the status ok', async () => {
      const status = await statusOf(database, id)
      return 'status' in status && status.status === 'ok'
    })
    for (const { address, port } of peers)
      assert.match(await dig(port, `@${address}`, 'www.second.example', 'A'), /192\.0\.2\.1/)
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2' })
    for (const { address, port } of peers)
      await waitFor('the change at the follower', async () =>
        (await dig(port, `@${address}`, '+short', 'www.second.example', 'A')).endsWith('192.0.2.2'),
      )
    await peers[0]!.stop()
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.3' })
    await waitFor('the name of the server that is behind', async () => {
      const status = JSON.stringify(await statusOf(database, id))
      return (
        status.includes('"updating"') && status.includes('bind.example.') && status.includes('"serving":1')
      )
    })
    await peers[0]!.start()
    await waitFor('the status ok again', async () =>
      JSON.stringify(await statusOf(database, id)).includes('"ok"'),
    )
  })

  it('leaves the followers after it was deleted, and comes back as a new member', async () => {
    const before = await insertTestZone(db(), 'third.example', 'www 300 A 192.0.2.1', {
      serial: 4_000_000_000,
    })
    const answers = async (expected: RegExp): Promise<void> => {
      for (const { address, port } of peers)
        await waitFor(`${expected} at ${address}`, async () =>
          expected.test(await dig(port, `@${address}`, 'www.third.example', 'A')),
        )
    }
    await answers(/192\.0\.2\.1/)
    await sql`update dns_zones set deleted = now() where id = ${before}`.execute(db())
    await wake(db(), 'dns')
    await answers(/REFUSED/)
    await waitFor('the built-in server', async () =>
      /REFUSED/.test(await dig(port, 'www.third.example', 'A')),
    )
    await insertTestZone(db(), 'third.example', 'www 300 A 192.0.2.9', { serial: 5 })
    await answers(/192\.0\.2\.9/)
  })

  it('stays where it is if many are deleted at once, until staff approve', async () => {
    const ids = []
    for (let i = 0; i < 8; i++)
      ids.push(await insertTestZone(db(), `mass${i}.example`, 'www 300 A 192.0.2.1'))
    const [{ address, port: peerPort }] = peers as [Follower]
    for (let i = 0; i < 8; i++)
      await waitFor(`mass${i}`, async () =>
        /192\.0/.test(await dig(peerPort, `@${address}`, `www.mass${i}.example`)),
      )
    await sql`update dns_zones set deleted = now() where id = any(${ids})`.execute(db())
    await wake(db(), 'dns')
    const approval = await waitFor('the approval', async () => {
      const { rows } = await sql<{ id: number; reason: string }>`
        select id, findings -> 0 ->> 'reason' as reason from approvals where kind = 'catalog' and state = 'open'`.execute(
        db(),
      )
      return rows[0]
    })
    assert.equal(approval.reason, 'many_removals')
    assert.match(await dig(peerPort, `@${address}`, 'www.mass0.example'), /192\.0/)
    assert.match(await dig(port, 'www.mass0.example'), /192\.0/)
    await decideApproval(db(), approval.id, 'approved')
    for (let i = 0; i < 8; i++)
      await waitFor(`no mass${i}`, async () =>
        /REFUSED/.test(await dig(peerPort, `@${address}`, `www.mass${i}.example`)),
      )
  })
})

describe('the built-in name server', { skip: skipWithout('dig') }, () => {
  it('answers and transfers from memory while the database is down', async () => {
    await using database = await createTestDatabase({ durable: true })
    const config = configOf(database.databaseUrl)
    const serving = await runRole(config, ['reconciler', 'nameserver'], silentLog)
    const port = Number(serving.dns!.split(':').at(-1))
    try {
      const { owner } = database.postgres
      await sql`
        with k as (insert into dns_tsig_keys (name, algorithm, secret_sealed) values (${testKey.name}, ${testKey.algorithm},
          ${seal(config.secret, 'tsig-key', testKey.secret, testKey.name)}) returning id)
        insert into dns_servers (name, address, port, tsig_key_id)
        select 'ns.example.', '127.0.0.1', ${port}, id from k`.execute(owner)
      await insertTestZone(owner, 'kept.example', 'www 300 A 192.0.2.1')
      await waitFor(
        'the answer',
        async () => (await dig(port, '+short', 'www.kept.example', 'A')) === '192.0.2.1',
      )
      const client = createFollower({ address: '127.0.0.1', port, key: testKey })
      const typesIn = (zone: string): Promise<number[]> =>
        Array.fromAsync(client.read(parseZoneName(zone)), ({ type }) => type)
      await waitFor('the permission to transfer', () => typesIn('kept.example').catch(() => undefined))
      const hasMember = async (): Promise<boolean> => (await typesIn(catalog)).includes(recordType.PTR)
      await waitFor('the member of the catalog zone', () => hasMember().catch(() => false))
      await database.postgres.stop()
      for (let i = 0; i < 5; i++)
        assert.equal(await dig(port, '+short', 'www.kept.example', 'A'), '192.0.2.1')
      assert.match(await dig(port, '+tcp', 'kept.example', 'SOA'), /status: NOERROR/)
      assert.deepEqual((await typesIn('kept.example')).sort(), [recordType.A, recordType.NS, recordType.SOA])
      assert.ok((await typesIn(catalog)).includes(recordType.PTR), 'the catalog zone keeps its members')
      await client.close()
    } finally {
      await serving.stop()
    }
  })
})

describe('sandbox name servers', { skip: skipWithout('dig') }, () => {
  it('follow what is published, two of them, without a loop that fails', async () => {
    await using database = await createTestDatabase()
    const db = database.postgres.owner
    await sql`
      insert into dns_servers (name, kind) values ('ns1.example.', 'sandbox'), ('ns2.example.', 'sandbox')`.execute(
      db,
    )
    const serving = await runRole(configOf(database.databaseUrl), ['reconciler'], silentLog)
    try {
      const id = await insertTestZone(db, 'sandbox.example', 'www 300 A 192.0.2.1')
      const served = async (): Promise<boolean> => {
        const { rows } = await sql<{ count: number; status: string }>`
          select z.status, (select count(*)::integer from dns_server_zones s
            where s.zone_id = z.id and s.state = 'serving' and s.serial = z.serial) as count
          from dns_zones z where z.id = ${id}`.execute(db)
        return rows[0]!.status === 'ok' && rows[0]!.count === 2
      }
      await waitFor('both serve the zone', served)
      await writeZoneVersion(db, id, { added: 'www 300 A 192.0.2.2' })
      await waitFor('both serve the change', served)
      const { rows } = await sql`select error, identity from dns_servers`.execute(db)
      const up = { error: null, identity: { version: 'sandbox' } }
      assert.deepEqual(rows, [up, up])
    } finally {
      await serving.stop()
    }
  })
})

describe('a name server without answers from memory', { skip: skipWithout('dig') }, () => {
  it('answers serials alone, and SERVFAIL for a secondary zone that has expired', async () => {
    await using database = await createTestDatabase()
    const db = database.postgres.owner
    const config = { ...configOf(database.databaseUrl), dnsAnswer: 'none' as const }
    const serving = await runRole(config, ['reconciler', 'nameserver'], silentLog)
    const port = Number(serving.dns!.split(':').at(-1))
    try {
      const id = await insertTestZone(db, 'large.example', 'www 300 A 192.0.2.1')
      await waitFor('the serial', async () => /flags: qr aa/.test(await dig(port, 'large.example', 'SOA')))
      assert.match(await dig(port, 'www.large.example', 'A'), /status: REFUSED/)
      await sql`
        insert into dns_secondaries (zone_id, primaries, due, expires)
        values (${id}, '[]', null, now() - interval '1 s')`.execute(db)
      await sql`update dns_zones set published = now() where id = ${id}`.execute(db)
      await wake(db, 'dns-published')
      await waitFor('SERVFAIL', async () => /SERVFAIL/.test(await dig(port, 'large.example', 'SOA')))
    } finally {
      await serving.stop()
    }
  })
})
