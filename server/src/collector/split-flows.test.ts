// Long flows in the store: their rows add up to the exported flow, and every figure is the same as with one row per
// flow.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { parsePrefix } from '../net/prefix.ts'
import { parseRuleAction, parseRuleMatch } from '../shield/rule.ts'
import { createFlowColumns } from '../flow/flow-columns.ts'
import { eventFlowsStatement } from '../events/attachment/flows-file.ts'
import { graphStatement, seriesStatement, type FlowSelection, type FlowSource } from '../flow/flow-query.ts'
import { cellsStatement, usualTrafficOf } from '../shield/suggest-query.ts'
import { whatIfStatement } from '../flow/what-if.ts'
import { toBlockColumns } from './flow-block.ts'
import { createFlowOwners, toHoldingColumns } from './flow-owners.ts'
import { createRowAssigner, type RowContext } from './flow-rows.ts'
import { peerStatement, rollUpPeers } from '../flow/peer-rollup.ts'
import { noAddressTables } from './range-file.ts'
import { octetsOf, packetsOf, secondsBefore } from './split-flows.ts'

const hour = 1_790_000_400 - (1_790_000_400 % 3600)
const prefix = parsePrefix('203.0.113.0/24')

const context: RowContext = {
  owners: createFlowOwners(toHoldingColumns(1, [{ prefix, teamId: 1, id: 10, resource: 'prefix' }])),
  tables: noAddressTables,
  ownAsn: 0,
  exporters: [{ id: 7, hasDevice: false, interfaces: new Map() }],
  timeMin: hour - 3600,
  timeMax: hour + 7200,
}

type Flow = {
  readonly at: number
  readonly seconds: number
  readonly octets: number
  readonly packets: number
}

function columnsOf(flows: readonly Flow[]) {
  const columns = createFlowColumns(flows.length)
  columns.length = flows.length
  for (const [row, { at, seconds, octets, packets }] of flows.entries()) {
    columns.time[row] = at
    columns.src.set([0, 0, 0xff_ff, 0xc6_33_64_01 + (row % 5)], row * 4)
    columns.dst.set([0, 0, 0xff_ff, 0xcb_00_71_01 + (row % 3)], row * 4)
    columns.srcPort[row] = 40_000 + (row % 7)
    columns.dstPort[row] = row % 2 === 0 ? 443 : 22
    columns.protocol[row] = 6
    columns.tcpFlags[row] = 0x1b
    columns.durationMs[row] = seconds * 1000
    columns.bytesLo[row] = octets
    columns.bytesHi[row] = octets / 2 ** 32
    columns.packetsLo[row] = packets
    columns.samplingRate[row] = row % 3 === 0 ? 10 : 1
  }
  return columns
}

const rowsOf = (flows: readonly Flow[]) => createRowAssigner()(columnsOf(flows), context, () => {})

async function insert(store: TestFlowStore, flows: readonly Flow[], token: string): Promise<number> {
  const columns = columnsOf(flows)
  const rows = createRowAssigner()(columns, context, () => {})
  await store.insert('flows', encodeNativeBlock(rows.length, toBlockColumns(columns, rows, context)), token)
  return rows.length
}

