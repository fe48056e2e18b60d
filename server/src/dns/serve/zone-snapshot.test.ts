// Zones from a snapshot: the same answers as from memory, without the database; foreign and damaged files are rejected.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sql } from 'kysely'
import { startTestPrimary, type TestPrimary } from '../../drivers/dns-server/testing.ts'
import { compareNames, parseName, parseZoneName, type DomainName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { silentLog } from '../../runtime/log.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { scaled } from '../../runtime/testing-scale.ts'
import { EncodedZone } from '../answer/encoded-zone.ts'
import { MemoryZone, type ReadableZone } from '../answer/memory-zone.ts'
import { writeZoneVersion, enableSigning, insertTestZone } from '../publish/testing.ts'
import { ServedZones } from './served-zones.ts'
import { readSnapshot, writeSnapshot } from './zone-snapshot.ts'

const ring = createKeyRing(['s'.repeat(64)])
const now = () => new Date()
const text = `
  www 300 A 192.0.2.1
  a.b.c 300 TXT deep
  *.wild 300 A 192.0.2.2
  sub 300 NS ns.sub
  ns.sub 300 A 192.0.2.3
  x\\.y 300 TXT "escaped"
  z 300 CNAME www
`

describe('the snapshot of the served zones', () => {
  let primary: TestPrimary
  let folder: string
  let file: string
  const ids = new Map<string, number>()
  before(async () => {
    primary = await startTestPrimary()
    folder = mkdtempSync(join(tmpdir(), 'pharos-snapshot-'))
    file = join(folder, 'dns', 'zones.snapshot')
    for (const [name, options] of [
      ['plain.example', undefined],
      ['nsec.example', {}],
      ['nsec3.example', { nsec3: true }],
    ] as const) {
      const id = await insertTestZone(db(), name, text)
      if (options) await enableSigning(db(), primary.deps.ring, id, options)
      await primary.publish(id)
      ids.set(name, id)
    }
    await sql`insert into installation (uuid) values (gen_random_uuid()) on conflict (key) do update set uuid = excluded.uuid`.execute(
      db(),
    )
    await writeSnapshot(db(), ring, file, now())
  })
  after(async () => {
    await primary[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  const db = () => primary.deps.db
  const away = new Proxy({} as typeof primary.deps.db, {
    get: () => () => {
      throw new Error('the database is away')
    },
  })
  const served = (from = db(), keys = ring) =>
    new ServedZones({ db: from, isInMemory: true, now, snapshot: { file, ring: keys, log: silentLog } })
  const contentOf = (zones: ServedZones, name: string) => zones.get(parseZoneName(name))?.content

  const sorted = (zone: ReadableZone) =>
    [...zone.sets()].sort((a, b) => compareNames(a.name, b.name) || a.type - b.type)

  it('answers every question as memory does', async () => {
    const restored = (await readSnapshot(ring, file, now()))!
    assert.deepEqual(restored.zones.map(({ name }) => name).toSorted(), [
      'nsec.example.',
      'nsec3.example.',
      'plain.example.',
    ])
    const label = fc.constantFrom('www', 'a', 'b', 'c', '*', 'wild', 'sub', 'ns', 'x\\.y', 'x', 'y', 'z', 'q')
    for (const { name: zone, content } of restored.zones) {
      const memory = new MemoryZone(zone, content.sets())
      assert.deepEqual([...content.sets()], [...memory.sets()])
      assert.equal(content.hasNsec3, memory.hasNsec3)
      fc.assert(
        fc.property(fc.array(label, { maxLength: 4 }), (labels) => {
          const name = parseName(['', ...labels].slice(1).concat(zone).join('.')) as DomainName
          const node = memory.node(name)
          assert.deepEqual(content.node(name), node && { name, sets: node.sets })
          for (const type of [recordType.A, recordType.TXT, recordType.NSEC, recordType.NSEC3])
            assert.deepEqual(content.find(name, type), memory.find(name, type))
          assert.deepEqual(content.nsecFor(name), memory.nsecFor(name))
          assert.deepEqual(content.nsec3For(name), memory.nsec3For(name))
        }),
        { numRuns: scaled(2_000, 200) },
      )
    }
  })

  it('is served before the database answers, and follows it then', async () => {
    const alone = served(away)
    await alone.restore()
    assert.ok(alone.isLoaded)
    const www = parseName('www.nsec.example.')
    assert.ok(contentOf(alone, 'nsec.example') instanceof EncodedZone)
    assert.equal(contentOf(alone, 'nsec.example')!.find(www, recordType.A)!.rrsig.length, 1)
    await writeZoneVersion(db(), ids.get('nsec.example')!, { added: 'www 300 A 192.0.2.99' })
    const serial = await primary.publish(ids.get('nsec.example')!)
    const zones = served()
    await zones.restore()
    await zones.refresh(true)
    assert.equal(zones.get(parseZoneName('nsec.example'))!.serial, serial)
    assert.deepEqual(
      contentOf(zones, 'nsec.example')!
        .find(www, recordType.A)!
        .rdata.map((one) => one.join('.')),
      ['192.0.2.99'],
    )
    assert.ok(contentOf(zones, 'plain.example') instanceof EncodedZone, 'what did not change is as it was')
    await zones.decodeAll()
    assert.ok(contentOf(zones, 'plain.example') instanceof MemoryZone)
    const fresh = served()
    await fresh.refresh(true)
    for (const name of ids.keys())
      assert.deepEqual(sorted(contentOf(zones, name)!), sorted(contentOf(fresh, name)!), name)
  })

  it('is ignored if an octet of it is another one, if it is cut off, and under another key', async () => {
    const octets = readFileSync(file)
    const valid = async () => (await readSnapshot(ring, file, now()).catch(() => undefined)) !== undefined
    for (let at = 0; at < octets.length; at += Math.ceil(octets.length / scaled(400, 40))) {
      const changed = Buffer.from(octets)
      changed[at]! ^= 1
      writeFileSync(file, changed)
      assert.equal(await valid(), false, String(at))
      writeFileSync(file, octets.subarray(0, at))
      assert.equal(await valid(), false, `cut at ${at}`)
    }
    writeFileSync(file, octets)
    assert.equal(await valid(), true)
    assert.equal(await readSnapshot(createKeyRing(['t'.repeat(64)]), file, now()), undefined)
    assert.equal(await readSnapshot(ring, file, new Date(Date.now() + 15 * 86_400_000)), undefined)
    assert.equal(await readSnapshot(ring, join(folder, 'none'), now()), undefined)
  })

  it('of another database, and zones without a row, are not served once the database answers', async () => {
    const gone = await insertTestZone(db(), 'gone.example', 'www 300 A 192.0.2.1')
    await primary.publish(gone)
    const first = served()
    await first.refresh(true)
    await first.save()
    assert.deepEqual(readdirSync(join(folder, 'dns')), ['zones.snapshot'], 'nothing is left aside')
    await sql`delete from dns_zones where id = ${gone}`.execute(db())
    const zones = served()
    await zones.restore()
    assert.equal(zones.size, 4)
    await zones.refresh(true)
    assert.equal(zones.size, 3)
    await sql`
      insert into installation (uuid) values (gen_random_uuid())
      on conflict (key) do update set uuid = excluded.uuid`.execute(db())
    const foreign = served()
    await foreign.restore()
    await sql`update dns_zones set withdrawn = now(), deleted = now() where name = 'plain.example.'`.execute(
      db(),
    )
    await foreign.refresh(true)
    assert.equal(contentOf(foreign, 'plain.example'), undefined)
    assert.ok(contentOf(foreign, 'nsec.example') instanceof MemoryZone, 'it was read from the rows')
  })
})
