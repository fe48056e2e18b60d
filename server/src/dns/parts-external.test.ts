// Two groups of name servers for one zone: Knot gets it with the signatures of Pharos, BIND gets it unsigned and signs it with keys of its own.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { startFollower, type Follower } from '@pharos/lab/dns-follower'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { wake } from '../db/wake.ts'
import { createKey } from './dnssec/key.ts'
import { writeZoneVersion, insertTestZone } from './publish/testing.ts'
import { createFollower } from '../drivers/dns-follower/name-server.ts'
import { createPrimary } from '../drivers/dns-follower/zone-primary.ts'
import { dig, testKey } from '../drivers/dns-server/testing.ts'
import { parseName, parseZoneName } from '../net/dns/name.ts'
import type { TsigKey } from '../net/dns/tsig.ts'
import { recordType } from '../net/dns/type.ts'
import { loadConfig, type Config } from '../runtime/config.ts'
import { silentLog } from '../runtime/log.ts'
import { seal } from '../runtime/secrets.ts'
import { runRole, type Serving } from '../process/serve.ts'

const zone = parseZoneName('groups.example')
const externalKey: TsigKey = {
  ...testKey,
  name: parseName('external.example.'),
  secret: Buffer.alloc(32, 'e'),
}
const signerTypes: readonly number[] = [
  recordType.RRSIG,
  recordType.NSEC,
  recordType.DNSKEY,
  recordType.CDS,
  recordType.CDNSKEY,
]

