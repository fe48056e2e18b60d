import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createTestFlowStore } from '../../../drivers/clickhouse/testing.ts'
import { encodeNativeBlock } from '../../../drivers/clickhouse/native-block.ts'
import { parsePrefix } from '../../../net/prefix.ts'
import { decodeReports } from '../../detector/report-file.ts'
import { createFlowColumns, type FlowColumns } from '../flow-columns.ts'
import { FlowBatcher, type BatcherDeps } from './batcher.ts'
import { toHoldingColumns } from './flow-owners.ts'
import type { FromBatcher } from './messages.ts'
import { createSpool, insertInto } from './spool.ts'

const now = Math.floor(Date.now() / 1000)
const holdings = toHoldingColumns(1, [
  { prefix: parsePrefix('203.0.113.0/24'), teamId: 1, resource: 'prefix', id: 10 },
  { prefix: parsePrefix('192.0.2.0/24'), teamId: 2, resource: 'prefix', id: 20 },
])
const router = '198.51.100.254'
const ports = new Map([
  [router, { id: 5, hasDevice: true, interfaces: new Map([[1, { portId: 9, teamId: 1 }]]) }],
])

/** From 198.51.100.x to 203.0.113.y, and each third to 192.0.2.y from 203.0.113.x. */
function fill(columns: FlowColumns, count: number): void {
  for (let at = 0; at < count; at++) {
    const isBetween = at % 3 === 2
    columns.time[at] = now
    columns.src.set([0, 0, 0xffff, (isBetween ? 0xcb007100 : 0xc6336400) | (at & 255)], at * 4)
    columns.dst.set([0, 0, 0xffff, (isBetween ? 0xc0000200 : 0xcb007100) | ((at >> 8) & 255)], at * 4)
    columns.inIf[at] = 2
    columns.outIf[at] = 1
    columns.protocol[at] = 17
    columns.srcPort[at] = 53
    columns.dstPort[at] = 40_000
    columns.bytesLo[at] = 100
    columns.packetsLo[at] = 2
    columns.samplingRate[at] = 10
  }
  columns.length = count
}

