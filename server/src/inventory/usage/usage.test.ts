// Usage end to end on PostgreSQL: polls of a simulated device, minutes, days, and the answer to the customer. Every octet of the
// counters is in the minutes, before and after compaction, and each customer sees only its own time.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../db/testing.ts'
import { SandboxDeviceSource } from '../../drivers/sandbox-device/source.ts'
import { saveCounters } from '../collect/counter.store.ts'
import type { CounterRow } from './reading.ts'
import { linkPorts } from '../assignment/link-ports.store.ts'
import { findPort } from '../port/port.store.ts'
import { seedPort } from '../testing.ts'
import { compactUsage } from './compact.store.ts'
import { getPortUsage } from './usage.ts'

const minute = 60_000
const hour = 60 * minute
/** The end of polling: a minute ago, on the grid. */
const end = Math.floor(Date.now() / minute) * minute - minute
const bps = { in_bps: 8e8, out_bps: 2e8 }

let database: TestDatabase
let teamId = 0
let nextTeamId = 0
let port = { deviceId: 0, portId: 0, interfaceId: 0 }
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await emptyTables(database.postgres.owner, ['teams', 'devices', 'services', 'port_samples', 'port_days'])
  ;[teamId, nextTeamId] = [await addTeam('one'), await addTeam('two')]
  const serviceId = await addService(teamId)
  port = await seedPort(database.postgres, {
    teamId,
    serviceId,
    circuitId: 'C1',
    since: new Date(end - 90 * 24 * hour),
  })
})

const owner = () => database.postgres.owner