describe('a long flow', () => {
  it('has rows that add up to it, each with its mean length and a packet at least', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.integer({ min: 1, max: 2 ** 32 - 1 }),
        fc.integer({ min: 2, max: 60 }),
        (octets, some, parts) => {
          const packets = Math.max(some, parts)
          const all = Array.from({ length: parts }, (_, part) => ({
            packets: packetsOf(packets, part, parts),
            octets: octetsOf(octets, packets, part, parts),
          }))
          const length = Math.floor(octets / packets)
          assert.ok(all.every((one) => one.packets >= 1 && Number.isSafeInteger(one.octets)))
          assert.ok(
            all.every(
              (one) => one.octets >= length * one.packets && one.octets <= (length + 1) * one.packets,
            ),
          )
          const sum = (of: 'octets' | 'packets') => all.reduce((total, one) => total + BigInt(one[of]), 0n)
          assert.deepEqual([sum('octets'), sum('packets')], [BigInt(octets), BigInt(packets)])
        },
      ),
    )
  })

  it('is one row up to 90 seconds, and at most 60 of its last hour', () => {
    const partsOf = (seconds: number, packets = 1000): number =>
      rowsOf([{ at: hour + 3600, seconds, octets: 1e6, packets }]).length
    assert.deepEqual(
      [0, 89, 90, 300, 1800, 3600, 7200, 86_400].map((seconds) => partsOf(seconds)),
      [1, 1, 2, 5, 30, 60, 60, 60],
    )
    assert.deepEqual([partsOf(1800, 3), partsOf(1800, 1), partsOf(1800, 0)], [3, 1, 1])
    const before = Array.from({ length: 5 }, (_, part) => secondsBefore(300_000, part, 5))
    assert.deepEqual(before, [240, 180, 120, 60, 0])
    assert.equal(secondsBefore(7_200_000, 0, 60), 3540)
  })

  it('stays one row if it began before the accepted time, or if a batch has too many, and is counted', () => {
    const flow = { seconds: 1800, octets: 1e6, packets: 1000 }
    const early = rowsOf([{ ...flow, at: hour - 3000 }])
    assert.deepEqual([early.length, early.unsplit], [1, 1])
    const many = rowsOf(Array.from({ length: 20_000 }, () => ({ ...flow, at: hour + 3600 })))
    assert.ok(many.length <= 40_000 && many.length > 39_900, `${many.length} rows of 20,000 flows`)
    assert.equal(many.unsplit, 20_000 - (many.length - 20_000) / 29)
  })
})

describe('long flows in the store', () => {
  it('are in every rollup and answer as the same flows in one row each, at their rate', async () => {
    const flows = Array.from({ length: 200 }, (_, row) => ({
      at: hour + 3000 + row,
      seconds: [30, 90, 300, 1800, 2400][row % 5]!,
      octets: 1_000_000 + row * 7919,
      packets: 900 + row,
    }))
    await using split = await createTestFlowStore()
    await using whole = await createTestFlowStore()
    assert.ok((await insert(split, flows, 'split')) > 2000)
    assert.equal(
      await insert(
        whole,
        flows.map((flow) => ({ ...flow, seconds: 0 })),
        'whole',
      ),
      200,
    )
    for (const store of [split, whole]) await store.command(peerStatement('1'))

    const window = { startMs: (hour - 600) * 1000, endMs: (hour + 3600) * 1000 }
    const borders = [window.startMs, window.endMs].map((ms) => new Date(ms))
    const selection = (metric: FlowSelection['metric'], keys: FlowSelection['groupBy']): FlowSelection => ({
      scope: { teamId: 1 },
      metric,
      direction: 'both',
      filters: [],
      groupBy: keys,
      names: { prefixes: [], devices: [], ports: [], asns: new Map() },
    })
    const sources: readonly (readonly [FlowSource, FlowSelection['groupBy']])[] = [
      [{ family: 'flows', step: 1, isCut: false }, []],
      [{ family: 'flows', step: 1, isCut: false }, ['dst_port']],
      ...[60, 3600].flatMap((step) => [
        [{ family: 'protocol', step: step as 60, isCut: false }, ['protocol']] as const,
        [{ family: 'service', step: step as 60, isCut: false }, []] as const,
        [{ family: 'interface', step: step as 60, isCut: false }, []] as const,
      ]),
      [{ family: 'peer', step: 3600, isCut: false }, ['remote_asn']],
    ]
    const statements = [
      ...sources.flatMap(([source, keys]) =>
        (['flows', 'bytes', 'packets'] as const).flatMap((metric) => [
          seriesStatement({
            selection: selection(metric, keys),
            source,
            borders,
            seconds: (window.endMs - window.startMs) / 1000,
            includeOther: true,
            limit: 10,
            limitBy: 'avg',
            now: borders[1]!,
          }),
          ...(keys.length > 0
            ? [graphStatement(selection(metric, keys), source, { start: borders[0]!, end: borders[1]! }, 10)]
            : []),
        ]),
      ),
      whatIfStatement(
        {
          teamId: 1,
          prefix,
          rules: [
            {
              index: 0,
              parsed: {
                match: parseRuleMatch({ protocol: 'tcp', destination_port: '22' }, prefix),
                action: parseRuleAction({ action: 'deny', rate_bps: null, rate_pps: null }),
              },
            },
          ],
          ...window,
        },
        [],
      ),
      cellsStatement(
        {
          teamId: 1,
          targets: [parsePrefix('203.0.113.1/32')],
          scope: prefix,
          ...window,
          attacks: [],
          measure: 'bytes',
        },
        usualTrafficOf(window, []),
        [],
      ),
    ]
    const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted()
    for (const { sql, params, limits } of statements) {
      const [ofSplit, ofWhole] = [
        await split.query(sql, params, limits),
        await whole.query(sql, params, limits),
      ]
      assert.ok(ofWhole.length > 0, sql)
      assert.deepEqual(sorted(ofSplit), sorted(ofWhole), sql)
    }
    // The file of an attack has each row, and how many flows begin with it.
    const file = eventFlowsStatement({
      teamId: 1,
      eventId: '',
      start: borders[0]!,
      end: borders[1]!,
      networks: [prefix],
    })
    const rows = await split.query<{ c_flows: number; c_bytes: number }>(file.sql, file.params, file.limits)
    assert.equal(
      rows.reduce((sum, one) => sum + one.c_flows, 0),
      200,
    )

    const peak = async (store: TestFlowStore): Promise<number> =>
      (
        await store.query<{ peak: number }>(
          'select max(octets) as peak from (select sum(bytes) as octets from flows_by_protocol_1m group by time)',
          {},
        )
      )[0]!.peak
    assert.ok((await peak(whole)) > 1.5 * (await peak(split)), 'a minute has their rate')
  })

  it('are added by peer when they end after the hour in which they began was added', async () => {
    await using store = await createTestFlowStore()
    const flow = { octets: 3_000_000, packets: 3000 }
    const { signal } = new AbortController()
    const amounts = async (table: string) =>
      await store.query(
        `select toUnixTimestamp(toStartOfHour(time)) as at, sum(flows) as flows, sum(packets) as packets from ${table} group by at order by at`,
        {},
      )
    await insert(store, [{ ...flow, at: hour + 3000, seconds: 0 }], 'one')
    await rollUpPeers(store, hour + 2 * 3600 + 600, signal)
    // In the first hour this flow has only later parts, which do not count as flows: it began in the hour before.
    await insert(store, [{ ...flow, at: hour + 3900, seconds: 3600 * 2 }], 'two')
    assert.notDeepEqual(await amounts('flows_by_peer_1h'), await amounts('flows_by_protocol_1h'))
    await rollUpPeers(store, hour + 3 * 3600 + 600, signal)
    assert.deepEqual(await amounts('flows_by_peer_1h'), await amounts('flows_by_protocol_1h'))
  })

  it('and rows of a release before are whole flows', async () => {
    await using store = await createTestFlowStore()
    await store.command(
      `insert into flows (team_id, time, direction, is_primary, bytes, packets) select 1, ${hour}, 'in', 1, 10, 1 from numbers(3)`,
    )
    const [row] = await store.query<{ all: number; rolled: number }>(
      'select (select sum(flow_count) from flows) as all, (select sum(flows) from flows_by_service_1h) as rolled',
      {},
    )
    assert.deepEqual(row, { all: 3, rolled: 3 })
  })
})

