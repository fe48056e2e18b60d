import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { waitFor } from '@pharos/lab/wait'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import type { Trx } from '../../db/postgres.ts'
import { seedTeam } from '../../byoip/announcement/testing.ts'
import { parseZoneName } from '../../net/dns/name.ts'
import { typeName } from '../../net/dns/type.ts'
import { silentLog } from '../../runtime/log.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { ServedZones, serialOf } from '../serve/served-zones.ts'
import type { StoredStep } from '../serve/served.store.ts'
import { signZone } from '../sign/sign-zone.ts'
import { claimWaiting, lockZone, markZoneDeleted, markZoneRestored } from '../zone/zone.store.ts'
import type { Zone } from '../zone/zone.ts'
import { memberLabel } from './catalog.ts'
import { publishCatalog } from './publish-catalog.ts'
import { publishZone, type PublishDeps } from './publish-zone.ts'
import { listUnpublished } from './publish.store.ts'
import { parallelZones, publishZones } from './publish-zones.ts'
import { writeZoneVersion, insertTestZone } from './testing.ts'

const ring = createKeyRing(['x'.repeat(32)])

describe('the publication of a zone', () => {
  let database: TestDatabase
  let deps: PublishDeps
  before(async () => {
    database = await createTestDatabase()
    deps = { db: database.postgres.owner, ring, signWhole: signZone, now: () => new Date() }
  })
  after(() => database[Symbol.asyncDispose]())

  const served = async (name: string): Promise<{ sets: string[]; serial: number }> => {
    const zones = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
    await zones.refresh(true)
    const snapshot = await zones.open(parseZoneName(name))
    assert.ok(snapshot)
    const sets = await Array.fromAsync(snapshot.sets)
    return { serial: snapshot.serial, sets: sets.map(({ name, type }) => `${name} ${typeName(type)}`) }
  }

  it('publishes all of a new zone, and then what the journal says', async () => {
    const id = await insertTestZone(deps.db, 'first.example', 'www 300 A 192.0.2.1\nold 300 A 192.0.2.9')
    assert.equal(await publishZone(deps, id), 'created')
    const first = await served('first.example')
    assert.deepEqual(first.sets, [
      'first.example. NS',
      'first.example. SOA',
      'old.first.example. A',
      'www.first.example. A',
    ])
    await writeZoneVersion(deps.db, id, { added: 'www 300 A 192.0.2.2' })
    await writeZoneVersion(deps.db, id, { removed: 'old 300 A 192.0.2.9', added: 'new 300 TXT hello' })
    assert.equal(await publishZone(deps, id), 'published')
    const second = await served('first.example')
    assert.deepEqual(second.sets.sort(), [
      'first.example. NS',
      'first.example. SOA',
      'new.first.example. TXT',
      'www.first.example. A',
    ])
    assert.ok(second.serial > first.serial)
    const { rows } = await sql<{ n: number }>`
      select count(*)::integer as n from dns_transfers where zone_id = ${id}`.execute(deps.db)
    assert.equal(rows[0]!.n, 1, 'two versions became one serial')
    assert.equal(await publishZone(deps, id), 'unchanged')
  })

  it('keeps the serial if versions cancel each other out', async () => {
    const id = await insertTestZone(deps.db, 'same.example', 'www 300 A 192.0.2.1')
    await publishZone(deps, id)
    const { serial } = await served('same.example')
    await writeZoneVersion(deps.db, id, { added: 'www 300 A 192.0.2.2' })
    await writeZoneVersion(deps.db, id, { added: 'www 300 A 192.0.2.1' })
    assert.equal(await publishZone(deps, id), 'unchanged')
    assert.equal((await served('same.example')).serial, serial)
  })

  it('goes on from a serial that is ahead of the time, and over the wrap', async () => {
    const ahead = await insertTestZone(deps.db, 'ahead.example', '', { serial: 2_026_112_205 })
    await publishZone(deps, ahead)
    assert.equal((await served('ahead.example')).serial, 2_026_112_206)
    const wrapping = { ...deps, now: () => new Date(4_000_000_000_000) }
    const last = await insertTestZone(deps.db, 'wrap.example', '', { serial: 4_294_967_295 })
    await publishZone(wrapping, last)
    assert.equal((await served('wrap.example')).serial, 1)
  })

  it('removes nothing because it is absent, and nothing without its version', async () => {
    const id = await insertTestZone(deps.db, 'absent.example', 'www 300 A 192.0.2.1')
    await publishZone(deps, id)
    await sql`delete from dns_recordsets where zone_id = ${id}`.execute(deps.db)
    await writeZoneVersion(deps.db, id, { added: 'new 300 A 192.0.2.3' })
    await publishZone(deps, id)
    assert.ok((await served('absent.example')).sets.includes('www.absent.example. A'))
    await sql`delete from dns_versions where zone_id = ${id}`.execute(deps.db)
    await sql`update dns_zones set version = version + 1 where id = ${id}`.execute(deps.db)
    assert.equal(await publishZone(deps, id), 'error')
    const { rows } = await sql`select status, reason from dns_zones where id = ${id}`.execute(deps.db)
    assert.deepEqual(rows, [{ status: 'error', reason: 'zone_not_published' }])
  })

  it('never removes the SOA or NS of the apex', async () => {
    const id = await insertTestZone(deps.db, 'apex.example')
    await publishZone(deps, id)
    await writeZoneVersion(deps.db, id, { removed: '@ 300 NS ns1.example.net.' })
    assert.equal(await publishZone(deps, id), 'held')
    assert.ok((await served('apex.example')).sets.includes('apex.example. NS'))
  })

  it('is followed by a process that serves, step by step and from a restart', async () => {
    const zone = parseZoneName('follow.example')
    const zones = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
    await zones.refresh(true)
    assert.equal(zones.find(zone), undefined)
    const id = await insertTestZone(deps.db, 'follow.example', 'www 300 A 192.0.2.1')
    await publishZone(deps, id)
    await zones.refresh(false)
    const first = zones.get(zone)!.serial
    for (let i = 2; i < 12; i++) {
      await writeZoneVersion(deps.db, id, { added: `www 300 A 192.0.2.${i}` })
      await publishZone(deps, id)
    }
    await zones.refresh(false)
    const found = await zones.changes(zone, first)
    assert.equal(found?.steps.length, 10)
    assert.equal(serialOf(found.soa), zones.get(zone)!.serial)
    const restarted = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
    await restarted.refresh(true)
    assert.equal((await restarted.changes(zone, first))?.steps.length, 10)
    assert.equal(await restarted.changes(zone, 1 as never), undefined)
    assert.deepEqual([...zones.get(zone)!.content!.sets()], [...restarted.get(zone)!.content!.sets()])
  })

  it('passes each step to the name server of the process, which applies it once', async () => {
    const zone = parseZoneName('direct.example')
    const zones = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
    const steps: StoredStep[] = []
    const direct = { ...deps, onStep: (step: StoredStep) => steps.push(step) }
    const id = await insertTestZone(deps.db, 'direct.example', 'www 300 A 192.0.2.1')
    await publishZone(direct, id)
    await zones.refresh(true)
    const first = zones.get(zone)!.serial
    const address = () =>
      [...zones.get(zone)!.content!.sets()].find(({ type }) => type === 1)?.rdata[0]?.at(-1)
    for (const last of [2, 3, 4]) {
      await writeZoneVersion(deps.db, id, { added: `www 300 A 192.0.2.${last}` })
      assert.equal(await publishZone(direct, id), 'published')
    }
    const [second, third, fourth] = steps
    assert.deepEqual(
      [second!.from, second!.to, third!.to, fourth!.to],
      [first, first + 1, first + 2, first + 3],
    )
    zones.applyStep(third!)
    assert.equal(address(), 1, 'a step that does not follow')
    zones.applyStep(second!)
    zones.applyStep(second!)
    assert.equal(address(), 2)
    await zones.refresh(false)
    assert.equal(address(), 4)
    zones.applyStep(fourth!)
    const applied = await zones.changes(zone, first)
    const restarted = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
    await restarted.refresh(true)
    assert.deepEqual(applied, await restarted.changes(zone, first))
    assert.equal(applied?.steps.length, 3)
    assert.deepEqual([...zones.get(zone)!.content!.sets()], [...restarted.get(zone)!.content!.sets()])
  })

  it('keeps the steps of the last hundred publications, and a few more', async () => {
    const id = await insertTestZone(deps.db, 'steps.example', 'www 300 A 192.0.2.1')
    await publishZone(deps, id)
    await sql`
      insert into dns_transfers (zone_id, serial_from, serial_to, version, removed, added)
      select ${id}, n, n + 1, 1, '', '' from generate_series(1, 200) n`.execute(deps.db)
    const counts = new Set<number>()
    for (let i = 2; i < 34; i++) {
      await writeZoneVersion(deps.db, id, { added: `www 300 A 192.0.2.${i}` })
      await publishZone(deps, id)
      const { rows } = await sql<{ n: number }>`
        select count(*)::integer as n from dns_transfers where zone_id = ${id}`.execute(deps.db)
      counts.add(rows[0]!.n)
    }
    assert.equal(Math.min(...counts), 100)
    const { rows } = await sql<{ n: number }>`
      select count(*)::integer as n from dns_transfers where zone_id = ${id}`.execute(deps.db)
    assert.ok(rows[0]!.n < 116, `${rows[0]!.n} steps`)
  })

  it('publishes other zones while a large one is being signed', async () => {
    const slow = await insertTestZone(deps.db, 'slow.example')
    for (let i = 0; i < 8; i++) await insertTestZone(deps.db, `quick${i}.example`)
    const { promise, resolve } = Promise.withResolvers<void>()
    const signWhole: PublishDeps['signWhole'] = async (zone, ...rest) => {
      if (zone === 'slow.example.') await promise
      return signZone(zone, ...rest)
    }
    const running = publishZones(
      { ...deps, signWhole },
      await listUnpublished(deps.db, parallelZones),
      silentLog,
      new AbortController().signal,
    )
    const count = async (ids: 'quick%' | 'slow%'): Promise<number> => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::integer as n from dns_zones where name like ${ids} and published is not null`.execute(
        deps.db,
      )
      return rows[0]!.n
    }
    await waitFor('the others', async () => (await count('quick%')) === 8)
    assert.equal(await count('slow%'), 0)
    resolve()
    await running
    assert.equal(await publishZone(deps, slow), 'unchanged')
  })

  it('is transferred from the rows of one serial if it is not in memory', async () => {
    const zone = parseZoneName('rows.example')
    const lines = Array.from({ length: 1_300 }, (_, at) => `n${at} 300 A 192.0.2.1`)
    const id = await insertTestZone(deps.db, 'rows.example', lines.join('\n'))
    await publishZone(deps, id)
    const [rows, memory] = [false, true].map(
      (isInMemory) => new ServedZones({ db: deps.db, isInMemory, now: () => new Date() }),
    ) as [ServedZones, ServedZones]
    await Promise.all([rows.refresh(true), memory.refresh(true)])
    assert.equal(rows.get(zone)!.content, undefined)
    const [fromRows, fromMemory] = [await rows.open(zone), await memory.open(zone)]
    // A change during the transfer does not show.
    await writeZoneVersion(deps.db, id, { added: 'later 300 A 192.0.2.2' })
    await publishZone(deps, id)
    assert.equal(fromRows!.serial, fromMemory!.serial)
    assert.deepEqual(fromRows!.soa, fromMemory!.soa)
    assert.deepEqual(await Array.fromAsync(fromRows!.sets), await Array.fromAsync(fromMemory!.sets))
  })

  it('keeps serving a deleted zone until it is withdrawn', async () => {
    const zone = parseZoneName('gone.example')
    const zones = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
    const id = await insertTestZone(deps.db, 'gone.example')
    await publishZone(deps, id)
    await zones.refresh(true)
    await sql`update dns_zones set deleted = now() where id = ${id}`.execute(deps.db)
    await zones.refresh(true)
    assert.ok(zones.get(zone))
    await sql`update dns_zones set withdrawn = now() where id = ${id}`.execute(deps.db)
    await zones.refresh(false)
    assert.equal(zones.get(zone), undefined)
    const lost = await insertTestZone(deps.db, 'lost.example')
    await publishZone(deps, lost)
    await zones.refresh(false)
    await sql`delete from dns_zones where id = ${lost}`.execute(deps.db)
    await zones.refresh(true)
    assert.ok(zones.get(parseZoneName('lost.example')), 'a missing row is no evidence')
  })

  it('serves of two zones of one name the one that has it, and never a restored one that waits for it', async () => {
    const zone = parseZoneName('shared.example')
    const running = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
    const servedIds = async () => {
      const started = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
      await Promise.all([running.refresh(false), started.refresh(true)])
      return [running, started].map((zones) => zones.get(zone)?.id)
    }
    const catalog = parseZoneName('catalog.example')
    const listedIds = async () => {
      await publishCatalog({ db: deps.db, catalog, now: () => new Date() })
      const { rows } = await sql<{ id: number; created: Date }>`
        select id, created from dns_zones where name = ${zone}`.execute(deps.db)
      const { sets } = await served(catalog)
      const isListed = (row: (typeof rows)[number]) => sets.some((set) => set.startsWith(memberLabel(row)))
      return rows.filter(isListed).map(({ id }) => id)
    }
    const [red, blue] = [
      await seedTeam(database.postgres, 'shared-red'),
      await seedTeam(database.postgres, 'shared-blue'),
    ]
    const insertWaiting = async (teamId: number) => {
      const id = await insertTestZone(deps.db, zone)
      await sql`update dns_zones set team_id = ${teamId}, claimed = null, status = 'pending_verification'
        where id = ${id}`.execute(deps.db)
      return id
    }
    const inTeam = (teamId: number, id: number, work: (trx: Trx, zone: Zone) => Promise<void>) =>
      deps.db.transaction().execute(async (trx) => work(trx, (await lockZone(trx, teamId, { id }))!))
    const remove = (teamId: number, id: number) =>
      inTeam(teamId, id, async (trx, found) => {
        await markZoneDeleted(trx, found, 'test')
        await claimWaiting(trx, zone)
      })
    const restore = (teamId: number, id: number) =>
      inTeam(teamId, id, (trx, found) => markZoneRestored(trx, found, false))
    const first = await insertWaiting(red)
    const second = await insertWaiting(blue)
    await deps.db.transaction().execute((trx) => claimWaiting(trx, zone))
    assert.equal(await publishZone(deps, first), 'created')
    assert.deepEqual(await servedIds(), [first, first])
    assert.deepEqual(await listedIds(), [first])
    await remove(red, first)
    assert.equal(await publishZone(deps, second), 'created')
    assert.deepEqual(await servedIds(), [second, second])
    await restore(red, first)
    assert.deepEqual(await servedIds(), [second, second])
    assert.deepEqual(await listedIds(), [second])
    await remove(blue, second)
    assert.deepEqual(
      await servedIds(),
      [first, first],
      'the name is back, and the other zone is not withdrawn yet',
    )
    await restore(blue, second)
    assert.deepEqual(await servedIds(), [first, first])
    await remove(red, first)
    assert.deepEqual(await servedIds(), [second, second])
  })
})