async function addTeam(slug: string): Promise<number> {
  const { id } = await owner()
    .insertInto('teams')
    .values({ slug, name: slug, enabled_modules: ['inventory'] })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function addService(team: number): Promise<number> {
  const { id } = await owner()
    .insertInto('services')
    .values({ team_id: team, name: 'Transit', type: 'transit' })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

const source = (at: number) =>
  new SandboxDeviceSource({
    name: 'r1',
    settings: { interfaces: [{ name: 'et-0/0/1', speed_bps: 1e11, ...bps }] },
    now: () => new Date(at),
  })

async function poll(at: number, changes: Partial<CounterRow> = {}): Promise<CounterRow> {
  const { rows } = await source(at).readCounters('all', AbortSignal.timeout(1_000))
  const row = { ...rows[0]!, ...changes }
  await owner()
    .transaction()
    .execute((trx) => saveCounters(trx, port.deviceId, [row]))
  return row
}

async function pollFrom(start: number, stepMs = minute): Promise<{ first: CounterRow; last: CounterRow }> {
  const first = await poll(start)
  let last = first
  for (let at = start + stepMs; at <= end; at += stepMs) last = await poll(at)
  return { first, last }
}

const usage = (team: number, query: object = {}) =>
  getPortUsage(
    { postgres: database.postgres, now: () => new Date(end + 1) },
    { actor: { teamId: team } } as Parameters<typeof getPortUsage>[1],
    port.portId,
    query,
  )

async function sumOfMinutes(): Promise<{ octets: bigint; covered: number }> {
  const { rows } = await sql<{ octets: string; covered: number }>`
    select (coalesce((select sum(octets_in) from port_samples), 0)
        + coalesce((select sum(x) from port_days, unnest(octets_in) x where seconds = 60), 0)
        + coalesce((select sum((open -> 'values' ->> 'octetsIn')::numeric) from interface_counters), 0))::text as octets,
      (coalesce((select sum(covered_ms) from port_samples), 0)
        + coalesce((select sum(x) from port_days, unnest(covered_ms) x where seconds = 60), 0)
        + coalesce((select sum((open ->> 'coveredMs')::integer) from interface_counters), 0))::integer as covered`.execute(
    owner(),
  )
  return { octets: BigInt(rows[0]!.octets), covered: rows[0]!.covered }
}

describe('the usage of a port', () => {
  test('has nothing that its interface counted for another port', async () => {
    await pollFrom(end - 5 * minute)
    const change = async (statement: ReturnType<typeof sql<{ id: number }>>) => {
      const { rows } = await statement.execute(owner())
      await owner()
        .transaction()
        .execute((trx) => linkPorts(trx))
      return rows[0]!.id
    }
    await change(sql`update ports set interface_key = 'et-0/0/2' where id = ${port.portId} returning id`)
    const next = await change(sql`
      insert into ports (circuit_id, name, device_id, interface_key)
      values ('C2', 'C2', ${port.deviceId}, 'et-0/0/1') returning id`)
    // A poll that read before and saves after.
    await poll(end + minute / 2)
    const start = Date.now() + 1_000
    const first = await poll(start)
    const last = await poll(start + 3 * minute)
    const counted = await sql<{ octets: string; since: Date }>`
      select (sum(s.octets_in) + (select (open -> 'values' ->> 'octetsIn')::bigint from interface_counters))::text as octets,
        min(s.minute) as since
      from port_samples s where s.port_id = ${next}`.execute(owner())
    const { octets, since } = counted.rows[0]!
    assert.equal(BigInt(octets), last.octetsIn! - first.octetsIn!)
    assert.equal(since.getTime(), Math.floor(start / minute) * minute)
  })

  test('has every octet of the counters, at odd times of polls too', async () => {
    const start = end - 2 * hour + 17_311
    const { first, last } = await pollFrom(start, 53_717)
    const { octets, covered } = await sumOfMinutes()
    assert.equal(octets, last.octetsIn! - first.octetsIn!)
    assert.equal(covered, last.at - first.at)
  })

  test('is shown in the directions of the customer, with figures of 5-minute buckets', async () => {
    await pollFrom(end - 2 * hour)
    const { series, samples, missing_samples, direction_of, octets_in } = await usage(teamId, {
      start: new Date(end - 2 * hour).toISOString(),
      interval: 300,
    })
    assert.equal(direction_of, 'customer')
    const [inbound, outbound] = series
    // The device sends 200 Mbit/s: the customer receives them.
    assert.ok(inbound!.avg! > 0.2 * bps.out_bps && inbound!.avg! < 2 * bps.out_bps, String(inbound!.avg))
    assert.ok(outbound!.avg! > 0.2 * bps.in_bps && outbound!.avg! < 2 * bps.in_bps, String(outbound!.avg))
    assert.ok(samples >= 22 && missing_samples <= 2, `${samples} ${missing_samples}`)
    const rates = inbound!.values.filter((value) => value !== null)
    assert.ok(Math.max(...rates) >= inbound!.p95! && inbound!.p95! >= inbound!.avg!)
    assert.ok(octets_in! > 0)
    const { rates: now } = (await findPort(database.postgres, teamId, port.portId))!
    assert.deepEqual([now.in_bps, now.out_bps], [inbound!.last, outbound!.last], 'lists show the same')
  })

  test('has no values of one address family: no device counts them', async () => {
    await pollFrom(end - 30 * minute)
    const { series, samples, octets_in } = await usage(teamId, { interval: 300, family: 'ipv6' })
    assert.ok(series.length === 2 && series.every(({ values }) => values.every((value) => value === null)))
    assert.deepEqual([samples, octets_in], [0, null])
  })

  test('a time without polls is null, not zero, and counts as missing', async () => {
    await pollFrom(end - 30 * minute)
    const { series, missing_samples } = await usage(teamId, { interval: 3600 })
    assert.ok(series[0]!.values.filter((value) => value === null).length >= 22)
    assert.ok(missing_samples > 270)
  })

  test('a restart of the device adds nothing, and counting begins again', async () => {
    await pollFrom(end - 10 * minute)
    const { octets } = await sumOfMinutes()
    await poll(end + minute, { uptimeCs: 100, octetsIn: 5n, octetsOut: 5n })
    assert.equal((await sumOfMinutes()).octets, octets)
    await poll(end + 2 * minute, { uptimeCs: 6_100, octetsIn: 1_005n, octetsOut: 905n })
    assert.equal((await sumOfMinutes()).octets, octets + 1_000n)
  })

  test('keeps the minute that it was counting when it moves to another interface', async () => {
    const { first } = await pollFrom(end - 2 * minute, minute)
    const last = await poll(end + minute / 2, { errorsIn: null })
    await owner()
      .transaction()
      .execute((trx) =>
        linkPorts(trx, port.deviceId, () =>
          sql`update ports set interface_key = 'et-0/0/2' where id = ${port.portId}`.execute(trx),
        ),
      )
    const { rows } = await sql<{ octets: string; covered: number }>`
      select sum(octets_in) as octets, sum(covered_ms)::integer as covered from port_samples`.execute(owner())
    assert.deepEqual(rows, [{ octets: String(last.octetsIn! - first.octetsIn!), covered: 2.5 * minute }])
  })

  test('a clock that goes back adds nothing to minutes that were counted', async () => {
    const minutes = async () =>
      (
        await sql<{ minute: Date; covered: number; octets: string }>`
          select minute, covered_ms as covered, octets_in as octets from port_samples order by 1`.execute(
          owner(),
        )
      ).rows
    const start = end - 20 * minute
    for (let at = 0; at <= 10; at++) await poll(start + at * minute + 30_000)
    const before = await minutes()
    // The device continues; here it is five minutes earlier.
    const step = 5 * minute
    for (let at = 11; at <= 20; at++) {
      const row = (await source(start + at * minute + 30_000).readCounters('all', AbortSignal.timeout(1_000)))
        .rows[0]!
      await owner()
        .transaction()
        .execute((trx) => saveCounters(trx, port.deviceId, [{ ...row, at: row.at - step }]))
    }
    const after = await minutes()
    assert.deepEqual(after.slice(0, before.length), before)
    assert.ok(after.length > before.length)
    assert.ok(after.every(({ covered }) => covered <= 60_000))
  })

  test('a clock that goes back by days adds nothing to a day that is over', async () => {
    const day = Math.floor((end - 3 * 24 * hour) / (24 * hour)) * 24 * hour
    await sql`select create_sample_partition(${new Date(day).toISOString().slice(0, 10)}::date)`.execute(
      owner(),
    )
    for (let at = 0; at <= 10; at++) await poll(day + at * minute)
    await compactUsage(owner())
    const { octets } = await sumOfMinutes()
    await poll(end)
    await sql`update interface_counters set open = null`.execute(owner())
    for (let at = 0; at <= 5; at++) await poll(day + at * minute + 20_000)
    const stored = await sql<{ count: number }>`select count(*)::integer as count from port_samples`.execute(
      owner(),
    )
    assert.equal(stored.rows[0]!.count, 0)
    const again = await sumOfMinutes()
    const { rows } = await sql<{ open: string }>`
      select coalesce((open -> 'values' ->> 'octetsIn'), '0') as open from interface_counters`.execute(
      owner(),
    )
    assert.equal(again.octets - BigInt(rows[0]!.open), octets)
  })

  test('samples that a constraint refuses come with the next reading', async () => {
    const { first } = await pollFrom(end - 10 * minute)
    await sql`alter table port_samples add constraint refused check (octets_in is null) not valid`.execute(
      owner(),
    )
    await poll(end + minute)
    await poll(end + 2 * minute)
    await sql`alter table port_samples drop constraint refused`.execute(owner())
    const last = await poll(end + 3 * minute)
    assert.equal((await sumOfMinutes()).octets, last.octetsIn! - first.octetsIn!)
  })

  test('a faulty answer leaves no gap and no octet of its own', async () => {
    const { first } = await pollFrom(end - 10 * minute)
    await poll(end + minute, { octetsIn: 7n, octetsOut: 7n, packetsIn: 7n, packetsOut: 7n })
    const last = await poll(end + 2 * minute)
    const { octets, covered } = await sumOfMinutes()
    assert.deepEqual([octets, covered], [last.octetsIn! - first.octetsIn!, 12 * minute])
  })

  test('past days become rows without a change of any figure', async () => {
    const day = 24 * hour
    const midnight = Math.floor(end / day) * day
    const last = midnight - 2 * hour
    await poll(last - 3 * hour)
    for (let at = last - 3 * hour + minute; at <= last; at += minute) await poll(at)
    const window = {
      start: new Date(last - 3 * hour).toISOString(),
      end: new Date(last).toISOString(),
      interval: 300,
    }
    const rowsOf = async () => (await usage(teamId, window)).series
    await sql`select create_sample_partition(${new Date(last).toISOString().slice(0, 10)}::date)`.execute(
      owner(),
    )
    const before = await rowsOf()
    assert.ok(before[0]!.values.some((value) => value !== null))
    const total = (await sumOfMinutes()).octets
    const isDue = Date.now() % day > 2 * hour
    assert.equal(await compactUsage(owner()), isDue ? 1 : 0)
    assert.deepEqual(await rowsOf(), before)
    assert.equal((await sumOfMinutes()).octets, total)
    assert.equal(await compactUsage(owner()), 0)
  })

  test('belongs to the customer of the time: the next one sees nothing of before, the former one nothing of after', async () => {
    await pollFrom(end - 2 * hour)
    const moved = new Date(end - hour)
    await sql`update port_assignments set valid = tstzrange(lower(valid), ${moved})`.execute(owner())
    const serviceId = await addService(nextTeamId)
    await sql`insert into port_assignments (port_id, service_id, team_id, valid)
      values (${port.portId}, ${serviceId}, ${nextTeamId}, tstzrange(${moved}, null))`.execute(owner())
    const seenBy = async (team: number) => {
      const { series, timestamps } = await usage(team, { interval: 300 })
      return timestamps.filter((_, at) => series[0]!.values[at] !== null)
    }
    const seenBefore = await seenBy(teamId)
    assert.ok(
      seenBefore.length > 0 && seenBefore.every((at) => Date.parse(at) + 5 * minute <= moved.getTime()),
    )
    const seen = await seenBy(nextTeamId)
    assert.ok(seen.length > 0 && seen.every((at) => Date.parse(at) >= moved.getTime() - 5 * minute))
    const asTenant = (team: number) =>
      database.postgres.inTeam(
        team,
        async (trx) =>
          (await sql<{ first: Date | null }>`select min(minute) as first from port_samples`.execute(trx))
            .rows,
      )
    assert.ok((await asTenant(nextTeamId))[0]!.first! >= moved)
    assert.ok((await asTenant(teamId))[0]!.first! < moved)
  })
})