/** Counted rows that are not flows, by file, with their meaning. */
const counted: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'shield/suggest-query.ts': {
    'select part, count() as flows': 'whether there is any',
    'toInt64(count()) -': 'buckets of a percentile',
  },
  'flow/flow-query.ts': {
    'toInt64(count()) -': 'buckets of a percentile',
    'count() as count from flows': 'whether there is any',
  },
  'flow/port-flows.ts': { 'select count() as count': 'whether there is any' },
  'flow/claim.ts': { 'select count() as rows from flows': 'rows that were copied' },
  'flow/shared-flows.ts': {
    'select count() as tuples, countIf(': 'distinct addresses and ports',
    'count() as shared': 'the same',
  },
  'collector/detector-rules.ts': { 'having count() >=': 'weeks' },
}

describe('the sum of flow_count', () => {
  it('counts flows wherever a statement counts them', () => {
    const root = fileURLToPath(new URL('..', import.meta.url))
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !/test|conformance/.test(file),
    )
    const found = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      if (!/\bfrom flows|flows_by_/.test(text)) return []
      const rest = Object.keys(counted[file] ?? {}).reduce((left, known) => {
        assert.ok(left.includes(known), `${file} has no ${known}`)
        return left.replaceAll(known, '')
      }, text)
      return [...rest.matchAll(/.*\b(count\(\)|count\(\*\)|countIf\(|toUInt64\(1\)).*/g)].map(
        ([line]) => `${file}: ${line.trim()}`,
      )
    })
    assert.deepEqual(found, [])
  })
})
