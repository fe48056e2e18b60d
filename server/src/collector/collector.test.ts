// The collector with its threads: datagrams over UDP become rows that can be queried.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { programPath, skipWithout } from '@pharos/lab/program'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import {
  createExportState,
  encodeIpfix,
  encodeNetflow5,
  encodeSflow,
} from '../../../demo/src/traffic/datagrams.ts'
import { wordsOf, type DemoFlow } from '../../../demo/src/traffic/model.ts'
import { createOwnershipCache } from '../inventory/holding/ownership.ts'
import { createLog } from '../runtime/log.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { ipOctets, ipfix, set, template, u32 } from '../drivers/netflow/testing.ts'
import { ingestDeliveries } from '../events/ingest/ingest.ts'
import { fixture } from '../events/sources/fixtures.ts'
import { addSource, deliver } from '../events/testing.ts'
import { FlowCollector, type FlowCollectorOptions } from './collector.ts'
import { readFlowDelay } from '../flow/flow-delay.store.ts'
import { listFlowTemplates } from './exporter.store.ts'
import { until } from '../../../lab/src/wait.ts'

const folders: string[] = []
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

function createFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pharos-flows-'))
  folders.push(dir)
  return dir
}

/** 203.0.113.0/24 and an interface of router r1 belong to team 1, 2001:db8::/32 to team 2. */
async function seed({ postgres: { owner } }: TestDatabase): Promise<void> {
  await sql`insert into teams (slug, name) values ('one', 'One'), ('two', 'Two')`.execute(owner)
  await sql`insert into prefixes (team_id, prefix) values (1, '203.0.113.0/24'), (2, '2001:db8::/32')`.execute(
    owner,
  )
  await sql`insert into devices (name, management_address) values ('r1', '127.0.0.1')`.execute(owner)
  await sql`insert into interfaces (device_id, key, if_index, name, type) values (1, 'et-0', 1, 'et-0', 6), (1, 'et-1', 2, 'et-1', 6)`.execute(
    owner,
  )
  await sql`insert into services (team_id, name, type) values (1, 'Transit', 'transit')`.execute(owner)
  await sql`insert into ports (circuit_id, name, device_id, interface_key) values ('P-1', 'et-0', 1, 'et-0')`.execute(
    owner,
  )
  await sql`insert into port_assignments (port_id, service_id, team_id, valid) values (1, 1, 1, '[2026-01-01,)')`.execute(
    owner,
  )
}

function createCollector(
  database: TestDatabase,
  store: TestFlowStore,
  options: Partial<FlowCollectorOptions> = {},
) {
  const metrics = createMetrics()
  const collector = new FlowCollector({
    postgres: database.postgres,
    store,
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    metrics,
    addresses: [
      { address: '127.0.0.1', port: 0 },
      { address: '127.0.0.1', port: 0 },
    ],
    spoolDir: createFolder(),
    spoolBytesMax: 1e9,
    addressFiles: [],
    ownAsn: 0,
    threads: {
      receive: new URL('../process/flow-receive-thread.ts', import.meta.url),
      batch: new URL('../process/flow-batch-thread.ts', import.meta.url),
    },
    ...options,
  })
  return { collector, metrics }
}

