// From datagrams over UDP to an event: the collector with its threads, the detector in them, and the ingest of its
// reports.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { openPostgres, type Postgres } from '../../db/postgres.ts'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../../drivers/clickhouse/testing.ts'
import { v5, type V5Record } from '../../drivers/netflow/testing.ts'
import { createOwnershipCache } from '../../inventory/holding/ownership.ts'
import { createLog } from '../../runtime/log.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { FlowCollector } from '../collector.ts'
import { ingestDeliveries } from '../../events/ingest/ingest.ts'
import { endSilentAttacks } from './silent-attacks.ts'
import { waitFor } from '../../../../lab/src/wait.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-detector-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let database: TestDatabase
let store: TestFlowStore
before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  const { owner } = database.postgres
  await sql`insert into teams (slug, name) values ('one', 'One')`.execute(owner)
  await sql`insert into prefixes (team_id, prefix) values (1, '203.0.113.0/24')`.execute(owner)
  await sql`insert into detector_thresholds (team_id, bps, ratio) values (1, 50000000, 4)`.execute(owner)
  await sql`
    insert into sources (key, kind, name, secret_mac, settings)
    values ('detector', 'flows', 'Flow detector', '\\x00', '{"bps": 1000000000}')`.execute(owner)
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

type EventRow = {
  target: string
  ended: boolean
  classification: string
  bps: number
  source_event_id: string
}

async function events(): Promise<EventRow[]> {
  await ingestDeliveries(database.postgres, createOwnershipCache())
  const { rows } = await sql<EventRow>`
    select affected_network as target, end_at is not null as ended, classification_key as classification,
      affected_bps as bps, source_event_id from events order by id`.execute(database.postgres.owner)
  return rows
}

function createCollector(postgres: Postgres, name: string): FlowCollector {
  return new FlowCollector({
    postgres,
    store,
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    metrics: createMetrics(),
    addresses: [{ address: '127.0.0.1', port: 0 }],
    spoolDir: join(folder, name),
    spoolBytesMax: 1e9,
    addressFiles: [],
    ownAsn: 0,
    threads: {
      receive: new URL('../../process/flow-receive-thread.ts', import.meta.url),
      batch: new URL('../../process/flow-batch-thread.ts', import.meta.url),
    },
  })
}

/** Sends the flows to a collector four times a second, until it is disposed of. */
function send(collector: FlowCollector, ...flows: readonly V5Record[]): Disposable {
  const socket = createSocket('udp4')
  const { port } = collector.addresses[0]!
  const datagram = v5({ sampling: 1 }, ...flows)
  const sending = setInterval(() => socket.send(datagram, port, '127.0.0.1'), 250)
  return {
    [Symbol.dispose]() {
      clearInterval(sending)
      socket.close()
    },
  }
}

/** 200 Mbit/s of DNS answers. */
const attack = { src: '198.51.100.9', dst: '203.0.113.7', srcPort: 53, packets: 5000, octets: 6_250_000 }

const reportFiles = (name: string): string[] =>
  readdirSync(join(folder, name)).filter((file) => file.endsWith('.reports'))

/** A database that is down until `up`: connections are refused, and open ones end. */
async function takeDown(): Promise<{ up(): Promise<void> }> {
  const url = new URL(database.databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const client = new Client({ connectionString: url.href })
  await client.connect()
  await client.query(`alter database ${name} allow_connections false`)
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [name])
  return {
    async up() {
      await client.query(`alter database ${name} allow_connections true`)
      await client.end()
    },
  }
}

/** Stored reports about a network, in the order in which they were stored. */
async function reportsOf(network: string): Promise<{ id: string; observed: string }[]> {
  const { rows } = await sql<{ id: string; observed: string }>`
    select r.report->>'id' as id, r.report->>'observed' as observed
    from deliveries d, lateral (select convert_from(d.body, 'UTF8')::jsonb as report) r
    where r.report->>'network' = ${network} order by d.id`.execute(database.postgres.owner)
  return rows
}

