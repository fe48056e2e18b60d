// ALIAS records from the row to name servers that follow: resolved by the real resolver, which asks the built-in name server, signed, changed,
// and kept while the target fails.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { freePort } from '@pharos/lab/address'
import { startFollower, type Follower } from '@pharos/lab/dns-follower'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { wake } from '../db/wake.ts'
import { writeZoneVersion, enableSigning, insertTestZone } from './publish/testing.ts'
import { assertVerified, verifiers } from './testing.ts'
import { ServedZones } from './serve/served-zones.ts'
import { statusOfZone } from './zone/zone-status.store.ts'
import { dig, testKey } from '../drivers/dns-server/testing.ts'
import { createFollower } from '../drivers/dns-follower/name-server.ts'
import { parseZoneName } from '../net/dns/name.ts'
import { recordType, typeName } from '../net/dns/type.ts'
import { loadConfig, type Config } from '../runtime/config.ts'
import { silentLog } from '../runtime/log.ts'
import { seal } from '../runtime/secrets.ts'
import { runRole, type Serving } from '../process/serve.ts'

const zone = parseZoneName('shop.example')

describe('ALIAS records', { skip: skipWithout('dig', 'named', 'knotd', ...verifiers) }, () => {
  let database: TestDatabase
  let config: Config
  let serving: Serving
  let port: number
  let id: number
  let target: number
  const peers: Follower[] = []
  before(async () => {
    database = await createTestDatabase()
    port = await freePort()
    config = loadConfig(
      {
        DATABASE_URL: database.databaseUrl,
        PHAROS_SECRET: 's'.repeat(32),
        PHAROS_PORT: '0',
        PHAROS_DNS_LISTEN: `127.0.0.1:${port}`,
        PHAROS_DNS_RESOLVERS: `127.0.0.1:${port}`,
        PHAROS_DNS_NETWORKS_ALLOWED: '192.0.2.0/24,2001:db8::/32',
        PHAROS_NETFLOW_LISTEN: 'off',
        PHAROS_SFLOW_LISTEN: 'off',
        PHAROS_LOG_LEVEL: 'silent',
      },
      { read: () => undefined, mode: () => 0o600, create: () => {} },
    )
    serving = await runRole(config, ['reconciler', 'nameserver'], silentLog)
    target = await insertTestZone(db(), 'target.example', 'lb 300 A 192.0.2.7\nlb 300 AAAA 2001:db8::7')
    await answers('192.0.2.7', 'lb.target.example', 'A')
    for (const name of ['BIND', 'Knot'] as const) {
      const primary = { address: '127.0.0.1', port }
      const peer = await startFollower(name, { primary, key: testKey, zones: [zone] })
      peers.push(peer)
      await sql`
        with k as (
          insert into dns_tsig_keys (name, algorithm, secret_sealed)
          values (${testKey.name}, ${testKey.algorithm}, ${seal(config.secret, 'tsig-key', testKey.secret, testKey.name)})
          on conflict (name) do update set algorithm = excluded.algorithm returning id)
        insert into dns_servers (name, address, port, tsig_key_id)
        select ${`${name.toLowerCase()}.example.`}, ${peer.address}, ${peer.port}, id from k`.execute(db())
    }
  })
  after(async () => {
    await serving?.stop()
    for (const peer of peers) await peer[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  const db = () => database.postgres.owner
  const answers = (expected: string, ...question: string[]) =>
    waitFor(
      `${question.join(' ')}: ${expected}`,
      async () => (await dig(port, '+short', ...question)).split('\n').toSorted().join() === expected,
    )
  const followed = (expected: string, ...question: string[]) =>
    Promise.all(
      peers.map((peer) =>
        waitFor(`${question.join(' ')} at ${peer.name}: ${expected}`, async () =>
          (await dig(peer.port, `@${peer.address}`, '+short', ...question)).endsWith(expected),
        ),
      ),
    )
  /** Has the targets resolved now. */
  async function resolveNow(): Promise<void> {
    await sql`update dns_aliases set due = now()`.execute(db())
    await wake(db(), 'dns')
  }
  async function stateOf(zoneId: number): Promise<{ reason: string | null; resolved: Date | null }> {
    const { rows } = await sql<{ reason: string | null; resolved: Date | null }>`
      select reason, resolved from dns_aliases where zone_id = ${zoneId}`.execute(db())
    return rows[0] ?? { reason: null, resolved: null }
  }
  async function transferred(): Promise<string[]> {
    const client = createFollower({ address: '127.0.0.1', port, key: testKey })
    const types = await Array.fromAsync(client.read(zone), ({ type }) => typeName(type))
    return [...new Set(types)].toSorted()
  }
  async function verify(): Promise<void> {
    const zones = new ServedZones({ db: db(), isInMemory: true, now: () => new Date() })
    await zones.refresh(true)
    assertVerified(zone, await Array.fromAsync((await zones.open(zone))!.sets))
  }

  it('are served as the addresses of their target, signed, here and at followers', async () => {
    id = await insertTestZone(db(), 'shop.example', '@ 3600 ALIAS lb.target.example.')
    await answers('192.0.2.7', 'shop.example', 'A')
    await answers('2001:db8::7', 'shop.example', 'AAAA')
    await enableSigning(db(), config.secret, id)
    await wake(db(), 'dns')
    await waitFor('the signature', async () =>
      /RRSIG\s+A /.test(await dig(port, '+dnssec', 'shop.example', 'A')),
    )
    await verify()
    await followed('192.0.2.7', 'shop.example', 'A')
    assert.match(
      await dig(port, 'shop.example', 'A'),
      /shop\.example\.\s+300\s+IN\s+A\s/,
      'a TTL of five minutes',
    )
    const types = await transferred()
    assert.ok(['A', 'AAAA', 'RRSIG'].every((type) => types.includes(type)))
    assert.ok(!types.includes('ALIAS'), 'no follower sees the type')
    assert.match(await dig(port, 'shop.example', `TYPE${recordType.ALIAS}`), /status: NOERROR[^]*ANSWER: 0/)
  })

  it('follow their target by a signed step', async () => {
    await writeZoneVersion(db(), target, { removed: 'lb 300 AAAA 2001:db8::7', added: 'lb 300 A 192.0.2.8' })
    await answers('192.0.2.8', 'lb.target.example', 'A')
    await resolveNow()
    await answers('192.0.2.8', 'shop.example', 'A')
    await answers('', 'shop.example', 'AAAA')
    await verify()
    await followed('192.0.2.8', 'shop.example', 'A')
    const { rows } = await sql<{ steps: number }>`
      select count(*)::integer as steps from dns_transfers where zone_id = ${id}`.execute(db())
    assert.ok(rows[0]!.steps > 0)
    const { rows: approvals } = await sql`select from approvals`.execute(db())
    assert.equal(approvals.length, 0, 'the guard knows why the addresses left')
  })

  it('keep the last addresses while their target has none', async () => {
    const { resolved } = await stateOf(id)
    await writeZoneVersion(db(), target, { removed: 'lb 300 A 192.0.2.8' })
    await answers('', 'lb.target.example', 'A')
    await resolveNow()
    await waitFor('the reason', async () => (await stateOf(id)).reason === 'no_addresses')
    assert.deepEqual((await stateOf(id)).resolved, resolved)
    assert.equal(await dig(port, '+short', 'shop.example', 'A'), '192.0.2.8')
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.50' })
    await answers('192.0.2.50', 'www.shop.example', 'A')
    assert.equal(await dig(port, '+short', 'shop.example', 'A'), '192.0.2.8', 'other changes leave them')
  })

  it('keep the addresses of a former target until the new one answers', async () => {
    await writeZoneVersion(db(), id, {
      removed: '@ 3600 ALIAS lb.target.example.',
      added: '@ 3600 ALIAS new.target.example.',
    })
    await waitFor('the question', async () => {
      const { reason, resolved } = await stateOf(id)
      return reason === 'no_addresses' && resolved === null
    })
    assert.equal(await dig(port, '+short', 'shop.example', 'A'), '192.0.2.8')
    await writeZoneVersion(db(), target, { added: 'new 300 A 192.0.2.9' })
    await answers('192.0.2.9', 'new.target.example', 'A')
    await resolveNow()
    await answers('192.0.2.9', 'shop.example', 'A')
    assert.equal((await stateOf(id)).reason, null)
  })

  it('take the place of addresses, and give it back', async () => {
    await writeZoneVersion(db(), id, {
      removed: 'www 300 A 192.0.2.50',
      added: 'www 60 ALIAS new.target.example.',
    })
    await answers('192.0.2.9', 'www.shop.example', 'A')
    await writeZoneVersion(db(), id, {
      removed: 'www 60 ALIAS new.target.example.',
      added: 'www 300 A 192.0.2.51',
    })
    await answers('192.0.2.51', 'www.shop.example', 'A')
    await writeZoneVersion(db(), id, { removed: '@ 3600 ALIAS new.target.example.' })
    await answers('', 'shop.example', 'A')
    await verify()
    await waitFor('the rows to be removed', async () => {
      const { rows } = await sql`select from dns_aliases where zone_id = ${id}`.execute(db())
      return rows.length === 0
    })
  })

  it('make the zone an error while their target has never had an address, and no more once it has one', async () => {
    const unserved = await insertTestZone(db(), 'unserved.example', '@ 300 ALIAS later.target.example.')
    await sql`
      with t as (insert into teams (slug, name) values ('alias', 'Alias') returning id)
      update dns_zones set team_id = t.id from t where dns_zones.id = ${unserved}`.execute(db())
    const statusOf = async () => {
      const { rows } = await sql<{ status: string }>`
        select ${statusOfZone} as status from dns_zones z where z.id = ${unserved}`.execute(db())
      return rows[0]!.status
    }
    const changes = async () => {
      const { rows } = await sql<{ change: string }>`
        select concat(data ->> 'before', ' to ', data ->> 'after') as change from outbox
        where type = 'zone.status_changed' and (data ->> 'zone_id')::integer = ${unserved} order by id`.execute(
        db(),
      )
      return rows.map(({ change }) => change)
    }
    await waitFor('the error', async () => (await statusOf()) === 'error')
    await waitFor('its message', async () => (await changes()).some((change) => change.endsWith(' to error')))
    await writeZoneVersion(db(), target, { added: 'later 300 A 192.0.2.77' })
    await answers('192.0.2.77', 'later.target.example', 'A')
    await resolveNow()
    await answers('192.0.2.77', 'unserved.example', 'A')
    await waitFor('the end of the error', async () => (await statusOf()) !== 'error')
    assert.ok((await changes()).some((change) => change.startsWith('error to ')))

    await writeZoneVersion(db(), target, { removed: 'later 300 A 192.0.2.77' })
    await answers('', 'later.target.example', 'A')
    await resolveNow()
    await waitFor('the reason', async () => (await stateOf(unserved)).reason === 'no_addresses')
    assert.notEqual(await statusOf(), 'error', 'the last addresses stay')
    assert.equal(await dig(port, '+short', 'unserved.example', 'A'), '192.0.2.77')
  })

  it('do not publish private addresses, and know a loop over two zones', async () => {
    await writeZoneVersion(db(), target, { added: 'inside 300 A 10.0.0.1' })
    await answers('10.0.0.1', 'inside.target.example', 'A')
    const inside = await insertTestZone(db(), 'inside.example', '@ 300 ALIAS inside.target.example.')
    await insertTestZone(db(), 'one.example', '@ 300 ALIAS two.example.')
    const two = await insertTestZone(db(), 'two.example', '@ 300 ALIAS one.example.')
    await waitFor('both reasons', async () => {
      await resolveNow()
      const states = await Promise.all([inside, two].map(stateOf))
      return states.map(({ reason }) => reason).join() === 'not_public,loop'
    })
    assert.equal(await dig(port, '+short', 'inside.example', 'A'), '')
  })
})
