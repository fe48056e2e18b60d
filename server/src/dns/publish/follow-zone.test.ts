import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { stateMessageText } from '@pharos/contract/reason/state-message'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createPrimary } from '../../drivers/dns-follower/zone-primary.ts'
import { startTestPrimary, testKey, type TestPrimary } from '../../drivers/dns-server/testing.ts'
import { nameKey, parseZoneName } from '../../net/dns/name.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import { ServedZones } from '../serve/served-zones.ts'
import { followZone } from './follow-zone.ts'
import { claimSecondaries, requestTransfer } from './follow.store.ts'
import { writeZoneVersion, insertTestZone } from './testing.ts'

const name = parseZoneName('copied.example')
const signal = new AbortController().signal

describe('a secondary zone', () => {
  let primary: TestPrimary
  let database: TestDatabase
  let sourceId: number
  let id: number
  before(async () => {
    primary = await startTestPrimary()
    database = await createTestDatabase()
    const hosts = Array.from({ length: 30 }, (_, i) => `h${i} 300 A 192.0.2.${i}`).join('\n')
    sourceId = await insertTestZone(primary.deps.db, name, hosts)
    await primary.publish(sourceId)
    const { rows } = await sql<{ id: number }>`
      insert into dns_zones (name, name_key, kind) values (${name}, ${Buffer.from(nameKey(name))}, 'secondary')
      returning id`.execute(db())
    id = rows[0]!.id
    const primaries = JSON.stringify([{ address: '127.0.0.1', port: primary.port }])
    await sql`insert into dns_secondaries (zone_id, primaries) values (${id}, ${primaries}::jsonb)`.execute(
      db(),
    )
  })
  after(async () => {
    await primary[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  const db = () => database.postgres.owner

  async function follow(): Promise<void> {
    const deps = {
      db: db(),
      connect: ({ address, port }: { address: string; port: number }) =>
        createPrimary({ address, port, key: testKey, timeoutMs: 1_000 }),
      now: () => new Date(),
    }
    for (const zone of await claimSecondaries(db(), 10)) await followZone(deps, zone, signal)
  }

  const due = () => requestTransfer(db(), id)

  const setsOf = async (zones: ServedZones): Promise<string[]> => {
    await zones.refresh(true)
    const snapshot = await zones.open(name)
    const sets = await Array.fromAsync(snapshot!.sets)
    return sets
      .map(
        (set) =>
          `${set.name} ${typeName(set.type)} ${set.rdata
            .map((data) => Buffer.from(data).toString('hex'))
            .sort()
            .join()}`,
      )
      .sort()
  }
  const served = () => setsOf(new ServedZones({ db: db(), isInMemory: true, now: () => new Date() }))

  const row = async (): Promise<Record<string, unknown>> => {
    const { rows } = await sql<Record<string, unknown>>`
      select z.status, z.reason, z.serial::float8 as serial, s.error, s.due > now() + interval '50 s' as is_later,
        s.expires > now() + interval '13 days' as is_fresh,
        (select count(*)::integer from dns_recordsets r where r.zone_id = z.id) as sets
      from dns_zones z join dns_secondaries s on s.zone_id = z.id where z.id = ${id}`.execute(db())
    return rows[0]!
  }

  it('is transferred whole, under the serial of its primary', async () => {
    await follow()
    assert.deepEqual(await served(), await setsOf(primary.zones))
    assert.deepEqual(await row(), {
      status: 'ok',
      reason: null,
      serial: primary.zones.get(name)!.serial,
      error: null,
      is_later: true,
      is_fresh: true,
      sets: 32,
    })
  })

  it('follows differences, and asks again at a NOTIFY only', async () => {
    await writeZoneVersion(primary.deps.db, sourceId, {
      removed: 'h1 300 A 192.0.2.1',
      added: 'h2 300 A 192.0.3.2',
    })
    await primary.publish(sourceId)
    const before = await served()
    await follow()
    assert.deepEqual(await served(), before, 'it is not due')
    await due()
    await follow()
    assert.deepEqual(await served(), await setsOf(primary.zones))
    const { rows } = await sql`select what from dns_versions where zone_id = ${id}`.execute(db())
    assert.equal(rows.length, 2)
  })

  it('asks again if a NOTIFY comes while it transfers', async () => {
    await writeZoneVersion(primary.deps.db, sourceId, { added: 'h3 300 A 192.0.3.3' })
    await primary.publish(sourceId)
    await due()
    const [zone] = await claimSecondaries(db(), 10)
    const client = createPrimary({ address: '127.0.0.1', port: primary.port, key: testKey, timeoutMs: 1_000 })
    const connect = () => ({
      ...client,
      transfer: async (...parameters: Parameters<typeof client.transfer>) => {
        const result = await client.transfer(...parameters)
        await writeZoneVersion(primary.deps.db, sourceId, { added: 'h3 300 A 192.0.3.4' })
        await primary.publish(sourceId)
        await due()
        return result
      },
    })
    await followZone({ db: db(), connect, now: () => new Date() }, zone!, signal)
    await follow()
    assert.deepEqual(await served(), await setsOf(primary.zones))
    assert.deepEqual(await claimSecondaries(db(), 10), [], 'and then no more')
  })

  it('asks every primary after a NOTIFY, since the first one may be behind', async () => {
    await sql`update dns_secondaries set primaries = primaries || jsonb_build_array(primaries -> 0)`.execute(
      db(),
    )
    await writeZoneVersion(primary.deps.db, sourceId, { added: 'h4 300 A 192.0.3.4' })
    const former = primary.zones.get(name)!.serial
    await primary.publish(sourceId)
    const asked: string[] = []
    const work = async () => {
      const connect = ({ address, port }: { address: string; port: number }) => {
        const client = createPrimary({ address, port, key: testKey, timeoutMs: 1_000 })
        asked.push('asked')
        return asked.length % 2 === 1 ? { ...client, serial: () => Promise.resolve(former) } : client
      }
      for (const zone of await claimSecondaries(db(), 10))
        await followZone({ db: db(), connect, now: () => new Date() }, zone, signal)
    }
    await sql`update dns_secondaries set due = now()`.execute(db())
    await work()
    assert.equal(asked.splice(0).length, 1, 'without a NOTIFY one answer is enough')
    await due()
    await work()
    assert.equal(asked.length, 2)
    assert.deepEqual(await served(), await setsOf(primary.zones))
    await sql`update dns_secondaries set primaries = jsonb_build_array(primaries -> 0)`.execute(db())
  })

  it('keeps the newer one of two transfers at the same time, in whichever order they end', async () => {
    await writeZoneVersion(primary.deps.db, sourceId, { added: 'h5 300 A 192.0.3.5' })
    await primary.publish(sourceId)
    await due()
    const [zone] = await claimSecondaries(db(), 10)
    const client = createPrimary({ address: '127.0.0.1', port: primary.port, key: testKey, timeoutMs: 1_000 })
    const connect = () => ({
      ...client,
      transfer: async (...parameters: Parameters<typeof client.transfer>) => {
        const older = await client.transfer(...parameters)
        await writeZoneVersion(primary.deps.db, sourceId, { added: 'h5 300 A 192.0.3.6' })
        await primary.publish(sourceId)
        // The lease is over.
        await sql`update dns_secondaries set leased_until = null`.execute(db())
        await follow()
        return older
      },
    })
    await followZone({ db: db(), connect, now: () => new Date() }, zone!, signal)
    assert.deepEqual(await served(), await setsOf(primary.zones))
    const { serial, error, reason } = await row()
    assert.deepEqual([serial, error, reason], [primary.zones.get(name)!.serial, null, null])
  })

  it('keeps its copy while the primary does not answer', async () => {
    const before = await served()
    await primary.stop()
    await due()
    await follow()
    assert.deepEqual(await served(), before)
    const { status, reason, error } = await row()
    assert.deepEqual(
      { status, reason, error },
      { status: 'error', reason: 'zone_not_transferred', error: 'unreachable' },
    )
    await primary.start()
    await due()
    await follow()
    const { status: after, reason: none } = await row()
    assert.deepEqual([after, none], ['ok', null], 'without name servers to observe')
  })

  it('keeps its copy while the primary has a record that name servers refuse with the whole zone', async () => {
    const before = await served()
    await writeZoneVersion(primary.deps.db, sourceId, { added: 'odd 300 TYPE65280 \\# 0' })
    await primary.publish(sourceId)
    await due()
    const client = createPrimary({ address: '127.0.0.1', port: primary.port, key: testKey, timeoutMs: 1_000 })
    const connect = () => ({
      ...client,
      transfer: async (...parameters: Parameters<typeof client.transfer>) => {
        const result = await client.transfer(...parameters)
        if (result.kind === 'whole') return result
        const steps = result.steps.map((step) => ({
          ...step,
          added: step.added.map((one) => (one.type === 65_280 ? { ...one, type: recordType.NSAP } : one)),
        }))
        return { ...result, steps }
      },
    })
    for (const zone of await claimSecondaries(db(), 10))
      await followZone({ db: db(), connect, now: () => new Date() }, zone, signal)
    assert.deepEqual(await served(), before)
    const { rows } = await sql<{ attrs: Record<string, string> }>`
      select attrs from dns_zones where id = ${id}`.execute(db())
    const { attrs } = rows[0]!
    assert.deepEqual([attrs['reason'], attrs['record']], ['invalid_record', `odd.${name} NSAP`])
    assert.match(
      stateMessageText('zone_not_transferred', attrs),
      /odd\.copied\.example\. NSAP, .* at least 1/,
    )
    await due()
    await follow()
    assert.deepEqual(await served(), await setsOf(primary.zones))
    const { status, reason } = await row()
    assert.deepEqual([status, reason], ['ok', null])
  })

  it('waits for staff if more than half of the names are gone', async () => {
    const before = await served()
    const lines = Array.from({ length: 20 }, (_, i) => `h${i + 5} 300 A 192.0.2.${i + 5}`).join('\n')
    await writeZoneVersion(primary.deps.db, sourceId, { removed: lines })
    await primary.publish(sourceId)
    await sql`update dns_secondaries set expires = now() + interval '1 hour'`.execute(db())
    await due()
    await follow()
    assert.deepEqual(await served(), before)
    const { rows } = await sql<{ id: number; kind: string }>`
      select id, kind from approvals where state = 'open'`.execute(db())
    assert.equal(rows[0]?.kind, 'shrink')
    const { status, reason, error, is_fresh } = await row()
    assert.deepEqual([status, reason, error, is_fresh], ['error', 'zone_held', 'held', true])
    await sql`update approvals set state = 'approved', decided = now() where id = ${rows[0]!.id}`.execute(
      db(),
    )
    await due()
    await follow()
    assert.deepEqual(await served(), await setsOf(primary.zones))
  })

  it('is delegated to in a zone of its owner above with each transfer', async () => {
    const parent = await insertTestZone(db(), 'example', 'www 300 A 192.0.2.1')
    const delegation = async (): Promise<string[]> => {
      const { rows } = await sql<{ line: string }>`
        select name || ' ' || type || ' ' || content as line from dns_recordsets
        where zone_id = ${parent} and name_key >= ${Buffer.from(nameKey(name))} order by name_key, type`.execute(
        db(),
      )
      return rows.map(({ line }) => line).filter((line) => line.includes('copied.'))
    }
    await writeZoneVersion(primary.deps.db, sourceId, {
      added: '@ 300 NS ns.copied.example.\nns 300 A 192.0.2.53',
    })
    await primary.publish(sourceId)
    await due()
    await follow()
    const both = ['copied.example. 2 ns.copied.example.', 'ns.copied.example. 1 192.0.2.53']
    assert.deepEqual(await delegation(), both)
    await writeZoneVersion(primary.deps.db, sourceId, { added: '@ 300 NS ns1.example.net.' })
    await primary.publish(sourceId)
    await due()
    await follow()
    assert.deepEqual(await delegation(), ['copied.example. 2 ns1.example.net.'])
  })

  it('is no longer served once its data has expired', async () => {
    await sql`update dns_secondaries set expires = now() - interval '1 s' where zone_id = ${id}`.execute(db())
    const zones = new ServedZones({ db: db(), isInMemory: true, now: () => new Date() })
    await zones.refresh(true)
    assert.equal(zones.find(name), 'expired')
    await primary.stop()
    await due()
    await follow()
    assert.equal((await row())['reason'], 'zone_expired')
  })
})
