import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { ingestDeliveries } from '../../events/ingest/ingest.ts'
import type { Detection } from './detection.ts'
import { encodeReports } from './report-file.ts'
import { createSilentCheck, endSilentAttacks, silentCheckMs } from './silent-attacks.ts'
import { storeReports } from './store-reports.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  await sql`insert into sources (key, kind, name, secret_mac, settings) values ('detector', 'flows', 'Detector', '\\x00', '{}')`.execute(
    database.postgres.owner,
  )
})
after(() => database[Symbol.asyncDispose]())

const began = Date.now() - 3_600_000
const time = (second: number): string => new Date(began + second * 1000).toISOString()

/** Stores a report of an attack that began at 0, from the spool of a collector. */
async function report(network: string, collector: string, second: number, end?: number): Promise<void> {
  const detection = {
    id: `${network}|${time(0)}`,
    network,
    direction: 'incoming',
    status: end === undefined ? 'ongoing' : 'ended',
    classification: 'udp.flood',
    start: time(0),
    observed: time(second),
    ...(end !== undefined && { end: time(end) }),
    bps: 1e9,
    total_bytes: second * 1e8,
  } as Partial<Detection> as Detection
  await storeReports(database.postgres, 'detector', collector, encodeReports([detection]))
}

async function reports(network: string, collector: string, from: number, until: number): Promise<void> {
  for (let second = from; second <= until; second += 10) await report(network, collector, second)
  await ingestDeliveries(database.postgres, createOwnershipCache())
}

async function eventsOn(network: string) {
  const { rows } = await sql<{ start: Date; end: Date | null; octets: number | null }>`
    select start_at as start, end_at as end, (parsed_data->>'total_bytes')::float8 as octets
    from events where affected_network = ${network} order by start_at`.execute(database.postgres.owner)
  return rows.map(({ start, end, octets }) => [
    (start.getTime() - began) / 1000,
    end && (end.getTime() - began) / 1000,
    octets,
  ])
}

const silence = (network: string) =>
  sql`update events set source_received = now() - interval '11 minutes' where affected_network = ${network}`.execute(
    database.postgres.owner,
  )

describe('an attack that no collector reports', () => {
  it('is ended, and is another event if its collector was only cut off', async () => {
    const network = '203.0.113.7/32'
    await reports(network, 'a', 3, 13)
    await silence(network)
    assert.equal(await endSilentAttacks(database.postgres, new Date(began + 620_000)), 1)
    await reports(network, 'a', 23, 613)
    assert.deepEqual(await eventsOn(network), [[0, 620, 613e8]], 'reports from before the end belong to it')
    await reports(network, 'a', 623, 653)
    assert.deepEqual(await eventsOn(network), [
      [0, 620, 613e8],
      [623, null, null],
    ])
    // The collector was replaced.
    await reports(network, 'b', 693, 703)
    await report(network, 'b', 800, 740)
    await ingestDeliveries(database.postgres, createOwnershipCache())
    assert.deepEqual(await eventsOn(network), [
      [0, 620, 613e8],
      [623, 740, null],
    ])
  })

  it('is reported by another collector after one whose clock was ahead', async () => {
    const network = '203.0.113.9/32'
    await reports(network, 'a', 12_000, 12_010)
    await silence(network)
    assert.equal(await endSilentAttacks(database.postgres, new Date(began + 3_600_000)), 1)
    await reports(network, 'b', 3_640, 3_640)
    assert.deepEqual(await eventsOn(network), [
      [0, 3600, 12_010e8],
      [3640, null, null],
    ])
  })

  it('is not ended before the reports that waited for the database', async () => {
    const network = '203.0.113.8/32'
    let hasReports = false
    const check = createSilentCheck(database.postgres, () => hasReports)
    await reports(network, 'a', 3, 13)
    await silence(network)
    const minute = (count: number) => new Date(began + count * silentCheckMs)
    assert.equal(await check(minute(20)), 0, 'the process has just started')
    hasReports = true
    assert.equal(await check(minute(21)), 0, 'reports of this process wait')
    hasReports = false
    assert.equal(await check(minute(24)), 0, 'the database was down in between')
    assert.equal(await check(minute(25)), 1)
    await ingestDeliveries(database.postgres, createOwnershipCache())
    assert.deepEqual(
      (await eventsOn(network)).map(([, end]) => end),
      [25 * 60],
    )
  })
})