describe('groups of name servers', { skip: skipWithout('dig', 'named', 'knotd') }, () => {
  let database: TestDatabase
  let config: Config
  let serving: Serving
  let port: number
  let knot: Follower
  let bind: Follower
  let id: number
  before(async () => {
    database = await createTestDatabase()
    config = loadConfig(
      {
        DATABASE_URL: database.databaseUrl,
        PHAROS_SECRET: 's'.repeat(32),
        PHAROS_PORT: '0',
        PHAROS_DNS_LISTEN: '127.0.0.1:0',
        PHAROS_NETFLOW_LISTEN: 'off',
        PHAROS_SFLOW_LISTEN: 'off',
        PHAROS_LOG_LEVEL: 'silent',
      },
      { read: () => undefined, mode: () => 0o600, create: () => {} },
    )
    serving = await runRole(config, ['reconciler', 'nameserver'], silentLog)
    port = Number(serving.dns!.split(':').at(-1))
    id = await insertTestZone(db(), zone, 'www 300 A 192.0.2.1')
    const primary = { address: '127.0.0.1', port }
    knot = await startFollower('Knot', { primary, key: testKey, zones: [zone] })
    bind = await startFollower('BIND', { primary, key: externalKey, zones: [zone], signs: true })
    await addServer(knot, testKey, 'pharos')
    await addServer(bind, externalKey, 'external')
    await wake(db(), 'dns')
  })
  after(async () => {
    await serving?.stop()
    for (const peer of [knot, bind]) await peer?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  const db = () => database.postgres.owner
  async function addServer(peer: Follower, key: TsigKey, signing: string): Promise<void> {
    await sql`
      with k as (insert into dns_tsig_keys (name, algorithm, secret_sealed) values (${key.name}, ${key.algorithm},
        ${seal(config.secret, 'tsig-key', key.secret, key.name)}) returning id)
      insert into dns_servers (name, address, port, tsig_key_id, signing)
      select ${`${peer.name.toLowerCase()}.example.`}, ${peer.address}, ${peer.port}, id, ${signing} from k`.execute(
      db(),
    )
  }

  const transferTypes = async (key: TsigKey): Promise<Set<number>> => {
    const client = createFollower({ address: '127.0.0.1', port, key })
    return new Set(await Array.fromAsync(client.read(zone), ({ type }) => type))
  }
  const answers = (peer: Follower, expected: RegExp, ...question: string[]) =>
    waitFor(`${expected} at ${peer.name}`, async () =>
      expected.test(await dig(peer.port, `@${peer.address}`, ...question)),
    )
  const status = async (): Promise<string> => {
    const { rows } = await sql`
      select z.status, z.attrs, z.dnssec, (select bool_and(k.introduced is not null) from dns_keys k
        where k.zone_id = z.id) as is_introduced
      from dns_zones z where z.id = ${id}`.execute(db())
    return JSON.stringify(rows[0])
  }

  it('get the zone signed or unsigned, by their key, and both count as served', async () => {
    const { algorithm, flags, tag, dnskey, privateSealed } = createKey(config.secret, id, 13)
    await sql`
      insert into dns_keys (zone_id, algorithm, flags, tag, dnskey, private_sealed, state)
      values (${id}, ${algorithm}, ${flags}, ${tag}, ${Buffer.from(dnskey)}, ${privateSealed}, 'introduced')`.execute(
      db(),
    )
    await sql`
      update dns_zones set dnssec = 'signing', dnssec_due = now(), resign_requested = now() where id = ${id}`.execute(
      db(),
    )
    await wake(db(), 'dns')
    await answers(knot, /RRSIG/, '+dnssec', `www.${zone}`, 'A')
    await answers(bind, /RRSIG/, '+dnssec', `www.${zone}`, 'A')
    const keyAt = (peer: Follower) => dig(peer.port, `@${peer.address}`, '+short', zone, 'DNSKEY')
    assert.notEqual(await keyAt(knot), await keyAt(bind), 'each group has keys of its own')
    const [signed, unsigned] = [await transferTypes(testKey), await transferTypes(externalKey)]
    assert.ok(signerTypes.slice(0, 3).every((type) => signed.has(type)))
    assert.deepEqual(
      signerTypes.filter((type) => unsigned.has(type)),
      [],
    )
    await waitFor('the status ok and a key that all servers of ours have', async () =>
      /"status":"ok".*"is_introduced":true/.test(await status()),
    )
  })

  it('follow changes by IXFR, which has signatures for one of them alone', async () => {
    const client = createPrimary({ address: '127.0.0.1', port, key: externalKey })
    const options = { recordsMax: 100, signal: new AbortController().signal }
    const whole = await client.transfer(zone, options)
    assert.ok(whole.kind === 'whole')
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2\nnew 300 A 192.0.2.3' })
    for (const peer of [knot, bind]) await answers(peer, /192\.0\.2\.3/, `new.${zone}`, 'A')
    const from = whole.records.find(({ type }) => type === recordType.SOA)!
    const difference = await client.transfer(zone, { ...options, from })
    assert.ok(difference.kind === 'steps')
    const types = difference.steps.flatMap(({ removed, added }) =>
      [...removed, ...added].map(({ type }) => type),
    )
    assert.deepEqual([...new Set(types)].sort(), [recordType.A, recordType.SOA])
    await waitFor('the status ok', async () => (await status()).includes('"status":"ok"'))
  })

  it('wait for the group that has our signatures alone', async () => {
    await bind.stop()
    await sql`update dns_keys set introduced = null`.execute(db())
    await sql`update dns_zones set dnssec = 'signing', dnssec_serial = null, dnssec_due = now(), resign_requested = now()
      where id = ${id}`.execute(db())
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.4' })
    await waitFor('the key is introduced', async () => (await status()).includes('"is_introduced":true'))
    await waitFor('the name of the server that is down', async () =>
      /updating.*bind\.example\./.test(await status()),
    )
  })

  it('serve the last copy while their disk fails', async () => {
    rmSync(knot.folder, { recursive: true })
    await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.5' })
    await answers(knot, /192\.0\.2\.[45]/, `www.${zone}`, 'A')
    await waitFor('it is known whether it serves the change', async () => {
      const { rows } = await sql<{ is_right: boolean }>`
        select s.state in ('behind', 'serving') and (s.state = 'serving') = (s.serial = z.serial) as is_right
        from dns_server_zones s join dns_zones z on z.id = s.zone_id join dns_servers v on v.id = s.server_id
        where z.id = ${id} and v.name = 'knot.example.'`.execute(db())
      return rows[0]?.is_right === true
    })
    await answers(knot, /192\.0\.2\.[45]/, `www.${zone}`, 'A')
  })
})
