import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { parsePrefix } from '../net/prefix.ts'
import { createTestDatabase } from '../db/testing.ts'
import { createTestFlowStore } from '../drivers/clickhouse/testing.ts'
import type { FlowStore } from '../flow/flow-store.ts'
import {
  createBaselineCache,
  findDetectorSource,
  readBaselines,
  readDetectorRules,
  readUsualOfHosts,
  type BaselineCache,
} from './detector-rules.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-baselines-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const hour = 1_790_000_400 - (1_790_000_400 % 3600)
const week = 7 * 86_400

test('a baseline is the traffic to a prefix in the same hour of the past weeks', async () => {
  await using store = await createTestFlowStore()
  const insert = (time: number, prefix: number, direction: string, bytes: number) =>
    store.command(
      `insert into flows (team_id, time, direction, is_primary, prefix_id, bytes, packets) values (1, ${time}, '${direction}', 1, ${prefix}, ${bytes}, 3600)`,
    )
  await insert(hour - week + 60, 10, 'in', 4_500_000)
  await insert(hour - week + 70, 10, 'out', 999_000_000)
  await insert(hour - 2 * week, 10, 'in', 450_000)
  await insert(hour - 3 * week, 10, 'in', 450_000)
  await insert(hour - week, 11, 'in', 450_000)
  await insert(hour - 3600, 10, 'in', 999_000_000)
  await insert(hour - 5 * week, 10, 'in', 999_000_000)
  await insert(hour - week, 0, 'in', 999_000_000)
  assert.deepEqual(await readBaselines(store, hour + 1800), new Map([[10, { bps: 10_000, pps: 1 }]]))
})

test('usual traffic of a host is that of its last days at the same time, with at least three of them', async () => {
  await using store = await createTestFlowStore()
  const insert = (time: number, address: string, bytes: number) =>
    store.command(
      `insert into flows (team_id, time, direction, is_primary, dst_addr, bytes, packets, sampling_rate)
       values (1, ${time}, 'in', 1, toIPv6('${address}'), ${bytes}, 3, 100)`,
    )
  for (const day of [1, 2, 3]) {
    await insert(hour - day * 86_400 + 600, '203.0.113.7', 3750 * day)
    await insert(hour - day * 86_400 - 1200, '2001:db8::7', 3750)
    await insert(hour - day * 86_400 - 3600, '203.0.113.7', 9_999_999)
  }
  await insert(hour - 86_400, '203.0.113.8', 9_999_999)
  const hosts = ['203.0.113.7/32', '203.0.113.8/32', '2001:db8::7/128']
  assert.deepEqual(
    await readUsualOfHosts(store, hour + 1800, hosts),
    new Map([
      ['203.0.113.7/32', { bps: 30_000, pps: 1 }],
      ['2001:db8::7/128', { bps: 10_000, pps: 1 }],
    ]),
  )
})

test('the rules are those of teams and prefixes, then the defaults of the source of kind flows', async () => {
  await using database = await createTestDatabase()
  await using store = await createTestFlowStore()
  const { owner } = database.postgres
  assert.equal(await findDetectorSource(owner), undefined)
  await sql`insert into teams (slug, name) values ('one', 'One')`.execute(owner)
  await sql`insert into sources (key, kind, name, secret_mac, settings) values
    ('own', 'flows', 'Own', decode('00', 'hex'), '{"bps": 9000000, "pps": 1000}')`.execute(owner)
  await sql`insert into detector_thresholds (team_id, prefix, bps, ratio, network_pps, outgoing_bps, min_seconds, managed_by, locked)
    values (1, null, 1000000, 4, null, 7, 3, 'platform', true), (1, '203.0.113.0/24', 2000000, null, 5, null, null, 'team', false)`.execute(
    owner,
  )
  const source = await findDetectorSource(owner)
  assert.equal(source?.key, 'own')
  assert.deepEqual(await readDetectorRules(owner, store, source!, hour, createBaselineCache(folder)), {
    thresholds: [
      { teamId: 1, isLocked: true, bps: 1_000_000, ratio: 4, outgoingBps: 7, minSeconds: 3 },
      { teamId: 1, prefix: parsePrefix('203.0.113.0/24'), ofTeam: true, bps: 2_000_000, networkPps: 5 },
      { bps: 9_000_000, pps: 1000 },
    ],
    portSpeeds: new Map(),
    baselines: new Map(),
    usual: new Map(),
  })
})

test('the former baselines stay in use while the store does not answer, over a restart', async () => {
  await using database = await createTestDatabase()
  const { owner } = database.postgres
  const source = { key: 'own', settings: { bps: 1_000_000, ratio: 4 } }
  const known = { query: async () => [{ prefix_id: 10, bps: 5e6, pps: 1 }] } as unknown as FlowStore
  const broken = { query: () => Promise.reject(new Error('unreachable')) } as unknown as FlowStore
  const read = async (store: FlowStore, at: number, cache: BaselineCache) =>
    (await readDetectorRules(owner, store, source, at, cache)).baselines
  const cache = createBaselineCache(folder)
  const usual = await read(known, hour, cache)
  assert.deepEqual(usual, new Map([[10, { bps: 5e6, pps: 1 }]]))
  assert.deepEqual(await read(broken, hour + 3600, cache), usual)
  const restarted = createBaselineCache(folder)
  assert.deepEqual(await read(broken, hour, restarted), usual)
  const changed = { query: async () => [] } as unknown as FlowStore
  assert.deepEqual(await read(changed, hour, restarted), new Map(), 'they are read once the store answers')
})
