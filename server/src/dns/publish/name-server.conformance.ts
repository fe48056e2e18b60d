// The conformance suite of every name server that follows the primary (part A of the design): run for the sandbox, the built-in server and
// real daemons. It uses only the port and the primary.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { skipWithout } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { nameKey, parseZoneName, type ZoneName } from '../../net/dns/name.ts'
import type { ResourceRecord } from '../../net/dns/record.ts'
import type { Serial } from '../../net/dns/serial.ts'
import { recordType } from '../../net/dns/type.ts'
import type { TestPrimary } from '../../drivers/dns-server/testing.ts'
import type { NameServer } from './name-server.ts'
import { assertVerified, verifiers } from '../testing.ts'
import { serialOf } from '../serve/served-zones.ts'
import { memberLabel } from './catalog.ts'
import { writeZoneVersion, enableSigning, insertTestZone } from './testing.ts'
import { isLongRun, onlyInLongRun, scaled } from '../../runtime/testing-scale.ts'

export type NameServerFixture = {
  readonly primary: TestPrimary
  /** The follower, which is configured for all of `conformanceZones`, and for `conformanceCatalog` unless that is skipped. */
  readonly server: NameServer
  /** A server that does not exist. */
  readonly absent: NameServer
  /** Restarts the follower, which keeps its transferred zones. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

export type Skips = {
  /** Why the version of the server is not queried. */
  readonly identity?: string
  /** Why a zone without data is not reported as failing. */
  readonly failing?: string
  /** Why a serial over the wrap is not followed. */
  readonly wrap?: string
  /** Why names are not compared in every spelling. */
  readonly names?: string
  readonly large?: string
  readonly restart?: string
  /** Why zones are not learned from a catalog zone. */
  readonly catalog?: string
  /** Why a primary with another time is followed. */
  readonly clock?: string
}

const names = [
  'plain',
  'steps',
  'wrap',
  'large',
  'odd',
  'burst',
  'outage',
  'clock',
  'signed',
  'missing',
] as const
export const conformanceZones: readonly string[] = names.map((name) => `${name}.conformance.`)

export const conformanceCatalog = parseZoneName('catalog.conformance.')

const zoneOf = (name: (typeof names)[number]): ZoneName => parseZoneName(`${name}.conformance.`)

/** A name of 255 octets with labels of 63; below `odd.conformance.`, which takes 17. */
const longName = [...Array.from({ length: 3 }, () => 'l'.repeat(63)), 's'.repeat(45)].join('.')

/** The last set has 60 kB. BIND takes at most 100 records in a set (max-records-per-type). */
const oddRecords = `
  \\000nul 300 A 192.0.2.1
  dot\\.in\\.label 300 A 192.0.2.2
  \\255high 300 TXT x
  ${longName} 300 A 192.0.2.3
  * 300 TXT wildcard
  a.b.c.empty 300 A 192.0.2.4
  moved 300 DNAME elsewhere.example.
  child 300 NS ns.child
  ns.child 300 A 192.0.2.5
  deep.child 300 A 192.0.2.6
  unknown 300 TYPE65280 \\# 4 deadbeef
  service 300 SRV 0 5 5060 sip
  ${Array.from({ length: 95 }, (_, i) => `many 300 TXT ${`${'t'.repeat(209)} `.repeat(3)}${i}`).join('\n')}
`

