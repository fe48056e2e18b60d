import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { programPath, skipWithout } from '@pharos/lab/program'
import { decideApproval, openApprovals, valuesOf } from '../../approval/testing.ts'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { parseZoneName } from '../../net/dns/name.ts'
import type { SignedRrset } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { ServedZones } from '../serve/served-zones.ts'
import { signZone } from '../sign/sign-zone.ts'
import { zoneFileOf } from '../testing.ts'
import { publishZone, type PublishDeps } from './publish-zone.ts'
import { requestResigning } from './publish.store.ts'
import { writeZoneVersion, enableSigning, insertTestZone } from './testing.ts'

const run = promisify(execFile)
const ring = createKeyRing(['x'.repeat(32)])
const day = 86_400_000

describe('the publication of a signed zone', { skip: skipWithout('dnssec-verify') }, () => {
  let database: TestDatabase
  let deps: PublishDeps
  let wholeSignings = 0
  const folder = mkdtempSync(join(tmpdir(), 'pharos-signed-'))
  before(async () => {
    database = await createTestDatabase()
    deps = {
      db: database.postgres.owner,
      ring,
      signWhole: (...parameters) => {
        wholeSignings++
        return signZone(...parameters)
      },
      now: () => new Date(),
    }
  })
  after(async () => {
    await database[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const enable = (id: number, options: object) => enableSigning(deps.db, ring, id, options)

  async function served(name: string): Promise<SignedRrset[]> {
    const zones = new ServedZones({ db: deps.db, isInMemory: true, now: () => new Date() })
    await zones.refresh(true)
    return Array.fromAsync((await zones.open(parseZoneName(name)))!.sets)
  }

  async function verify(name: string): Promise<SignedRrset[]> {
    const sets = await served(name)
    const file = join(folder, `${name}.zone`)
    writeFileSync(file, zoneFileOf(sets))
    await run(programPath('dnssec-verify'), ['-z', '-o', name, file])
    return sets
  }

  for (const nsec3 of [false, true]) {
    it(`verifies after enabling, 60 changes and disabling, with ${nsec3 ? 'NSEC3' : 'NSEC'}`, async () => {
      const name = nsec3 ? 'hashed.example' : 'signed.example'
      const id = await insertTestZone(
        deps.db,
        name,
        'www 300 A 192.0.2.1\nchild 300 NS ns.child\nns.child 300 A 192.0.2.5',
      )
      await publishZone(deps, id)
      await enable(id, { nsec3 })
      assert.equal(await publishZone(deps, id), 'published')
      const types = new Set((await verify(name)).map(({ type }) => type))
      for (const type of ['DNSKEY', 'CDS', 'CDNSKEY', nsec3 ? 'NSEC3' : 'NSEC'] as const)
        assert.ok(types.has(recordType[type]), type)
      const before = wholeSignings
      for (let i = 0; i < 60; i++) {
        const added = [
          `n${i} 300 A 192.0.2.${i}`,
          `a.b${i % 7}.deep 300 TXT v${i}`,
          `child${i % 3} 300 NS ns.other.`,
        ]
        const removed = i >= 10 && i % 2 === 0 ? { removed: `n${i - 10} 300 A 192.0.2.${i - 10}` } : {}
        await writeZoneVersion(deps.db, id, { added: added.join('\n'), ...removed })
        if (i % 3 !== 0) assert.equal(await publishZone(deps, id), 'published')
      }
      await publishZone(deps, id)
      assert.equal(wholeSignings, before, 'changes sign only what depends on them')
      await verify(name)
      await sql`update dns_keys set state = 'removed' where zone_id = ${id}`.execute(deps.db)
      await sql`update dns_zones set dnssec = 'disabled', resign_requested = now() where id = ${id}`.execute(
        deps.db,
      )
      assert.equal(await publishZone(deps, id), 'published')
      const unsigned = await served(name)
      assert.ok(
        unsigned.every(({ type, rrsig }) => rrsig.length === 0 && ![47, 48, 50, 51, 59, 60].includes(type)),
      )
    })
  }

  it('renews signatures before they expire, under a new serial and the same version', async () => {
    const id = await insertTestZone(deps.db, 'renewed.example', 'www 300 A 192.0.2.1')
    await publishZone(deps, id)
    await enable(id, {})
    await publishZone(deps, id)
    const row = async () => {
      const { rows } = await sql<{ serial: number; version: number; expires: Date }>`
        select z.serial::float8 as serial, z.version::float8 as version,
          (select min(expires) from dns_served s where s.zone_id = z.id) as expires
        from dns_zones z where z.id = ${id}`.execute(deps.db)
      return rows[0]!
    }
    const first = await row()
    assert.equal(await requestResigning(deps.db, new Date(Date.now() + 14 * day)), 0)
    const later = new Date(Date.now() + 10 * day)
    assert.equal(await requestResigning(deps.db, new Date(later.getTime() + 14 * day)), 1)
    assert.equal(await publishZone({ ...deps, now: () => later }, id), 'published')
    const second = await row()
    assert.ok(second.serial > first.serial)
    assert.equal(second.version, first.version)
    assert.ok(second.expires.getTime() > later.getTime() + 14 * day)
  })

  it('has the same signatures in every process: they are made once, and stored', async () => {
    const id = await insertTestZone(deps.db, 'once.example', 'www 300 A 192.0.2.1')
    await publishZone(deps, id)
    await enable(id, {})
    await publishZone(deps, id)
    const zone = parseZoneName('once.example')
    const processes = [true, true, false].map(
      (isInMemory) => new ServedZones({ db: deps.db, isInMemory, now: () => new Date() }),
    )
    await processes[0]!.refresh(true)
    // The first process follows the change step by step, the others load the zone afterwards.
    await writeZoneVersion(deps.db, id, { added: 'new 300 A 192.0.2.2' })
    await publishZone(deps, id)
    const [first, ...others] = await Promise.all(
      processes.map(async (zones) => {
        await zones.refresh(false)
        const sets = await Array.fromAsync((await zones.open(zone))!.sets)
        return sets.toSorted((a, b) => a.type - b.type || (a.name < b.name ? -1 : 1))
      }),
    )
    assert.ok(first!.some(({ rrsig }) => rrsig.length > 0))
    for (const other of others) assert.deepEqual(other, first)
  })

  it('stops removals that no version itemises, and publishes exactly these once staff approve', async () => {
    const text = ['one', 'two', 'www'].map((name) => `${name} 300 A 192.0.2.1`).join('\n')
    const id = await insertTestZone(deps.db, 'held.example', text)
    await publishZone(deps, id)
    await enable(id, {})
    // A signer that loses names.
    const losing = (...names: string[]): PublishDeps => ({
      ...deps,
      signWhole: (zone, sets, ...rest) =>
        signZone(
          zone,
          [...sets].filter((set) => !names.some((one) => set.name.startsWith(`${one}.`))),
          ...rest,
        ),
    })
    const addresses = async () =>
      (await served('held.example')).filter(({ type }) => type === recordType.A).map(({ name }) => name)
    assert.equal(await publishZone(losing('one'), id), 'held')
    const [first, ...others] = await openApprovals(deps.db)
    assert.equal(others.length, 0)
    assert.deepEqual(
      [first!.reason, first!.subject, valuesOf(first!), first!.item_count],
      ['unexplained_removals', { type: 'zone', id, name: 'held.example' }, ['one.held.example. A'], 1],
    )
    await decideApproval(deps.db, first!.id, 'approved')
    // The approval covers one, and not two: another one opens.
    assert.equal(await publishZone(losing('one', 'two'), id), 'held')
    const [second] = await openApprovals(deps.db)
    assert.deepEqual(valuesOf(second!), ['one.held.example. A', 'two.held.example. A'])
    assert.deepEqual(await addresses(), ['one.held.example.', 'two.held.example.', 'www.held.example.'])
    await decideApproval(deps.db, second!.id, 'rejected')
    assert.equal(await publishZone(losing('one', 'two'), id), 'held')
    assert.deepEqual(await openApprovals(deps.db), [], 'what was rejected is not asked again')
    assert.equal(await publishZone(losing('one'), id), 'published')
    assert.deepEqual(await addresses(), ['two.held.example.', 'www.held.example.'])
    await verify('held.example')
  })

  it('keeps its signatures if the key cannot be opened, and says so', async () => {
    const id = await insertTestZone(deps.db, 'locked.example', 'www 300 A 192.0.2.1')
    await publishZone(deps, id)
    await enable(id, {})
    await publishZone(deps, id)
    const before = await served('locked.example')
    await writeZoneVersion(deps.db, id, { added: 'www 300 A 192.0.2.2' })
    const other = { ...deps, ring: createKeyRing(['y'.repeat(32)]) }
    assert.equal(await publishZone(other, id), 'error')
    assert.deepEqual(await served('locked.example'), before)
    const { rows } = await sql`select reason from dns_zones where id = ${id}`.execute(deps.db)
    assert.deepEqual(rows, [{ reason: 'zone_not_signed' }])
  })
})
