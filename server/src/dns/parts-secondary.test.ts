// Secondary zones of the whole product behind real primaries: BIND, NSD, and Knot, which signs. Each zone is
// transferred with TSIG, follows NOTIFY, needs approval if it shrinks, and is no longer answered after it has expired.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { wake } from '../db/wake.ts'
import { decideApproval } from '../approval/testing.ts'
import {
  primaryPrograms,
  startPrimary,
  type PeerPrimary,
  type PrimaryName,
} from '../drivers/dns-follower/testing-primaries.ts'
import { createPrimary } from '../drivers/dns-follower/zone-primary.ts'
import { dig, testKey } from '../drivers/dns-server/testing.ts'
import { nameKey, parseZoneName } from '../net/dns/name.ts'
import type { ResourceRecord } from '../net/dns/record.ts'
import { recordType } from '../net/dns/type.ts'
import { loadConfig } from '../runtime/config.ts'
import { silentLog } from '../runtime/log.ts'
import { seal } from '../runtime/secrets.ts'
import { runRole, type Serving } from '../process/serve.ts'

const hosts = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `h${i} 300 A 192.0.2.${i + 1}`)

for (const name of ['BIND', 'NSD', 'Knot'] as const satisfies readonly PrimaryName[])
  describe(`a secondary zone of ${name}`, { skip: skipWithout('dig', primaryPrograms[name]) }, () => {
    const zone = parseZoneName(`${name}.example`)
    let database: TestDatabase
    let serving: Serving
    let primary: PeerPrimary
    let port: number
    let id: number
    before(async () => {
      database = await createTestDatabase()
      const config = loadConfig(
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
      primary = await startPrimary(name, {
        zone: zone.slice(0, -1),
        records: hosts(30),
        key: testKey,
        follower: { address: '127.0.0.1', port },
      })
      await waitFor('the primary', async () => (await fromPrimary('h0')) !== '')
      const sealed = seal(config.secret, 'tsig-key', testKey.secret, testKey.name)
      const { rows } = await sql<{ id: number }>`
        with k as (insert into dns_tsig_keys (name, algorithm, secret_sealed)
            values (${testKey.name}, ${testKey.algorithm}, ${sealed}) returning id),
          z as (insert into dns_zones (name, name_key, kind)
            values (${zone}, ${Buffer.from(nameKey(zone))}, 'secondary') returning id)
        insert into dns_secondaries (zone_id, primaries)
        select z.id, jsonb_build_array(jsonb_build_object(
          'address', ${primary.address}::text, 'port', ${primary.port}::integer, 'tsig_key_id', k.id)) from k, z
        returning zone_id as id`.execute(db())
      id = rows[0]!.id
      await wake(db(), 'dns')
    })
    after(async () => {
      await primary?.[Symbol.asyncDispose]()
      await serving?.stop()
      await database?.[Symbol.asyncDispose]()
    })

    const db = () => database.postgres.owner
    const ask = (label: string, ...args: string[]) => dig(port, '+short', `${label}.${zone}`, 'A', ...args)
    const fromPrimary = (label: string) =>
      dig(primary.port, `@${primary.address}`, '+short', `${label}.${zone}`, 'A')
    const answers = (label: string, expected: string) =>
      waitFor(`${label} is ${expected}`, async () => (await ask(label)) === expected)
    const status = async (): Promise<object> => {
      const { rows } = await sql<object>`
        select z.status, z.reason, s.error, s.expires > now() + interval '13 days' as is_fresh
        from dns_zones z join dns_secondaries s on s.zone_id = z.id where z.id = ${id}`.execute(db())
      return rows[0]!
    }
    const client = (key = testKey) =>
      createPrimary({ address: primary.address, port: primary.port, key, timeoutMs: 3_000 })
    const transfer = (from?: ResourceRecord, key = testKey) =>
      client(key).transfer(zone, {
        ...(from && { from }),
        recordsMax: 1_000,
        signal: new AbortController().signal,
      })

    it('is transferred with TSIG, and answered with authority', async () => {
      await answers('h0', '192.0.2.1')
      assert.match(await dig(port, `h29.${zone}`, 'A'), /flags: qr aa/)
      await assert.rejects(transfer(undefined, { ...testKey, secret: Buffer.alloc(32, 'x') }))
      const signed = await dig(port, '+dnssec', `h29.${zone}`, 'A')
      assert.equal(/RRSIG\s+A 13/.test(signed), name === 'Knot', signed)
    })

    it('follows a NOTIFY at once, by differences', async () => {
      const whole = await transfer()
      assert.ok(whole.kind === 'whole')
      const soa = whole.records.find(({ type }) => type === recordType.SOA)!
      await primary.setRecords([...hosts(30), 'new 300 A 192.0.2.99'])
      // SOA refresh is an hour: only the NOTIFY of the primary can be the cause.
      await answers('new', '192.0.2.99')
      const difference = await transfer(soa)
      if (name !== 'NSD' || difference.kind === 'steps')
        assert.ok(difference.kind === 'steps' && difference.steps.length > 0)
      // A NOTIFY of a stranger is refused.
      const { rows } = await sql<{ due: Date }>`select due from dns_secondaries`.execute(db())
      assert.match(await dig(port, '+opcode=NOTIFY', zone, 'SOA'), /status: NOTAUTH/)
      assert.deepEqual((await sql`select due from dns_secondaries`.execute(db())).rows, rows)
    })

    it('waits if it shrinks to less than half, and served as it was until staff approve', async () => {
      await primary.setRecords(hosts(5))
      const approval = await waitFor('the approval', async () => {
        const { rows } = await sql<{ id: number }>`
          select id from approvals where kind = 'shrink' and state = 'open'`.execute(db())
        return rows[0]
      })
      assert.equal(await ask('h29'), '192.0.2.30')
      assert.deepEqual(
        await waitFor('the state', async () => {
          const now = await status()
          return 'error' in now && now.error === 'held' ? now : undefined
        }),
        { status: 'error', reason: 'zone_held', error: 'held', is_fresh: true },
      )
      await decideApproval(db(), approval.id, 'approved')
      await answers('h29', '')
      await answers('h4', '192.0.2.5')
      assert.deepEqual(await status(), { status: 'ok', reason: null, error: null, is_fresh: true })
    })

    it('is SERVFAIL after SOA expire without contact, and comes back with its primary', async () => {
      await primary.stop()
      await sql`update dns_secondaries set expires = now() - interval '1 s', due = now()`.execute(db())
      // The name server reads changed rows immediately, and all rows every 30 s.
      await sql`update dns_zones set published = now() where id = ${id}`.execute(db())
      await wake(db(), 'dns')
      await wake(db(), 'dns-published')
      await waitFor('SERVFAIL', async () => /status: SERVFAIL/.test(await dig(port, `h4.${zone}`, 'A')))
      assert.match(await dig(port, '+tcp', zone, 'SOA'), /status: SERVFAIL/)
      await waitFor('the reason', async () => JSON.stringify(await status()).includes('zone_expired'))
      await primary.start()
      await waitFor('the primary', async () => (await fromPrimary('h4')) !== '')
      await sql`update dns_secondaries set due = now()`.execute(db())
      await wake(db(), 'dns')
      await answers('h4', '192.0.2.5')
    })
  })