describe('the batch thread', () => {
  const folders: string[] = []
  after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

  function start(overrides: Partial<BatcherDeps> = {}) {
    const spoolDir = mkdtempSync(join(tmpdir(), 'pharos-batch-'))
    folders.push(spoolDir)
    const slots = [createFlowColumns(3000)]
    const sent: FromBatcher[] = []
    const free = Promise.withResolvers<void>()
    const batcher: FlowBatcher = new FlowBatcher({
      slots,
      spoolDir,
      collector: 'c',
      ownAsn: 0,
      addressFiles: [],
      detectorRows: 2 ** 12,
      encode: encodeNativeBlock,
      send(message) {
        sent.push(message)
        if (message.kind === 'ask-exporters') batcher.take({ kind: 'exporters', ports })
      },
      giveBack: () => free.resolve(),
      closeBatch() {},
      now: () => now,
      ...overrides,
    })
    const add = (count: number) => {
      fill(slots[0]!, count)
      batcher.add({ kind: 'batch', slot: 0, length: count, openedMs: now * 1000, exporters: [router] })
    }
    return { batcher, spoolDir, sent, add, free: free.promise }
  }

  it('sends the names of AS numbers in the files of addresses', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-names-'))
    folders.push(folder)
    const file = join(folder, 'asns.csv')
    writeFileSync(file, '192.0.2.0/24,64500,Example\n')
    const { batcher, sent, add, free } = start({ addressFiles: [file] })
    batcher.take({ kind: 'holdings', holdings })
    add(10)
    await free
    const read = sent.find((message) => message.kind === 'address-files')!
    assert.deepEqual([read.error, read.asns, [...read.asNames]], [undefined, 1, [[64500, 'Example']]])
  })

  it('writes what the flow store can query, with rollups that agree', async () => {
    await using store = await createTestFlowStore()
    const { batcher, spoolDir, sent, add, free } = start()
    batcher.take({ kind: 'holdings', holdings })
    add(3000)
    await free
    assert.deepEqual(
      sent.map(({ kind }) => kind),
      ['ask-exporters', 'file'],
    )
    const file = sent.find((message) => message.kind === 'file')!
    assert.deepEqual([file.flows, file.rows, file.refused, file.exporters], [3000, 4000, 0, [router]])
    assert.deepEqual(file.unknownInterfaces, [{ exporterId: 5, ifIndex: 2 }])
    const spool = createSpool({ dir: spoolDir, bytesMax: 1e9, insert: insertInto(store) })
    spool.start()
    await spool.drained()
    await spool.stop(1000)

    const columns = `team_id, toString(direction) as way, count() as rows, sum(bytes) as bytes, sum(packets) as packets`
    assert.deepEqual(
      await store.query(
        `select ${columns}, sum(is_primary) as primary, any(exporter_id) as exporter, any(port_id) as port, any(prefix_id) as prefix,
           any(sampling_rate) as rate, toString(min(dst_addr)) as first
         from flows group by team_id, direction order by team_id, way`,
        {},
      ),
      [
        {
          team_id: 1,
          way: 'in',
          rows: 2000,
          bytes: 200_000,
          packets: 4000,
          primary: 2000,
          exporter: 5,
          port: 9,
          prefix: 10,
          rate: 10,
          first: '::ffff:203.0.113.0',
        },
        {
          team_id: 1,
          way: 'out',
          rows: 1000,
          bytes: 100_000,
          packets: 2000,
          primary: 0,
          exporter: 5,
          port: 9,
          prefix: 10,
          rate: 10,
          first: '::ffff:192.0.2.0',
        },
        {
          team_id: 2,
          way: 'in',
          rows: 1000,
          bytes: 100_000,
          packets: 2000,
          primary: 1000,
          exporter: 5,
          port: 0,
          prefix: 20,
          rate: 10,
          first: '::ffff:192.0.2.0',
        },
      ],
    )
    for (const table of ['flows_by_protocol_1m', 'flows_by_service_1h', 'flows_by_interface_1h'])
      assert.deepEqual(
        await store.query(
          `select team_id, sum(flows) as rows, sum(bytes) as bytes from ${table} group by team_id order by team_id`,
          {},
        ),
        [
          { team_id: 1, rows: 3000, bytes: 3_000_000 },
          { team_id: 2, rows: 1000, bytes: 1_000_000 },
        ],
      )
  })

  it('waits for the ownership before the first batch', async () => {
    const { batcher, sent, add, free } = start()
    batcher.take({ kind: 'exporters', ports })
    add(3)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(sent, [])
    batcher.take({ kind: 'holdings', holdings })
    await free
    assert.equal(sent.length, 1)
  })

  it('counts the rows of a batch that cannot be written, and gives it back', async () => {
    const { batcher, sent, add, free, spoolDir } = start()
    rmSync(spoolDir, { recursive: true })
    writeFileSync(spoolDir, 'a file in the place of the directory')
    batcher.take({ kind: 'holdings', holdings })
    batcher.take({ kind: 'exporters', ports })
    add(30)
    await free
    assert.deepEqual(
      sent.map((message) => (message.kind === 'lost' ? message.rows : message.kind)),
      [30],
    )
  })

  it('reports an attack once there are thresholds, and asks for the open batch when one begins', async () => {
    let second = now
    const closed: number[] = []
    const { batcher, sent, add, free, spoolDir } = start({
      now: () => second,
      closeBatch: () => closed.push(second),
    })
    batcher.take({ kind: 'holdings', holdings })
    batcher.take({ kind: 'exporters', ports })
    batcher.take({
      kind: 'detector',
      rules: { thresholds: [{ pps: 10 }], baselines: new Map() },
    })
    batcher.detect()
    add(3000)
    await free
    for (; second < now + 15; second++) batcher.detect()
    const detections = sent.flatMap((message) =>
      message.kind === 'reports' ? decodeReports(readFileSync(join(spoolDir, message.name))) : [],
    )
    assert.ok(detections.length > 0)
    const first = new Map(
      detections.toReversed().map(({ id, observed }) => [id, Date.parse(observed) / 1000]),
    )
    assert.ok(detections.length > first.size, 'attacks are reported again')
    assert.deepEqual(closed, [...new Set(first.values())].toSorted())
    assert.ok(
      detections.every(
        ({ status, network }) => status === 'ongoing' && /^(203\.0\.113|192\.0\.2)\./.test(network),
      ),
    )
  })

  it('leaves no file that is not complete, and numbers its files', async () => {
    const { batcher, add, free, spoolDir } = start()
    batcher.take({ kind: 'holdings', holdings })
    batcher.take({ kind: 'exporters', ports })
    add(3)
    await free
    assert.deepEqual(readdirSync(spoolDir), ['c-1.native'])
    assert.equal(readFileSync(join(spoolDir, 'c-1.native'))[0], 25)
  })
})