/** Runs the suite; `make` starts one follower for all tests. `skip` is the reason to skip all of it. */
export function nameServerConformance(
  name: string,
  make: () => Promise<NameServerFixture>,
  skip: string | false = false,
  skips: Skips = {},
): void {
  describe(`the name server ${name}`, { skip }, () => {
    let fixture: NameServerFixture
    before(async () => {
      fixture = await make()
    })
    after(() => fixture?.stop())

    const db = () => fixture.primary.deps.db

    /** Publishes, notifies until the follower serves the serial, and returns it. */
    async function follow(zone: ZoneName, id: number): Promise<Serial> {
      const serial = await fixture.primary.publish(id)
      await serves(zone, serial)
      return serial
    }

    async function serves(zone: ZoneName, serial: Serial): Promise<void> {
      let sinceMs = -Infinity
      await waitFor(`${name} serves ${zone} at ${serial}`, async () => {
        // Only the serial that is read back counts; a lost NOTIFY is repeated.
        if (performance.now() - sinceMs > 1_000) {
          sinceMs = performance.now()
          await fixture.server.notify([{ zone, serial }]).catch(() => {})
        }
        const serials = await fixture.server.serials([zone]).catch(() => undefined)
        return serials?.get(zone) === serial
      })
    }

    async function comparesEqual(zone: ZoneName): Promise<void> {
      const snapshot = await fixture.primary.zones.open(zone)
      const expected = (await Array.fromAsync(snapshot!.sets)).flatMap(({ rdata, rrsig, ...set }) => [
        ...rdata.map((rdata) => lineOf({ ...set, rdata })),
        ...rrsig.map((rdata) => lineOf({ ...set, type: recordType.RRSIG, rdata })),
      ])
      const read = await readAt(zone, snapshot!.serial)
      assert.deepEqual(read.map(lineOf).sort(), expected.sort())
    }

    /** Reads the zone again while a process of NSD that is about to end still answers with the version before. */
    const readAt = (zone: ZoneName, serial: Serial): Promise<ResourceRecord[]> =>
      waitFor(`${name} transfers ${zone} at ${serial}`, async () => {
        const records = await Array.fromAsync(fixture.server.read(zone))
        const soa = records.find(({ type }) => type === recordType.SOA)
        return soa && serialOf({ rdata: [soa.rdata] }) === serial && records
      })

    it('tells who it is', { skip: skips.identity ?? false }, async () => {
      const identity = await waitFor('an answer', () => fixture.server.probe().catch(() => undefined))
      assert.ok(identity)
    })

    it('is reported as unreachable if nobody answers', async () => {
      const server = fixture.absent
      await assert.rejects(server.probe(), { kind: 'unreachable' })
      await assert.rejects(server.serials([zoneOf('plain')]), { kind: 'unreachable' })
    })

    it('serves a zone that is published, and the next change of it', async () => {
      const zone = zoneOf('plain')
      const id = await insertTestZone(db(), zone, 'www 300 A 192.0.2.1')
      const first = await follow(zone, id)
      await comparesEqual(zone)
      await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2' })
      assert.notEqual(await follow(zone, id), first)
      await comparesEqual(zone)
      const question = { name: parseZoneName(`www.${zone}`), type: recordType.A, class: 1 }
      await waitFor(`${name} answers with the change`, async () => {
        const { answers } = await fixture.server.ask(question)
        return isDeepStrictEqual(
          answers.map(({ rdata }) => [...rdata]),
          [[192, 0, 2, 2]],
        )
      })
    })

    it('tells serials, absent zones and zones without data apart, a thousand in one call', async () => {
      const foreign = Array.from({ length: 1_000 }, (_, i) => parseZoneName(`zone${i}.elsewhere.`))
      const missing = zoneOf('missing')
      const serials = await fixture.server.serials([...foreign, zoneOf('plain'), missing])
      assert.equal(serials.size, 1_002)
      for (const zone of foreign) assert.equal(serials.get(zone), 'absent')
      assert.equal(typeof serials.get(zoneOf('plain')), 'number')
      if (!skips.failing) assert.equal(serials.get(missing), 'failing')
    })

    it('follows one step and many, and a zone without a journal', async () => {
      const zone = zoneOf('steps')
      const id = await insertTestZone(db(), zone, 'www 300 A 192.0.2.1\nold 300 A 192.0.2.7')
      await follow(zone, id)
      for (const steps of [1, 10, ...(isLongRun ? [100] : [])]) {
        for (let i = 0; i < steps; i++) {
          await writeZoneVersion(db(), id, {
            added: `www 300 A 192.0.${steps}.${i}\nn${steps}-${i} 60 A 192.0.2.1`,
          })
          if (i < steps - 1) await fixture.primary.publish(id)
        }
        await follow(zone, id)
        await comparesEqual(zone)
      }
      await writeZoneVersion(db(), id, { removed: 'old 300 A 192.0.2.7', added: 'www 300 TXT again' })
      await db().deleteFrom('dns_transfers').execute()
      await fixture.primary.publish(id)
      await db().deleteFrom('dns_transfers').execute()
      await fixture.primary.zones.refresh(true)
      await serves(zone, fixture.primary.zones.get(zone)!.serial)
      await comparesEqual(zone)
    })

    it('follows a serial over the wrap', { skip: skips.wrap ?? false }, async () => {
      const zone = zoneOf('wrap')
      const { deps } = fixture.primary
      const original = deps.now
      Object.assign(deps, { now: () => new Date(4_294_967_291_000) })
      try {
        const id = await insertTestZone(db(), zone, 'www 300 A 192.0.2.0', { serial: 4_294_967_290 })
        const serials = [await follow(zone, id)]
        for (let i = 1; i < 12; i++) {
          await writeZoneVersion(db(), id, { added: `www 300 A 192.0.2.${i}` })
          serials.push(await follow(zone, id))
        }
        assert.equal(serials[0], 4_294_967_291)
        assert.equal(serials.at(-1), 7)
        await comparesEqual(zone)
      } finally {
        Object.assign(deps, { now: original })
      }
    })

    it(
      'transfers odd names, large sets, unknown types and what a delegation occludes',
      { skip: skips.names ?? false },
      async () => {
        const zone = zoneOf('odd')
        const id = await insertTestZone(db(), zone, oddRecords)
        await follow(zone, id)
        await comparesEqual(zone)
      },
    )

    it(
      'transfers a zone of 20,000 records, and a change of it',
      { skip: skips.large ?? onlyInLongRun },
      async () => {
        const zone = zoneOf('large')
        const records = Array.from({ length: 20_000 }, (_, i) => `h${i} 300 A 10.0.${i >> 8}.${i & 255}`)
        const id = await insertTestZone(db(), zone, records.join('\n'))
        await follow(zone, id)
        await writeZoneVersion(db(), id, { added: 'h77 300 A 10.9.9.9' })
        await follow(zone, id)
        await comparesEqual(zone)
      },
    )

    it('ends at the last of many changes, with at most as many serials', async () => {
      const zone = zoneOf('burst')
      const changes = scaled(200)
      const id = await insertTestZone(db(), zone, 'www 300 A 192.0.2.1')
      const first = await follow(zone, id)
      const changing = new AbortController()
      const publishing = (async () => {
        while (!changing.signal.aborted) await fixture.primary.publish(id)
      })()
      for (let i = 0; i < changes; i++) await writeZoneVersion(db(), id, { added: `www 300 A 192.0.3.${i}` })
      changing.abort()
      await publishing
      const last = await follow(zone, id)
      assert.ok(last - first <= changes)
      await comparesEqual(zone)
    })

    it(
      'serves while the primary is down, and follows when both are back',
      { skip: skips.restart ?? false },
      async () => {
        const zone = zoneOf('outage')
        const id = await insertTestZone(db(), zone, 'www 300 A 192.0.2.1')
        const before = await follow(zone, id)
        await fixture.primary.stop()
        await fixture.restart()
        await waitFor('the zone after the restart', async () => {
          const serials = await fixture.server.serials([zone]).catch(() => undefined)
          return serials?.get(zone) === before
        })
        await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2' })
        const serial = await fixture.primary.publish(id)
        await fixture.primary.start()
        await serves(zone, serial)
        await comparesEqual(zone)
      },
    )

    it(
      'takes nothing from a primary whose clock is 400 seconds ahead',
      { skip: skips.clock ?? false },
      async () => {
        const zone = zoneOf('clock')
        const { clock } = fixture.primary
        const id = await insertTestZone(db(), zone, 'www 300 A 192.0.2.1')
        const before = await follow(zone, id)
        await writeZoneVersion(db(), id, { added: 'www 300 A 192.0.2.2' })
        const serial = await fixture.primary.publish(id)
        clock.aheadSeconds = 400
        try {
          await fixture.server.notify([{ zone, serial }]).catch(() => {})
          await sleep(1_500)
          const ask = () => fixture.server.serials([zone]).catch(() => undefined)
          assert.equal((await waitFor('an answer', ask)).get(zone), before)
        } finally {
          clock.aheadSeconds = 0
        }
        await serves(zone, serial)
      },
    )

    it('serves a zone while the catalog zone has it', { skip: skips.catalog ?? false }, async () => {
      const zone = parseZoneName('member.conformance.')
      const id = await insertTestZone(db(), zone, 'www 300 A 192.0.2.1')
      const serial = await fixture.primary.publish(id)
      const member = `${memberLabel({ id, created: new Date(0) })}.zones 0 PTR ${zone}`
      const other = 'other.zones 0 PTR plain.conformance.'
      const catalogId = await insertTestZone(db(), conformanceCatalog, `version 0 TXT 2\n${other}\n${member}`)
      const announce = async (): Promise<void> => {
        const serial = await fixture.primary.publish(catalogId)
        await fixture.server.notify([{ zone: conformanceCatalog, serial }]).catch(() => {})
      }
      const becomes = (expected: Serial | 'absent') =>
        waitFor(`${zone} is ${expected}`, async () => {
          const serials = await fixture.server.serials([zone]).catch(() => undefined)
          return serials?.get(zone) === expected
        })
      await announce()
      await becomes(serial)
      await comparesEqual(zone)
      await writeZoneVersion(db(), catalogId, { removed: member })
      await announce()
      await becomes('absent')
      assert.equal(typeof (await fixture.server.serials([zoneOf('plain')])).get(zoneOf('plain')), 'number')
    })

    it(
      'has a signed zone that verifies after random changes',
      { skip: skipWithout(...verifiers) },
      async () => {
        const zone = zoneOf('signed')
        const id = await insertTestZone(
          db(),
          zone,
          'www 300 A 192.0.2.1\n* 300 TXT wildcard\nchild 300 NS ns.other.',
        )
        await enableSigning(db(), fixture.primary.deps.ring, id)
        await follow(zone, id)
        const present = new Map<string, string>()
        for (let i = 0; i < scaled(100); i++) {
          const name = `${['a', 'b.deep', 'c.child2', 'd'][Math.floor(Math.random() * 4)]}${Math.floor(Math.random() * 12)}`
          const old = present.get(name)
          const added = old === undefined || Math.random() < 0.5 ? `${name} 300 TXT v${i}` : undefined
          await writeZoneVersion(db(), id, { ...(old && { removed: old }), ...(added && { added }) })
          if (added === undefined) present.delete(name)
          else present.set(name, added)
          if (i % 4 === 0) await fixture.primary.publish(id)
        }
        const serial = await follow(zone, id)
        await comparesEqual(zone)
        const records = await readAt(zone, serial)
        assertVerified(
          zone,
          records.map(({ rdata, ...record }) => ({ ...record, rdata: [rdata], rrsig: [] })),
        )
      },
    )

    it('rejects what runs when it is closed', async () => {
      const server = fixture.absent
      const running = server.serials([zoneOf('plain')])
      await Promise.all([assert.rejects(running), server.close()])
      await assert.rejects(server.serials([zoneOf('plain')]))
    })
  })
}

const lineOf = ({ name, type, ttl, rdata }: Omit<ResourceRecord, 'class'>): string =>
  `${Buffer.from(nameKey(name)).toString('hex')} ${type} ${ttl} ${Buffer.from(rdata).toString('hex')}`
