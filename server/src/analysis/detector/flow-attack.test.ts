// From datagrams over UDP to an event: the collector with its threads, the detector in them, and the ingest of its reports.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../../drivers/clickhouse/testing.ts'
import { v5 } from '../../drivers/netflow/testing.ts'
import { createOwnershipCache } from '../../inventory/ownership.ts'
import { createLog } from '../../runtime/log.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { FlowCollector } from '../flow/collect/collector.ts'
import { ingestDeliveries } from '../ingest.ts'
import { endSilentAttacks } from './silent-attacks.ts'

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

describe('the detector in the collector', { timeout: 600_000 }, () => {
  it('makes an event of an attack, with its end', async () => {
    const { postgres } = database
    const collector = new FlowCollector({
      postgres,
      store,
      log: createLog({ logLevel: 'silent', logFormat: 'json' }),
      metrics: createMetrics(),
      addresses: [{ address: '127.0.0.1', port: 0 }],
      spoolDir: join(folder, 'spool'),
      spoolBytesMax: 1e9,
      addressFiles: [],
      ownAsn: 0,
      threads: {
        receive: new URL('../../roles/flow-receive-thread.ts', import.meta.url),
        batch: new URL('../../roles/flow-batch-thread.ts', import.meta.url),
      },
    })
    assert.equal(await collector.listen(), true)
    const socket = createSocket('udp4')
    const { port } = collector.addresses[0]!
    // 200 Mbit/s of DNS answers to one host, 20 to another, four times a second.
    const attack = { src: '198.51.100.9', srcPort: 53, packets: 5000, octets: 6_250_000 }
    const datagram = v5(
      { sampling: 1 },
      { ...attack, dst: '203.0.113.7' },
      { ...attack, dst: '203.0.113.8', octets: 625_000 },
      { ...attack, dst: '192.0.2.7' },
    )
    const sending = setInterval(() => socket.send(datagram, port, '127.0.0.1'), 250)
    try {
      let found: EventRow[] = []
      for (const begin = performance.now(); found.length === 0; await sleep(250)) {
        assert.ok(performance.now() - begin < 120_000, 'no event')
        await collector.saveDetections()
        found = await events()
      }
      assert.deepEqual(
        found.map(({ target, ended, classification }) => [target, ended, classification]),
        [['203.0.113.7/32', false, 'udp.amplification.dns']],
      )
      assert.ok(found[0]!.bps > 50_000_000 && found[0]!.bps < 250_000_000, `${found[0]!.bps}`)
    } finally {
      clearInterval(sending)
      socket.close()
      await collector.stop()
    }
    // The collector was stopped while the attack went on: nobody reports it any more.
    assert.equal(await endSilentAttacks(postgres, new Date()), 0)
    await sql`update events set source_received = now() - interval '11 minutes'`.execute(postgres.owner)
    assert.equal(await endSilentAttacks(postgres, new Date()), 1)
    assert.deepEqual(
      (await events()).map(({ target, ended }) => [target, ended]),
      [['203.0.113.7/32', true]],
    )
    assert.equal(await endSilentAttacks(postgres, new Date()), 0)
  })
})