async function send(datagrams: readonly Uint8Array[], port: number): Promise<void> {
  const socket = createSocket('udp4')
  for (const datagram of datagrams)
    await new Promise((resolve) => socket.send(datagram, port, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => socket.close(() => resolve()))
}

const flow = (src: string, dst: string, more: Partial<DemoFlow> = {}): DemoFlow => ({
  exporter: 0,
  inIf: 2,
  outIf: 1,
  src: wordsOf(src),
  dst: wordsOf(dst),
  srcPort: 443,
  dstPort: 50_000,
  protocol: 6,
  tcpFlags: 0x1b,
  fragment: false,
  bytes: 15_000,
  packets: 10,
  ...more,
})

const rowsIn = async (store: TestFlowStore, where = '1'): Promise<number> =>
  (await store.query<{ n: number }>(`select count() as n from flows where ${where}`, {}))[0]!.n

describe('the collector of flows', () => {
  it(
    'stores packets of sFlow towards the network of an event, after minutes and at the end',
    { skip: skipWithout('tshark') },
    async () => {
      await using database = await createTestDatabase()
      await using store = await createTestFlowStore()
      await seed(database)
      const { owner } = database.postgres
      await addSource(owner, 'fnm')
      const nowMs = Date.now()
      const ingest = async (action: string, minutes: number) => {
        await deliver(owner, 'fnm', [fixture(`fastnetmon-${action}`)], new Date(nowMs - minutes * 60_000))
        await ingestDeliveries(database.postgres, createOwnershipCache())
      }
      await ingest('ban', 2)
      const { rows } = await sql<{
        id: string
        network: string
      }>`select id, host(affected_network) as network from events`.execute(owner)
      const [{ id, network }] = rows as [{ id: string; network: string }]
      let flows = 0
      let packets = 0
      const { collector } = createCollector(database, store, {
        onBatch: (batch) => void (flows += batch.flows),
        onPackets: () => void packets++,
      })
      assert.equal(await collector.listen(), true)
      const state = createExportState(nowMs)
      const attack = async (srcPort: number, count: number) => {
        const wanted = flows + count + 1
        const of = flow('198.51.100.9', network, {
          protocol: 17,
          srcPort,
          packets: count,
          bytes: count * 1200,
        })
        await send(
          encodeSflow(
            [of, flow('198.51.100.9', '203.0.113.250', { packets: 1 })],
            '127.0.0.1',
            512,
            state,
            nowMs,
          ),
          collector.addresses[1]!.port,
        )
        await until(() => flows >= wanted)
      }
      const refresh = (minutes: number) => collector.refreshPackets(new Date(nowMs + minutes * 60_000))
      const files = async () =>
        (
          await sql<{ filename: string; kind: string; customer_id: number | null; content: Buffer }>`
            select filename, kind, customer_id, content from attachments where subject_kind = 'event' and subject_id = ${id} order by id`.execute(
            owner,
          )
        ).rows
      await refresh(0)
      // Its batch shows that the thread has read the message before it.
      await attack(1, 1)
      await attack(53, 20)
      await refresh(2)
      await refresh(3)
      await until(() => packets === 1)
      await refresh(3)
      await refresh(4)
      await attack(123, 5)
      await ingest('unban', 1)
      await refresh(5)
      await until(() => packets === 2)
      await refresh(5)
      await refresh(6)
      await collector.stop()
      const stored = await files()
      assert.deepEqual(
        stored.map(({ filename, kind, customer_id }) => ({ filename, kind, customer_id })),
        ['start', 'end'].map((part) => ({ filename: `sflow-${part}.pcap`, kind: 'pcap', customer_id: null })),
      )
      const read = stored.map(({ content }) => {
        const path = join(createFolder(), 'a.pcap')
        writeFileSync(path, content)
        const fields = [
          '-T',
          'fields',
          '-E',
          'separator=,',
          '-e',
          'ip.dst',
          '-e',
          'udp.srcport',
          '-e',
          'frame.len',
        ]
        const text = execFileSync(programPath('tshark'), ['-r', path, ...fields], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        })
        return text
          .trim()
          .split('\n')
          .filter((line) => !line.includes(',1,'))
      })
      const lines = (port: number, count: number) =>
        Array.from({ length: count }, () => `${network},${port},1214`)
      assert.deepEqual(read, [lines(53, 20), [...lines(53, 20), ...lines(123, 5)]])
    },
  )

  it('stores flows of IPFIX, NetFlow v5 and sFlow with their teams, exporter and port', async () => {
    await using database = await createTestDatabase()
    await using store = await createTestFlowStore()
    await seed(database)
    const { collector, metrics } = createCollector(database, store)
    assert.equal(await collector.listen(), true)
    const [netflow, sflow] = collector.addresses
    const now = Date.now()
    const four = flow('198.51.100.7', '203.0.113.5')
    const six = flow('2001:db8::1', '2001:db9::1', { inIf: 1, outIf: 77 })
    await send(encodeIpfix([four, six], createExportState(now), now), netflow!.port)
    await send(encodeNetflow5([four], 100, createExportState(now), now), netflow!.port)
    await send(
      encodeSflow([{ ...four, packets: 1, bytes: 1000 }], '127.0.0.1', 512, createExportState(now), now),
      sflow!.port,
    )
    await until(async () => (await rowsIn(store)) >= 4)
    const rows = await store.query(
      `select team_id as team, toString(direction) as way, is_primary as primary, exporter_id as exporter, in_if, out_if, port_id as port, prefix_id as prefix,
         toString(src_addr) as src, src_port, protocol, bytes, packets, sampling_rate as rate from flows order by rate, team_id`,
      {},
    )
    const common = { primary: 1, exporter: 1, src_port: 443, protocol: 6 }
    const toOne = {
      ...common,
      team: 1,
      way: 'in',
      in_if: 2,
      out_if: 1,
      port: 1,
      prefix: 1,
      src: '::ffff:198.51.100.7',
    }
    assert.deepEqual(rows, [
      { ...toOne, bytes: 15_000, packets: 10, rate: 0 },
      {
        ...common,
        team: 2,
        way: 'out',
        in_if: 1,
        out_if: 77,
        port: 0,
        prefix: 2,
        src: '2001:db8::1',
        bytes: 15_000,
        packets: 10,
        rate: 0,
      },
      { ...toOne, bytes: 15_000, packets: 10, rate: 100 },
      { ...toOne, bytes: 1000, packets: 1, rate: 512 },
    ])
    await collector.refreshExporters()
    await collector.stop()
    const { owner } = database.postgres
    assert.deepEqual(await owner.selectFrom('flow_exporters').select(['address', 'device_id']).execute(), [
      { address: '127.0.0.1', device_id: 1 },
    ])
    assert.deepEqual(
      await owner.selectFrom('flow_unknown_interfaces').select(['exporter_id', 'if_index']).execute(),
      [{ exporter_id: 1, if_index: 77 }],
    )
    const templates = await owner
      .selectFrom('flow_templates')
      .select(['exporter', 'version', 'id'])
      .orderBy('id')
      .execute()
    assert.deepEqual(templates, [
      { exporter: '127.0.0.1', version: 10, id: 256 },
      { exporter: '127.0.0.1', version: 10, id: 257 },
    ])
    assert.match(await metrics.registry.metrics(), /pharos_flows_total 4\n/)
  })

  it('shows nobody the past of a prefix that changes hands', async () => {
    await using database = await createTestDatabase()
    await using store = await createTestFlowStore()
    await seed(database)
    const { owner } = database.postgres
    const { collector } = createCollector(database, store)
    await collector.listen()
    const now = Date.now()
    const state = createExportState(now)
    const sendOne = () =>
      send(
        encodeNetflow5([flow('198.51.100.7', '203.0.113.5')], 100, state, now),
        collector.addresses[0]!.port,
      )
    await sendOne()
    await until(async () => (await rowsIn(store)) === 1)
    await sql`delete from prefixes where team_id = 1`.execute(owner)
    await collector.refreshOwnership()
    await sendOne()
    await until(async () => (await rowsIn(store)) === 2)
    await sql`insert into prefixes (team_id, prefix) values (2, '203.0.113.0/24')`.execute(owner)
    await collector.refreshOwnership()
    await sendOne()
    await until(async () => (await rowsIn(store)) === 3)
    assert.deepEqual(
      await store.query('select team_id as team, count() as rows from flows group by team order by team', {}),
      [0, 1, 2].map((team) => ({ team, rows: 1 })),
    )
    await collector.stop()
  })

  it('decodes after a restart with the templates that it has stored', async () => {
    await using database = await createTestDatabase()
    await using store = await createTestFlowStore()
    await seed(database)
    const now = Date.now()
    const state = createExportState(now)
    const [message] = encodeIpfix([flow('198.51.100.7', '203.0.113.5')], state, now)
    const first = createCollector(database, store)
    await first.collector.listen()
    await send([message!], first.collector.addresses[0]!.port)
    await until(async () => (await rowsIn(store)) === 1)
    await first.collector.stop()

    const second = createCollector(database, store)
    await second.collector.listen()
    await send([withoutTemplate(message!)], second.collector.addresses[0]!.port)
    await until(async () => (await rowsIn(store)) === 2)
    await second.collector.stop()
  })

  it('finds a template that another collector has stored since', async () => {
    await using database = await createTestDatabase()
    await using store = await createTestFlowStore()
    await seed(database)
    const now = Date.now()
    const [message] = encodeIpfix([flow('198.51.100.7', '203.0.113.5')], createExportState(now), now)
    const [one, two] = [createCollector(database, store), createCollector(database, store)]
    await one.collector.listen()
    await two.collector.listen()
    await send([message!], one.collector.addresses[0]!.port)
    await until(async () => (await rowsIn(store)) === 1)
    // The thread reports new state once a second.
    await until(async () => {
      await one.collector.saveLearned()
      return (await listFlowTemplates(database.postgres.owner)).length > 0
    })
    await send([withoutTemplate(message!)], two.collector.addresses[0]!.port)
    await until(async () => (await rowsIn(store)) === 2)
    await one.collector.stop()
    await two.collector.stop()
  })

  it('tells two exporters behind one address apart by their ports, also after a restart', async () => {
    await using database = await createTestDatabase()
    await using store = await createTestFlowStore()
    await seed(database)
    const { owner } = database.postgres
    const sockets = [createSocket('udp4'), createSocket('udp4')]
    for (const socket of sockets) await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const ends = [ipOctets('198.51.100.7'), ipOctets('203.0.113.5')] as const
    // Templates with one id: addresses (8, 12), octets and packets (1, 2) in two orders.
    const templates = [
      template(256, [8, 4], [12, 4], [1, 4], [2, 4]),
      template(256, [1, 4], [2, 4], [8, 4], [12, 4]),
    ]
    const records = [
      [...ends, u32(500), u32(1)],
      [u32(700), u32(1), ...ends],
    ] as const
    let sequence = 0
    const sendBoth = async (port: number, withTemplate: boolean, rounds: number) => {
      for (let round = 0; round < rounds; round++)
        for (const [at, socket] of sockets.entries()) {
          const sets = [...(withTemplate ? [set(2, templates[at]!)] : []), set(256, ...records[at]!)]
          const datagram = ipfix({ sequence: ++sequence }, ...sets)
          await new Promise((resolve) => socket.send(datagram, port, '127.0.0.1', resolve))
        }
    }
    const byPort = async () =>
      (await sql<{ by_port: boolean }>`select by_port from flow_exporters`.execute(owner)).rows[0]?.by_port
    try {
      const first = createCollector(database, store)
      await first.collector.listen()
      await sendBoth(first.collector.addresses[0]!.port, true, 3)
      await until(async () => {
        await first.collector.refreshExporters()
        return (await byPort()) === true
      })
      await until(async () => {
        await first.collector.saveLearned()
        return (await listFlowTemplates(owner)).length === 2
      })
      await first.collector.stop()
      assert.deepEqual(
        new Set((await listFlowTemplates(owner)).map(({ port }) => port)),
        new Set(sockets.map((socket) => socket.address().port)),
      )
      await store.command('truncate table flows')

      const second = createCollector(database, store)
      await second.collector.listen()
      await sendBoth(second.collector.addresses[0]!.port, false, 2)
      await until(async () => (await rowsIn(store)) === 4)
      await second.collector.stop()
      assert.deepEqual(
        await store.query(
          `select toUInt32(bytes) as octets, count() as n from flows
           where src_addr = toIPv6('198.51.100.7') and dst_addr = toIPv6('203.0.113.5') group by bytes order by bytes`,
          {},
        ),
        [
          { octets: 500, n: 2 },
          { octets: 700, n: 2 },
        ],
      )
    } finally {
      for (const socket of sockets) socket.close()
    }
  })

  it('keeps flows in the spool while the store is down, and after a restart', async () => {
    await using database = await createTestDatabase()
    await using store = await createTestFlowStore()
    await seed(database)
    const spoolDir = createFolder()
    const down: TestFlowStore = { ...store, insert: () => Promise.reject(new Error('down')) }
    const first = createCollector(database, down, { spoolDir })
    await first.collector.listen()
    const now = Date.now()
    await send(
      encodeNetflow5([flow('198.51.100.7', '203.0.113.5')], 100, createExportState(now), now),
      first.collector.addresses[0]!.port,
    )
    await until(() => readdirSync(spoolDir).length === 1)
    const window = { startMs: now - 60_000, endMs: now + 3_600_000 }
    const delay = async (of: FlowCollector) => {
      await of.saveDelay()
      return readFlowDelay(database.postgres.owner, window)
    }
    await until(() => first.collector.spool.waiting.files === 1)
    const since = (await delay(first.collector)).completeUntil!.getTime()
    assert.ok(since >= now - 1_000 && since < Date.now(), 'the first flow that waits was received then')
    await first.collector.stop()
    assert.equal(await rowsIn(store), 0)

    const second = createCollector(database, store, { spoolDir })
    await second.collector.listen()
    await until(async () => (await rowsIn(store)) === 1)
    await second.collector.spool.drained()
    assert.deepEqual(
      readdirSync(spoolDir).filter((name) => name !== 'collector'),
      [],
    )
    const { completeUntil, seconds, isLost } = await delay(second.collector)
    assert.ok(completeUntil!.getTime() > since, 'nothing waits any more')
    assert.deepEqual([seconds, isLost], [0, false])
    await second.collector.stop()
  })

  it('writes the open batch when it stops', async () => {
    await using database = await createTestDatabase()
    await using store = await createTestFlowStore()
    await seed(database)
    const { collector, metrics } = createCollector(database, store)
    await collector.listen()
    const now = Date.now()
    await send(
      encodeNetflow5([flow('198.51.100.7', '203.0.113.5')], 100, createExportState(now), now),
      collector.addresses[0]!.port,
    )
    await until(async () => /pharos_flows_total 1\n/.test(await metrics.registry.metrics()))
    await collector.stop()
    assert.equal(await rowsIn(store), 1)
  })

  it('reports that its address is in use, and receives once it is free', async () => {
    await using database = await createTestDatabase()
    await using store = await createTestFlowStore()
    const occupant = createSocket('udp4')
    await new Promise<void>((resolve) => occupant.bind(0, '127.0.0.1', resolve))
    const { collector } = createCollector(database, store, {
      addresses: [{ address: '127.0.0.1', port: occupant.address().port }],
    })
    assert.equal(await collector.listen(), false)
    assert.deepEqual(collector.addresses, [])
    await new Promise<void>((resolve) => occupant.close(() => resolve()))
    assert.equal(await collector.listen(), true)
    await collector.stop()
  })
})

/** The data set of a message of `encodeIpfix`, whose first set is the template. */
function withoutTemplate(message: Buffer): Buffer {
  const header = Buffer.from(message.subarray(0, 16))
  const data = message.subarray(16 + message.readUInt16BE(18))
  header.writeUInt16BE(16 + data.length, 2)
  return Buffer.concat([header, data])
}
