import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createTestDatabase } from '../db/testing.ts'
import { createFlowStore } from '../drivers/clickhouse/flow-store.ts'
import { createTestFlowStore } from '../drivers/clickhouse/testing.ts'
import { parsePrefix } from '../net/prefix.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { isLongRun } from '../runtime/testing-scale.ts'
import {
  beginDays,
  findClaimTarget,
  finishDay,
  listBegunDays,
  listClaimableDays,
  type PeerClaimDeps,
} from './claim.ts'
import { rollUpPeers } from './peer-rollup.ts'
import type { FlowStore } from './flow-store.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())
const db = database.postgres.owner
const now = new Date()
const midnight = Math.floor(now.getTime() / 86_400_000) * 86_400
const [d3, d2] = [midnight - 3 * 86_400, midnight - 2 * 86_400]
const isoDay = (time: number) => new Date(time * 1000).toISOString().slice(0, 10)
const prefix = parsePrefix('203.0.113.0/24')
const { signal } = new AbortController()

const [{ id: owner }, { id: other }] = (
  await sql<{
    id: number
  }>`insert into teams (slug, name) values ('owner', 'O'), ('other', 'X') returning id`.execute(db)
).rows as [{ id: number }, { id: number }]
const [{ id: wide }, { id: narrow }] = (
  await sql<{ id: number }>`insert into prefixes (team_id, prefix) values
    (${owner}, '203.0.112.0/23'), (${owner}, '203.0.113.64/26') returning id`.execute(db)
).rows as [{ id: number }, { id: number }]

type Row = {
  readonly team: number
  readonly time: number
  readonly src: string
  readonly dst: string
  readonly direction?: 'in' | 'out' | 'internal'
  readonly prefixId?: number
  readonly port?: number
}

async function insert(store: FlowStore, rows: readonly Row[]): Promise<void> {
  // One block per row, as in batches that arrive one after another.
  for (const [at, row] of rows.entries()) {
    const { team, time, src, dst, direction = 'in', prefixId = 0, port = 0 } = row
    await store.command(`insert into flows (team_id, time, direction, is_primary, exporter_id, in_if, out_if, port_id, prefix_id,
      src_addr, dst_addr, src_port, dst_port, protocol, src_as, dst_as, src_country, dst_country, bytes, packets, sampling_rate)
      select ${team}, toDateTime(${time}, 'UTC'), '${direction}', 1, 3, 7, 8, ${port}, ${prefixId}, toIPv6('${src}'), toIPv6('${dst}'),
        53, 40000, 17, 64500, 64501, 'NL', 'DE', ${1000 + at}, 1, 100 from numbers(3) settings insert_deduplicate = 0`)
  }
}

/** The flows before and after the claim. Port 5 belongs to the owner from noon of the second day on. */
const flows = (isClaimed: boolean): Row[] => {
  const owned = (direction: Row['direction'], prefixId: number, port = 0) =>
    isClaimed ? { team: owner, direction: direction!, prefixId, port } : {}
  const of = (time: number, src: string, dst: string, claimed: object = {}, port = 0): Row => ({
    team: 0,
    port,
    time,
    src,
    dst,
    ...claimed,
  })
  return [
    of(d3 + 60, '192.0.2.1', '203.0.113.1', owned('in', wide)),
    of(d3 + 7300, '192.0.2.1', '203.0.113.70', owned('in', narrow), 5),
    of(d3 + 7400, '203.0.113.255', '192.0.2.1', owned('out', wide), 9),
    of(d3 + 86_399, '203.0.113.1', '203.0.113.64', owned('internal', narrow)),
    of(d3 + 80, '192.0.2.1', '203.0.112.255'),
    of(d3 + 80, '203.0.114.0', '192.0.2.1'),
    of(d2 + 43_000, '192.0.2.1', '203.0.113.1', owned('in', wide), 5),
    of(d2 + 43_300, '192.0.2.1', '203.0.113.1', owned('in', wide, 5), 5),
    of(midnight, '192.0.2.1', '203.0.113.1'),
    { team: owner, time: d2 + 43_301, src: '192.0.2.1', dst: '203.0.113.1', prefixId: wide, port: 5 },
    { team: other, time: d2 + 43_302, src: '192.0.2.1', dst: '203.0.113.1' },
  ]
}

await sql`insert into devices (name) values ('r1')`.execute(db)
await sql`insert into services (team_id, name, type) values (${owner}, 'Transit', 'transit')`.execute(db)
await sql`insert into ports (id, circuit_id, name, device_id, interface_key) overriding system value
  values (5, 'P-5', 'et-0', 1, 'et-0')`.execute(db)
await sql`insert into port_assignments (port_id, service_id, team_id, valid)
  values (5, 1, ${owner}, tstzrange(to_timestamp(${d2 + 43_200}), null))`.execute(db)

const tables = ['protocol', 'service', 'interface'].flatMap((one) => [
  `flows_by_${one}_1m`,
  `flows_by_${one}_1h`,
])