describe('the detector in the collector', { timeout: 600_000 }, () => {
  it('makes an event of an attack, with its end', async () => {
    const { postgres } = database
    const collector = createCollector(postgres, 'one')
    assert.equal(await collector.listen(), true)
    {
      using sending = send(
        collector,
        attack,
        { ...attack, dst: '203.0.113.8', octets: 625_000 },
        { ...attack, dst: '192.0.2.7' },
      )
      void sending
      let found: EventRow[] = []
      await waitFor('an event', async () => (found = await events()).length > 0)
      assert.deepEqual(
        found.map(({ target, ended, classification }) => [target, ended, classification]),
        [['203.0.113.7/32', false, 'udp.amplification.dns']],
      )
      assert.ok(found[0]!.bps > 50_000_000 && found[0]!.bps < 250_000_000, `${found[0]!.bps}`)
    }
    await collector.stop()
    // The collector was stopped during the attack: it is no longer reported.
    assert.equal(await endSilentAttacks(postgres, new Date()), 0)
    await sql`update events set source_received = now() - interval '11 minutes'`.execute(postgres.owner)
    assert.equal(await endSilentAttacks(postgres, new Date()), 1)
    assert.deepEqual(
      (await events()).map(({ target, ended }) => [target, ended]),
      [['203.0.113.7/32', true]],
    )
    assert.equal(await endSilentAttacks(postgres, new Date()), 0)
  })

  it('finds an attack that two collectors see in parts, and makes one event of it', async () => {
    const { postgres } = database
    const collectors = ['left', 'right'].map((name) => createCollector(postgres, name))
    for (const collector of collectors) assert.equal(await collector.listen(), true)
    // 40 Mbit/s each; the threshold is 50.
    const part = { ...attack, dst: '203.0.113.20', octets: 1_250_000 }
    const exchange = () => Promise.all(collectors.map((collector) => collector.exchangeRates()))
    {
      using left = send(collectors[0]!, part)
      using right = send(collectors[1]!, part)
      void [left, right]
      await waitFor('reports', async () => {
        await exchange()
        return (await reportsOf('203.0.113.20/32')).length >= 3
      })
    }
    const ratesOf = async () => {
      const { rows } = await sql<{ count: number }>`
        select jsonb_array_length(targets) as count from detector_rates order by updated desc limit 1`.execute(
        postgres.owner,
      )
      return rows[0]!.count
    }
    for (const collector of collectors) await collector.stop()
    assert.ok((await ratesOf()) > 0)
    assert.equal(await collectors[0]!.listen(), true)
    await collectors[0]!.exchangeRates()
    assert.equal(await ratesOf(), 0, 'rates of the threads that have ended')
    await collectors[0]!.stop()
    const found = (await events()).filter(({ target }) => target === '203.0.113.20/32')
    assert.equal(found.length, 1)
    assert.ok(found[0]!.bps > 60_000_000 && found[0]!.bps < 120_000_000, `${found[0]!.bps}`)
  })

  it('keeps its reports on disk while the database is down, over a restart of the collector', async () => {
    const other = await openPostgres({ databaseUrl: database.databaseUrl, dataDir: '' })
    const collector = createCollector(other, 'down')
    assert.equal(await collector.listen(), true)
    const { up } = await takeDown()
    const target = { ...attack, dst: '203.0.113.30' }
    {
      using sending = send(collector, target)
      void sending
      await waitFor('reports on disk', () => reportFiles('down').length >= 3)
    }
    await collector.stop()
    const waiting = reportFiles('down').length
    assert.ok(waiting >= 3)
    await up()
    const next = createCollector(other, 'down')
    assert.equal(await next.listen(), true)
    await next.reports.drained()
    await next.stop()
    await other.stop()
    assert.deepEqual(reportFiles('down'), [])
    const rows = await reportsOf('203.0.113.30/32')
    assert.equal(new Set(rows.map(({ id }) => id)).size, 1)
    assert.equal(rows.length, waiting, 'each report once')
    assert.deepEqual(
      rows,
      rows.toSorted((a, b) => a.observed.localeCompare(b.observed)),
    )
    assert.equal((await events()).filter(({ target: one }) => one === '203.0.113.30/32').length, 1)
  })
})