async function contents(store: FlowStore): Promise<unknown> {
  const found: Record<string, unknown> = {
    flows: await store.query('select * except claim_id from flows order by all', {}),
  }
  for (const table of [...tables, 'flows_by_peer_1h'])
    found[table] = await store.query(
      `select * except (bytes, packets, flows), sum(bytes), sum(packets), sum(flows) from ${table} group by all order by all`,
      {},
    )
  return found
}

/** Like the command. */
async function claim(deps: PeerClaimDeps): Promise<void> {
  const finish = async () => {
    for (const begun of await listBegunDays(deps.store)) await finishDay(deps, begun)
  }
  await finish()
  const days = await listClaimableDays(deps, owner, prefix)
  await beginDays(
    deps.store,
    owner,
    prefix,
    days.filter(({ state }) => state === 'ready'),
  )
  await finish()
}

async function expected(): Promise<unknown> {
  await using store = await createTestFlowStore()
  await insert(store, flows(true))
  await rollUpPeers(store, midnight - 40_000, signal)
  return await contents(store)
}

test('unowned traffic of closed days becomes the owner’s, with every sum, as if it always had been', async () => {
  await using store = await createTestFlowStore()
  await insert(store, flows(false))
  await rollUpPeers(store, midnight - 40_000, signal)
  const deps = { db, store, now: () => new Date(midnight * 1000 + 7_200_000) }
  assert.deepEqual(await listClaimableDays(deps, owner, prefix), [
    { day: isoDay(d3), rows: 12, bytes: 3 * 100 * (1000 + 1001 + 1002 + 1003), state: 'ready' },
    { day: isoDay(d2), rows: 6, bytes: 3 * 100 * (1006 + 1007), state: 'ready' },
    { day: isoDay(midnight), rows: 3, bytes: 300 * 1008, state: 'open' },
  ])
  await claim(deps)
  assert.deepEqual(await contents(store), await expected())
  await claim(deps)
  assert.deepEqual(await contents(store), await expected())
})

test('a day whose rows are partly deleted is not claimed: its sums could not be corrected', async () => {
  await using store = await createTestFlowStore()
  await insert(store, flows(false))
  await store.command(`delete from flows where time = toDateTime(${d3 + 80}, 'UTC')`)
  const days = await listClaimableDays({ db, store, now: () => now }, owner, prefix)
  assert.deepEqual(
    days.slice(0, 2).map(({ state }) => state),
    ['incomplete', 'ready'],
  )
})

const skip = process.env.PHAROS_TEST_CLICKHOUSE_URL !== undefined && 'the server is elsewhere'

test('killed after each of its steps, it continues: rows and sums are exact', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-claim-'))
  const store = createFlowStore({
    url: null,
    dataDir: folder,
    retention: { flowDays: 3650, rollupDays: 3650 },
    log: () => {},
  })
  try {
    await insert(store, flows(false))
    await rollUpPeers(store, midnight - 40_000, signal)
    const steps: string[] = []
    const killedAt = (countdown: number): FlowStore => ({
      ...store,
      async command(statement, params) {
        await store.command(statement, params)
        if (--countdown > 0) return
        steps.push(statement.trim().slice(0, 23))
        process.kill(Number(readFileSync(join(folder, 'clickhouse.pid'), 'utf8').split('\n')[0]), 'SIGKILL')
        throw new DriverError('unreachable', 'killed')
      },
    })
    // A store needs seconds to start again.
    const stride = isLongRun ? 1 : 3
    for (let at = 1, isDone = false; !isDone; at += stride) {
      // The first run is killed after its first step, the next one after a later step, until a run has fewer steps than
      // that.
      isDone = await claim({ db, store: killedAt(at), now: () => now }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof DriverError && error.kind === 'unreachable') return false
          throw error
        },
      )
      await waitUntilUp(store)
    }
    for (const step of ['insert into flow_claims', 'insert into flows (team', 'delete from flows where'])
      if (isLongRun) assert.ok(steps.includes(step), `${step}: ${steps.join('; ')}`)
    assert.ok(steps.length > 1, steps.join('; '))
    assert.deepEqual(await listBegunDays(store), [])
    assert.deepEqual(await contents(store), await expected())
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})

test('only a team that holds the prefix, and others with a part of it are named', async () => {
  assert.deepEqual(await findClaimTarget(db, owner, prefix), { holding: '203.0.112.0/23', others: [] })
  assert.deepEqual(await findClaimTarget(db, other, prefix), {
    holding: undefined,
    others: [
      { team: 'owner', prefix: '203.0.113.64/26' },
      { team: 'owner', prefix: '203.0.112.0/23' },
    ],
  })
})

async function waitUntilUp(store: FlowStore): Promise<void> {
  for (const deadline = performance.now() + 300_000; ; await sleep(20)) {
    try {
      await store.query('select count() from flows', {})
      return
    } catch (error) {
      if (!(error instanceof DriverError) || performance.now() > deadline) throw error
    }
  }
}
