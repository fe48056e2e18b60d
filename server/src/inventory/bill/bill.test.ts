// Bills end to end on PostgreSQL: months of samples, their figures, the file to recount them, and closed months.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, emptyTables, type TestDatabase } from '../../db/testing.ts'
import type { Operation } from '../../operation/operation.ts'
import { Failure } from '../../runtime/error.ts'
import { linkPorts } from '../assignment/link-ports.store.ts'
import { seedPort } from '../testing.ts'
import { keepFormerTerms, listBillReviews } from './bill.store.ts'
import { getBillingSamples, listBillablePorts, listBillingPeriods } from './billable-port.ts'
import { closePeriods } from './close-period.ts'
import { correctBill, type Correction } from './correct-bill.ts'
import { exportStaffBills, listStaffBills } from './staff-bill.ts'

const dayMs = 86_400_000
let database: TestDatabase
let teamId = 0
let nextTeamId = 0
let serviceId = 0
let port = { deviceId: 0, portId: 0, interfaceId: 0 }
const owner = () => database.postgres.owner
before(async () => void (database = await createTestDatabase()))
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  await sql`alter table billing_periods disable trigger all`.execute(owner())
  await emptyTables(owner(), [
    'teams',
    'devices',
    'services',
    'outbox',
    'port_days',
    'port_samples',
    'billing_periods',
  ])
  await sql`alter table billing_periods enable trigger all`.execute(owner())
  ;[teamId, nextTeamId] = [await addTeam('one'), await addTeam('two')]
  serviceId = await addService(teamId)
  port = await addPort('C1', serviceId)
})

async function addTeam(slug: string): Promise<number> {
  const values = { slug, name: slug, enabled_modules: ['inventory'] }
  return (await owner().insertInto('teams').values(values).returning('id').executeTakeFirstOrThrow()).id
}

async function addService(team: number, rules: object = {}): Promise<number> {
  const values = {
    team_id: team,
    name: 'Transit',
    type: 'transit' as const,
    commit_bps: 1_000_000,
    billing_method: 'p95' as const,
    billing_timezone: 'Europe/Amsterdam',
    ...rules,
  }
  return (await owner().insertInto('services').values(values).returning('id').executeTakeFirstOrThrow()).id
}

const addPort = (circuitId: string, service: number, since = new Date('2025-01-01T00:00:00Z')) =>
  seedPort(database.postgres, { teamId, serviceId: service, circuitId, since })

const change = (rules: object) =>
  owner().updateTable('services').set(rules).where('id', '=', serviceId).execute()

/** The member joins the LAG, or leaves it, as a survey would find it; at another time than now. */
async function joinLag(member: typeof port, lagId: number | null, at: string): Promise<void> {
  await owner()
    .transaction()
    .execute((trx) =>
      linkPorts(trx, null, () =>
        sql`update interfaces set lag_id = ${lagId} where id = ${member.interfaceId}`.execute(trx),
      ),
    )
  await sql`update former_port_facts set valid = tstzrange(lower(valid), ${at}) where port_id = ${member.portId}
    and upper(valid) > now() - interval '1 minute'`.execute(owner())
}

/** Other terms, from another time than now on. */
async function changeTerms(at: string, rules: object): Promise<void> {
  await owner()
    .transaction()
    .execute((trx) => keepFormerTerms(trx, serviceId))
  await change(rules)
  await sql`update former_service_terms set valid = tstzrange(lower(valid), ${at}) where upper(valid) > now() - interval '1 minute'`.execute(
    owner(),
  )
}

/** Days of samples: bucket i since the first day has i kbit/s in both directions, the customer's in shifted by `more` kbit/s. */
async function addDays(portId: number, first: string, days: number, more = 0): Promise<void> {
  for (let day = 0; day < days; day++) {
    const at = Date.parse(first) + day * dayMs
    const octets = (kbps: number) => kbps * 37_500
    const slots = Array.from({ length: 288 }, (_, slot) => day * 288 + slot)
    await sql`
      insert into port_days (port_id, seconds, day, covered_ms, octets_in, octets_out, packets_in, packets_out, errors_in, errors_out,
        discards_in, discards_out)
      select ${portId}, 300, ${new Date(at).toISOString().slice(0, 10)}::date, array_fill(300000, array[288]),
        ${slots.map((i) => octets(i))}::bigint[], ${slots.map((i) => octets(i + more))}::bigint[], z, z, z, z, z, z
      from (select array_fill(0::bigint, array[288]) as z) z`.execute(owner())
  }
}

const log = (interfaceId: number, at: string, after: 'up' | 'down') =>
  sql`insert into interface_log (interface_id, at, kind, before, after)
    values (${interfaceId}, ${at}, 'oper', ${after === 'up' ? 'down' : 'up'}, ${after})`.execute(owner())

const deps = (now = '2026-04-03T00:00:00Z') => ({ postgres: database.postgres, now: () => new Date(now) })
const as = (team: number) => ({ actor: { teamId: team } }) as Operation
const bills = async (query: object = {}, { team = teamId, now = '2026-04-03T00:00:00Z' } = {}) =>
  (
    await listBillablePorts(deps(now), as(team), serviceId, {
      ordering: 'name',
      limit: 100,
      offset: 0,
      ...query,
    })
  ).results
const periods = (team = teamId) =>
  listBillingPeriods(deps(), as(team), serviceId, { ordering: '-period,name', limit: 100, offset: 0 })
const file = async (query: object) => (await getBillingSamples(deps(), as(teamId), serviceId, query)).bytes
const close = () =>
  closePeriods(database.postgres, new Date('2026-04-03T00:00:00Z'), AbortSignal.timeout(60_000), {
    isMeasured: true,
  })
const isFailure = (code: string) => (error: unknown) => error instanceof Failure && error.code === code

describe('the bill of a month', () => {
  test('is the nearest rank in the month of the time zone, with a change of clocks', async () => {
    await addDays(port.portId, '2026-02-28', 33, 7)
    const [bill] = await bills({ period: '2026-03' })
    // The month begins at 23:00 UTC, bucket 276, and has 8916 buckets.
    const ranked = 276 + 8471 - 1
    const { samples, missing_samples, rank, ranked_at, p95_in_bps, p95_out_bps, billable_bps, overage_bps } =
      bill!
    assert.deepEqual(
      { samples, missing_samples, rank, ranked_at, p95_in_bps, p95_out_bps, billable_bps, overage_bps },
      {
        samples: 8916,
        missing_samples: 0,
        rank: 8471,
        ranked_at: new Date(Date.parse('2026-02-28') + ranked * 300_000).toISOString(),
        p95_in_bps: (ranked + 7) * 1000,
        p95_out_bps: ranked * 1000,
        billable_bps: (ranked + 7) * 1000,
        overage_bps: (ranked + 7) * 1000 - 1_000_000,
      },
    )
    assert.equal(bill!.period_start, '2026-02-28T23:00:00.000Z')
  })

  test('states the rate without attacks where flows of the port were received', async () => {
    await addDays(port.portId, '2026-03-01', 1)
    assert.equal((await bills({ period: '2026-03' }))[0]!.attack_excluded_bps, null)
    // The 20 busiest buckets are an attack of 200 kbit/s: 7.5 MB in 5 minutes.
    await sql`insert into port_attack_octets (team_id, port_id, bucket, octets)
      select ${teamId}, ${port.portId}, '2026-03-01T00:00:00Z'::timestamptz + n * interval '5 minutes', case when n >= 268 then 7500000 else 0 end
      from generate_series(0, 287) n`.execute(owner())
    await change({ billing_direction: 'in' })
    const [bill] = await bills({ period: '2026-03' })
    // The 274th of 288 buckets: 20 values count twice among the values below it.
    assert.deepEqual([bill!.p95_in_bps, bill!.attack_excluded_bps], [273_000, 253_000])
    await change({ billing_direction: 'out' })
    const [out] = await bills({ period: '2026-03' })
    assert.equal(out!.attack_excluded_bps, out!.billable_bps)
  })

  test('is recounted from the file with sort', async () => {
    await addDays(port.portId, '2026-02-28', 33)
    const [bill] = await bills({ period: '2026-03' })
    const csv = await file({ period: '2026-03', port_id: port.portId })
    const command = `tail -n +2 | cut -d, -f5 | grep . | sort -n | sed -n ${bill!.rank}p`
    assert.equal(Number(execFileSync('sh', ['-c', command], { input: csv })), bill!.billable_bps)
  })

  test('leaves out missing buckets and those of another month; too few bits are no rate', async () => {
    await addDays(port.portId, '2026-03-01', 1)
    await sql`update port_days set covered_ms[1:100] = array_fill(149999, array[100]), covered_ms[101:110] = array_fill(null::integer, array[10]),
      octets_in[101:110] = array_fill(null::bigint, array[10]), octets_out[101:110] = array_fill(null::bigint, array[10])`.execute(
      owner(),
    )
    const [bill] = await bills({ period: '2026-03' })
    assert.deepEqual([bill!.samples, bill!.missing_samples], [178, 8916 - 178])
    await sql`insert into interface_counters (interface_id, state, type) values (${port.interfaceId}, '{"bits": 32}', 6)`.execute(
      owner(),
    )
    const [refused] = await bills({ period: '2026-03' })
    assert.deepEqual(
      [refused!.problem, refused!.billable_bps, refused!.samples],
      ['counters_32_bit', null, 178],
    )
  })

  test('by average, by volume, flat, and by the sum of both directions', async () => {
    await addDays(port.portId, '2026-03-01', 1, 1)
    const figures = async (rules: object) => {
      await change(rules)
      const [{ billable_bps, billable_octets } = {}] = await bills({ period: '2026-03' })
      return [billable_bps, billable_octets]
    }
    assert.deepEqual(await figures({ billing_method: 'average', billing_direction: 'in' }), [144_500, null])
    const octets = (288 * 287 * 37_500) / 2
    assert.deepEqual(await figures({ billing_method: 'volume', billing_direction: 'out' }), [null, octets])
    assert.deepEqual(await figures({ billing_method: 'volume', billing_direction: 'sum' }), [
      null,
      2 * octets + 288 * 37_500,
    ])
    assert.deepEqual(await figures({ billing_method: 'flat' }), [1_000_000, null])
    assert.deepEqual(await figures({ billing_method: 'p95', billing_direction: 'sum' }), [
      (273 * 2 + 1) * 1000,
      null,
    ])
  })

  test('of all ports of a service is added per bucket before it is ranked', async () => {
    const second = await addPort('C2', serviceId)
    await addDays(port.portId, '2026-03-01', 1)
    await addDays(second.portId, '2026-03-01', 1)
    // The second port misses its last 20 buckets while it is up: the sum misses them too.
    await sql`update port_days set covered_ms[269:288] = array_fill(null::integer, array[20]) where port_id = ${second.portId}`.execute(
      owner(),
    )
    await change({ billing_scope: 'service', billing_direction: 'in' })
    const [bill, ...rest] = await bills({ period: '2026-03' })
    assert.deepEqual([rest.length, bill!.port_id, bill!.port_ids], [0, null, [port.portId, second.portId]])
    assert.deepEqual([bill!.samples, bill!.rank, bill!.billable_bps], [268, 255, 254 * 2000])
    await assert.rejects(file({ period: '2026-03', port_id: port.portId }), isFailure('invalid'))
    const csv = String(await file({ period: '2026-03' }))
    assert.match(csv, /\n2026-03-01T00:05:00Z,300000,75000,75000,2000,2000,4000\n/)
    await sql`update interfaces set oper = 'down' where id = ${second.interfaceId}`.execute(owner())
    assert.equal((await bills({ period: '2026-03' }))[0]!.samples, 288)
  })

  test('of a service lacks no day because a port was not connected yet, or down', async () => {
    await addDays(port.portId, '2026-02-28', 33)
    await change({ billing_scope: 'service' })
    // Since 1 March, and up from the first reading on, in the middle of 20 March.
    const late = await addPort('C2', serviceId, new Date('2026-03-01T00:00:00Z'))
    await addDays(late.portId, '2026-03-20', 13)
    await sql`update port_days set covered_ms[1:100] = array_fill(null::integer, array[100])
      where port_id = ${late.portId} and day = '2026-03-20'`.execute(owner())
    // Measured in January, down since February, and up after the month.
    const idle = await addPort('C3', serviceId)
    await addDays(idle.portId, '2026-01-10', 1)
    await log(idle.interfaceId, '2026-02-02T00:00:00Z', 'down')
    await log(idle.interfaceId, '2026-04-01T08:00:00Z', 'up')
    const samples = async () => (await bills({ period: '2026-03' }))[0]!.samples
    assert.equal(await samples(), 8916)
    // The log before it is gone.
    await sql`delete from interface_log where at < '2026-03-01'`.execute(owner())
    assert.equal(await samples(), 8916)
    // A reading that is missing after the first one hides traffic.
    await sql`update port_days set covered_ms[1:200] = array_fill(null::integer, array[200])
      where port_id = ${late.portId} and day = '2026-03-21'`.execute(owner())
    assert.equal(await samples(), 8916 - 200)
    await close()
    assert.ok((await bills({ period: '2026-03' }))[0]!.billable_bps! > 0)
  })

  test('of a pool is of the ports of several services, each in its time, and each port has one bill', async () => {
    await change({ billing_scope: 'service', billing_timezone: 'UTC', billing_direction: 'in' })
    const member = await addService(teamId, { name: 'Second', billing_timezone: 'UTC' })
    const other = await addPort('C2', member)
    await addDays(port.portId, '2026-03-01', 31)
    await addDays(other.portId, '2026-03-01', 31)
    const billsOf = async (id: number) =>
      (
        await listBillablePorts(deps(), as(teamId), id, {
          period: '2026-03',
          ordering: 'name',
          limit: 10,
          offset: 0,
        })
      ).results
    const octetsOf = (first: number, buckets: number) => ((2 * first + buckets - 1) * buckets * 37_500) / 2
    const all = octetsOf(0, 31 * 288)
    assert.deepEqual(
      [...(await billsOf(serviceId)), ...(await billsOf(member))].map(({ octets_in }) => octets_in),
      [all, all],
    )
    // From 11 March on, in the middle of a bucket: that bucket belongs to the service itself.
    const pool = async (id: number | null, at: string) => {
      await owner()
        .transaction()
        .execute((trx) => keepFormerTerms(trx, member))
      await sql`update services set pool_id = ${id} where id = ${member}`.execute(owner())
      await sql`update former_service_terms set valid = tstzrange(lower(valid), ${at})
        where service_id = ${member} and upper(valid) > now() - interval '1 minute'`.execute(owner())
    }
    await pool(serviceId, '2026-03-11T00:02:30Z')
    const [own, ofPool] = [10 * 288 + 1, 21 * 288 - 1]
    const [[pooled], [alone]] = [await billsOf(serviceId), await billsOf(member)]
    assert.deepEqual(
      [pooled!.port_ids, pooled!.samples, pooled!.octets_in, pooled!.commit_bps],
      [[port.portId, other.portId], 31 * 288, all + octetsOf(own, ofPool), 1_000_000],
    )
    const rank = Math.ceil(0.95 * 31 * 288)
    assert.equal(pooled!.billable_bps, (rank - 1) * 2000)
    assert.deepEqual(
      [alone!.samples, alone!.octets_in, alone!.period_end],
      [own, octetsOf(0, own), '2026-03-11T00:05:00.000Z'],
    )
    // It leaves the pool again: its own bill has both times.
    await pool(null, '2026-03-21T00:00:00Z')
    assert.deepEqual(
      [(await billsOf(serviceId))[0]!.octets_in, (await billsOf(member))[0]!.octets_in],
      [all + octetsOf(own, 10 * 288 - 1), octetsOf(0, own) + octetsOf(20 * 288, 11 * 288)],
    )
    await close()
    const closed = [...(await billsOf(serviceId)), ...(await billsOf(member))]
    assert.deepEqual(
      closed.map(({ octets_in, closed: at }) => [octets_in, at !== null]),
      [
        [all + octetsOf(own, 10 * 288 - 1), true],
        [octetsOf(0, own) + octetsOf(20 * 288, 11 * 288), true],
      ],
    )
  })

  test('of a service takes no stored state for that of a time in which nobody has read the device', async () => {
    await addDays(port.portId, '2026-03-01', 31)
    await change({ billing_scope: 'service', billing_timezone: 'UTC' })
    const down = await addPort('C2', serviceId)
    await addDays(down.portId, '2026-03-01', 10)
    await sql`update interfaces set oper = 'down' where id = ${down.interfaceId}`.execute(owner())
    await log(down.interfaceId, '2026-03-09T00:00:00Z', 'down')
    const samples = async () => (await bills({ period: '2026-03' }))[0]!.samples
    const read = (seen: string, next: string) =>
      sql`insert into device_states (device_id, seen, next_poll) values (${down.deviceId}, ${seen}, ${next}::timestamptz)
        on conflict (device_id) do update set seen = excluded.seen, next_poll = excluded.next_poll`.execute(
        owner(),
      )
    // Its device is read, without counters: the port is known to be down.
    await read('2026-04-03T00:00:00Z', 'infinity')
    assert.equal(await samples(), 31 * 288)
    await read('2026-03-16T00:00:00Z', '2026-03-16T00:01:00Z')
    assert.equal(await samples(), 15 * 288)
  })

  test('of a service takes the states of an interface only since its port has it', async () => {
    await addDays(port.portId, '2026-02-28', 33)
    await change({ billing_scope: 'service' })
    const moved = await addPort('C2', serviceId)
    await addDays(moved.portId, '2026-02-28', 33)
    await log(moved.interfaceId, '2026-02-01T00:00:00Z', 'down')
    await log(moved.interfaceId, '2026-03-14T12:00:00Z', 'up')
    await sql`update ports set interface_since = '2026-03-15T00:00:00Z' where id = ${moved.portId}`.execute(
      owner(),
    )
    await sql`update port_days set covered_ms[1:200] = array_fill(null::integer, array[200])
      where port_id = ${moved.portId} and day = '2026-03-10'`.execute(owner())
    assert.equal((await bills({ period: '2026-03' }))[0]!.samples, 8916 - 200)
  })

  test('of a service is of the ports of the month; earlier ones count in its forecast', async () => {
    await change({ billing_scope: 'service', billing_timezone: 'UTC' })
    await sql`update port_assignments set valid = tstzrange(lower(valid), '2026-03-01T00:00:00Z')`.execute(
      owner(),
    )
    await sql`insert into interface_counters (interface_id, state, type) values (${port.interfaceId}, '{"bits": 32}', 6)`.execute(
      owner(),
    )
    await sql`insert into port_attack_octets (team_id, port_id, bucket, octets)
      values (${teamId}, ${port.portId}, '2026-02-27T00:00:00Z', 0)`.execute(owner())
    await addDays(port.portId, '2026-02-02', 27)
    const next = await addPort('C2', serviceId, new Date('2026-03-01T00:00:00Z'))
    await addDays(next.portId, '2026-03-01', 1)
    const [bill] = await bills({}, { now: '2026-03-02T00:00:00Z' })
    const { port_ids, speed_bps, problem, samples, attack_excluded_bps } = bill!
    assert.deepEqual(
      { port_ids, speed_bps, problem, samples, attack_excluded_bps },
      {
        port_ids: [next.portId],
        speed_bps: 100_000_000_000,
        problem: null,
        samples: 288,
        attack_excluded_bps: null,
      },
    )
    // The buckets of February are greater than any of March.
    assert.ok(bill!.forecast_bps! > bill!.p95_in_bps!)
  })

  test('of a LAG is that of the LAG without its members, or of them if it does not count', async () => {
    const member = await addPort('C2', serviceId)
    await sql`update interfaces set type = 161 where id = ${port.interfaceId}`.execute(owner())
    await sql`update interfaces set device_id = ${port.deviceId}, key = 'm', lag_id = ${port.interfaceId} where id = ${member.interfaceId}`.execute(
      owner(),
    )
    await sql`update ports set device_id = ${port.deviceId}, interface_key = 'm' where id = ${member.portId}`.execute(
      owner(),
    )
    await addDays(port.portId, '2026-03-01', 1)
    await addDays(member.portId, '2026-03-01', 1, 5)
    const own = await bills({ period: '2026-03' })
    assert.deepEqual(
      own.map(({ port_id, p95_in_bps }) => [port_id, p95_in_bps]),
      [[port.portId, 273_000]],
    )
    await sql`update port_days set octets_in = array_fill(null::bigint, array[288]), octets_out = array_fill(null::bigint, array[288])
      where port_id = ${port.portId}`.execute(owner())
    assert.equal((await bills({ period: '2026-03' }))[0]!.p95_in_bps, 278_000)
  })

  test('of a member of a LAG is of its own days, and each day is billed once', async () => {
    await change({ billing_timezone: 'UTC' })
    const member = await addPort('C2', serviceId)
    await sql`update interfaces set type = 161 where id = ${port.interfaceId}`.execute(owner())
    await addDays(port.portId, '2026-03-01', 31)
    await addDays(member.portId, '2026-03-01', 31)
    await joinLag(member, port.interfaceId, '2026-03-11T00:02:30Z')
    await joinLag(member, null, '2026-03-21T12:00:00Z')
    const own = 10 * 288 + 10.5 * 288
    const figures = async () =>
      (await bills({ period: '2026-03', ordering: 'circuit_id' })).map(
        ({ port_ids, samples, missing_samples }) => ({ port_ids, samples, missing_samples }),
      )
    assert.deepEqual(await figures(), [
      { port_ids: [port.portId], samples: 31 * 288, missing_samples: 0 },
      { port_ids: [member.portId], samples: own, missing_samples: 0 },
    ])
    // The LAG has no counters: its samples come from its member.
    await sql`delete from port_days where port_id = ${port.portId}`.execute(owner())
    assert.deepEqual(await figures(), [
      { port_ids: [port.portId], samples: 10.5 * 288, missing_samples: 20.5 * 288 },
      { port_ids: [member.portId], samples: own, missing_samples: 0 },
    ])
    await change({ billing_scope: 'service' })
    const [both] = await bills({ period: '2026-03' })
    assert.equal(both!.samples, 31 * 288)
    const octets = (31 * 288 * (31 * 288 - 1) * 37_500) / 2
    assert.equal(both!.octets_in, octets)
    assert.equal(both!.attack_excluded_bps, null)
  })

  test('leaves out the attacks of a member in its time in the LAG, and of a port in its own', async () => {
    await change({ billing_timezone: 'UTC', billing_method: 'average', billing_direction: 'in' })
    const member = await addPort('C2', serviceId)
    await sql`update interfaces set type = 161 where id = ${port.interfaceId}`.execute(owner())
    await addDays(port.portId, '2026-03-01', 31)
    await addDays(member.portId, '2026-03-01', 31)
    await joinLag(member, port.interfaceId, '2026-03-11T00:00:00Z')
    // 144 kbit/s in two buckets: before and after it joined.
    await sql`insert into port_attack_octets (team_id, port_id, bucket, octets)
      select ${teamId}, ${member.portId}, at::timestamptz, 5400000 from unnest(array['2026-03-10T12:00:00Z', '2026-03-11T12:00:00Z']) at`.execute(
      owner(),
    )
    const without = (samples: number) =>
      Math.floor(((samples * (samples - 1) * 1000) / 2 - 144_000) / samples)
    const rows = await bills({ period: '2026-03', ordering: 'circuit_id' })
    assert.deepEqual(
      rows.map(({ attack_excluded_bps }) => attack_excluded_bps),
      [without(31 * 288), without(10 * 288)],
    )
  })

  test('by the terms of the time: a commit in proportion, and a part for each direction', async () => {
    await change({ billing_timezone: 'UTC', billing_direction: 'in' })
    await addDays(port.portId, '2026-03-01', 31, 5)
    await changeTerms('2026-03-11T00:00:00Z', { commit_bps: 2_000_000 })
    const mean = Math.floor((10 * 1_000_000 + 21 * 2_000_000) / 31)
    const ranked = Math.ceil(0.95 * 31 * 288) - 1
    const [one, ...none] = await bills({ period: '2026-03' })
    assert.deepEqual(
      [none.length, one!.commit_bps, one!.billable_bps, one!.overage_bps],
      [0, mean, (ranked + 5) * 1000, (ranked + 5) * 1000 - mean],
    )
    await changeTerms('2026-03-21T00:00:00Z', { billing_direction: 'out' })
    // A change after the month does not affect the month.
    await changeTerms('2026-04-01T00:00:00Z', { billing_direction: 'sum', commit_bps: null })
    const [first, second, ...rest] = await bills({ period: '2026-03' })
    const [firstRank, secondRank] = [Math.ceil(0.95 * 20 * 288), Math.ceil(0.95 * 11 * 288)]
    assert.deepEqual(
      [rest.length, first!.direction, first!.billable_bps, first!.commit_bps, first!.period_end],
      [0, 'in', (firstRank - 1 + 5) * 1000, 1_500_000, '2026-03-21T00:00:00.000Z'],
    )
    assert.deepEqual(
      [second!.direction, second!.billable_bps, second!.commit_bps, second!.period_start],
      ['out', (20 * 288 + secondRank - 1) * 1000, 2_000_000, '2026-03-21T00:00:00.000Z'],
    )
    await assert.rejects(file({ period: '2026-03', port_id: port.portId }), isFailure('invalid'))
    const csv = String(
      await file({ period: '2026-03', port_id: port.portId, period_start: second!.period_start }),
    )
    assert.match(csv, /^start.*\n2026-03-21T00:00:00Z,/)
    await close()
    const closed = await bills({ period: '2026-03' })
    assert.deepEqual(
      closed.map(({ billable_bps }) => billable_bps),
      [first!.billable_bps, second!.billable_bps],
    )
  })

  test('has a forecast while it lasts, which is the figure itself at its end', async () => {
    await addDays(port.portId, '2026-03-01', 31)
    const [half] = await bills({ period: '2026-03' }, { now: '2026-03-16T00:00:00Z' })
    assert.ok(half!.forecast_bps! > 0 && half!.samples === 15 * 288)
    const [end] = await bills({ period: '2026-03' }, { now: '2026-03-31T21:59:59Z' })
    assert.equal(end!.forecast_bps, end!.billable_bps)
    assert.equal((await bills({ period: '2026-03' }))[0]!.forecast_bps, null)
  })
})

describe('a port that changes hands', () => {
  test('is billed to each customer for his own time, and seen by nobody else', async () => {
    await addDays(port.portId, '2026-03-01', 31)
    const change = '2026-03-11T00:02:30Z'
    await sql`update port_assignments set valid = tstzrange(lower(valid), ${change}::timestamptz)`.execute(
      owner(),
    )
    const nextService = await addService(nextTeamId)
    await sql`insert into port_assignments (port_id, service_id, team_id, valid)
      values (${port.portId}, ${nextService}, ${nextTeamId}, tstzrange(${change}::timestamptz, null))`.execute(
      owner(),
    )
    const [first] = await bills({ period: '2026-03' })
    assert.deepEqual([first!.samples, first!.period_end], [10 * 288, '2026-03-11T00:00:00.000Z'])
    const { results } = await listBillablePorts(deps(), as(nextTeamId), nextService, {
      period: '2026-03',
      ordering: 'name',
      limit: 10,
      offset: 0,
    })
    assert.deepEqual(
      [results[0]!.samples, results[0]!.period_start],
      [21 * 288 - 24 - 1, '2026-03-11T00:05:00.000Z'],
    )
    assert.deepEqual(await bills({ period: '2026-04' }), [])
    await assert.rejects(bills({ period: '2026-03' }, { team: nextTeamId }), isFailure('not_found'))
  })
})

describe('a month that is over', () => {
  test('is closed once, with the hash of its file, and never changed', async () => {
    await addDays(port.portId, '2026-02-28', 33)
    const [open] = await bills({ period: '2026-03' })
    const [one, two] = await Promise.all([close(), close()])
    assert.equal(one + two, 12)
    assert.equal(await close(), 0)
    const [closed] = await bills({ period: '2026-03' })
    const csv = await file({ period: '2026-03', port_id: port.portId })
    assert.equal(closed!.samples_sha256, hash('sha256', csv))
    const { closed: at, samples_sha256: _sha, as_of: _asOf, ...figures } = closed!
    assert.ok(at !== null)
    const { closed: _closed, samples_sha256: _none, as_of: _now, ...same } = open!
    assert.deepEqual(figures, same)
    await sql`delete from port_days`.execute(owner())
    assert.deepEqual((await bills({ period: '2026-03' }))[0], closed)
    await assert.rejects(sql`update billing_periods set month = '2026-02'`.execute(owner()), /never changed/)
    await assert.rejects(sql`delete from billing_periods`.execute(owner()), /never changed/)
    const { rows } = await sql<{ type: string; period: string }>`
      select type, data ->> 'period' as period, team_id, data -> 'team' ->> 'name' as team from outbox order by id desc limit 2`.execute(
      owner(),
    )
    const message = { type: 'service.billed', period: '2026-03', team: 'one' }
    assert.deepEqual(rows, [
      { ...message, team_id: null },
      { ...message, team_id: teamId },
    ])
  })

  test('keeps the file of its samples, whatever becomes of port, scope, zone and service', async () => {
    await addDays(port.portId, '2026-02-28', 33)
    await close()
    const query = { period: '2026-03', port_id: port.portId }
    const csv = await file(query)
    const [closed] = await bills({ period: '2026-03' })
    assert.equal(closed!.samples_sha256, hash('sha256', csv))
    await sql`delete from port_days where day > '2026-03-10'`.execute(owner())
    assert.deepEqual(await file(query), csv)
    await change({ billing_scope: 'service', billing_timezone: 'Asia/Tokyo' })
    assert.deepEqual(await file(query), csv)
    await sql`delete from ports`.execute(owner())
    assert.deepEqual(await file({ ...query, period_start: closed!.period_start }), csv)
    await sql`delete from services`.execute(owner())
    assert.deepEqual(await file(query), csv)
    const { bill_id } = (await periods()).results.find(({ period }) => period === '2026-03')!
    assert.deepEqual(await file({ bill_id }), csv)
    await assert.rejects(
      getBillingSamples(deps(), as(nextTeamId), serviceId, { bill_id }),
      isFailure('not_found'),
    )
    await assert.rejects(sql`delete from billing_samples`.execute(owner()), /never changed/)
    const { rows } = await sql<{ stored: number }>`
      select length(gzip) as stored from billing_samples where sha256 = ${closed!.samples_sha256}`.execute(
      owner(),
    )
    assert.ok(rows[0]!.stored < csv.length / 3, `${rows[0]!.stored} of ${csv.length}`)
  })

  test('closed before files were kept has a file as long as it has the hash of the bill', async () => {
    await addDays(port.portId, '2026-02-28', 33)
    await close()
    const query = { period: '2026-03', port_id: port.portId }
    await emptyTables(owner(), ['billing_samples'])
    const [closed] = await bills({ period: '2026-03' })
    assert.equal(hash('sha256', await file(query)), closed!.samples_sha256)
    await sql`delete from port_days where day = '2026-03-10'`.execute(owner())
    await assert.rejects(file(query), isFailure('not_found'))
  })

  test('with many missing samples waits for the provider, and a correction names the bill it replaces', async () => {
    await change({ billing_timezone: 'UTC' })
    await addDays(port.portId, '2026-03-01', 31)
    const review = async (missing: number, now?: string) => {
      await sql`update port_days set covered_ms = array_fill(300000, array[288]) where day < '2026-03-03'`.execute(
        owner(),
      )
      await sql`
        update port_days set covered_ms = (select array_agg(case when (day - '2026-03-01') * 288 + n > ${missing} then 300000 end order by n)
          from generate_series(1, 288) n) where day < '2026-03-03'`.execute(owner())
      return (await bills({ period: '2026-03' }, now ? { now } : {}))[0]!
    }
    // 5 % of 8928 buckets are 446.4.
    assert.equal((await review(446)).review, null)
    const open = await review(447)
    assert.deepEqual([open.review, open.missing_samples], ['missing_samples', 447])
    assert.equal((await review(447, '2026-03-02T00:00:00Z')).review, null)
    await close()
    const ofMarch = async () => (await periods()).results.filter(({ period }) => period === '2026-03')
    const old = (await ofMarch())[0]!
    const csv = await file({ bill_id: old.bill_id })
    const waiting = async () =>
      (await listBillReviews(owner())).filter(({ bill }) => bill.period === '2026-03')
    assert.deepEqual(
      (await waiting()).map(({ bill, team }) => [bill.bill_id, team]),
      [[old.bill_id, 'one']],
    )
    // The samples of the first two days were found.
    await sql`update port_days set covered_ms = array_fill(300000, array[288])`.execute(owner())
    const correct = (to: Correction['to'], billId = old.bill_id) =>
      correctBill(deps('2026-04-09T00:00:00Z'), { billId, reason: 'Samples were restored.', to })
    const recounted = await correct('recount')
    const rank = Math.ceil(0.95 * 8928)
    assert.deepEqual(
      [recounted.corrects, recounted.samples, recounted.rank, recounted.billable_bps, recounted.review],
      [old.bill_id, 8928, rank, (rank - 1) * 1000, null],
    )
    const { period: _period, bill_id: _id, corrected_by: _none, ...valid } = recounted
    assert.deepEqual(await bills({ period: '2026-03' }), [valid])
    assert.deepEqual(await waiting(), [])
    await assert.rejects(correct('confirm'), isFailure('conflict'))
    const stated = await correct({ bps: 1_500_000 }, recounted.bill_id)
    assert.deepEqual([stated.billable_bps, stated.overage_bps, stated.rank], [1_500_000, 500_000, null])
    const march = await ofMarch()
    assert.deepEqual(
      march.map(({ bill_id, corrects, corrected_by }) => ({ bill_id, corrects, corrected_by })),
      [
        { bill_id: old.bill_id, corrects: null, corrected_by: recounted.bill_id },
        { bill_id: recounted.bill_id, corrects: old.bill_id, corrected_by: stated.bill_id },
        { bill_id: stated.bill_id, corrects: recounted.bill_id, corrected_by: null },
      ],
    )
    assert.deepEqual({ ...march[0], corrected_by: null }, old)
    assert.deepEqual(await file({ bill_id: old.bill_id }), csv)
    assert.equal(hash('sha256', await file({ bill_id: recounted.bill_id })), recounted.samples_sha256)
    const { rows } = await sql<{ corrects: number }>`
      select data -> 'corrects' as corrects from outbox
      where type = 'service.billed' and team_id is null order by id desc limit 2`.execute(owner())
    assert.deepEqual(
      rows.map(({ corrects }) => corrects),
      [recounted.bill_id, old.bill_id],
    )
  })

  test('has the price of its volume from one billing day to the next, and a correction a credit note', async () => {
    const prices = {
      currency: 'EUR',
      decimals: 2,
      monthly: '90',
      commit: null,
      overage: '0.02',
      tiers: [],
      tier_mode: 'graduated',
    }
    await change({
      billing_timezone: 'UTC',
      billing_day: 15,
      billing_method: 'volume',
      billing_direction: 'in',
      billing_included_octets: 1_000_000_000_000,
      billing_prices: JSON.stringify(prices),
    })
    await addDays(port.portId, '2026-02-01', 59)
    // The monthly price changes on 1 March.
    await changeTerms('2026-03-01T00:00:00Z', {
      billing_prices: JSON.stringify({ ...prices, monthly: '62' }),
    })
    await close()
    const ofFebruary = async () => (await bills({ period: '2026-02' }))[0]!
    const closed = await ofFebruary()
    assert.deepEqual(
      [closed.period_start, closed.period_end, closed.samples],
      ['2026-02-15T00:00:00.000Z', '2026-03-15T00:00:00.000Z', 28 * 288],
    )
    // Buckets 14 x 288 to 42 x 288 - 1, of 37,500 bytes each by their number.
    const octets = ((14 * 288 + 42 * 288 - 1) * 28 * 288 * 37_500) / 2
    assert.deepEqual(
      [closed.billable_octets, closed.included_octets, closed.overage_octets],
      [octets, 1_000_000_000_000, octets - 1_000_000_000_000],
    )
    const overage = Math.round(((octets - 1e12) / 1e9) * 0.02 * 0.5 * 100) / 100
    assert.deepEqual(
      closed.price!.lines.map(({ kind, price, buckets, of_buckets, amount }) => [
        kind,
        price,
        buckets / of_buckets,
        amount,
      ]),
      [
        ['monthly', '90', 0.5, '45.00'],
        ['overage', '0.02', 0.5, overage.toFixed(2)],
        ['monthly', '62', 0.5, '31.00'],
        ['overage', '0.02', 0.5, overage.toFixed(2)],
      ],
    )
    assert.equal(closed.price!.amount, (76 + 2 * overage).toFixed(2))
    // The month until 15 March is closed, and the service is not: a month with its ports is not.
    const { rows } = await sql<{ until: Date }>`select billed_until(${serviceId}) as until`.execute(owner())
    assert.equal(rows[0]!.until.toISOString(), '2026-03-15T00:00:00.000Z')
    const { bill_id: id } = (await periods()).results.find(({ period }) => period === '2026-02')!
    const correct = (billId: number, to: Correction['to']) =>
      correctBill(deps('2026-04-09T00:00:00Z'), { billId, reason: 'Agreed.', to })
    const stated = await correct(id, { octets: 1_000_000_000_000 })
    assert.deepEqual(stated.credit_note, {
      corrects: id,
      billable_bps: null,
      billable_octets: 1_000_000_000_000 - octets,
      overage_bps: null,
      overage_octets: 1_000_000_000_000 - octets,
      currency: 'EUR',
      amount: (-2 * overage).toFixed(2),
    })
    assert.deepEqual([stated.overage_octets, stated.price!.amount], [0, '76.00'])
    assert.equal((await correct(stated.bill_id, 'confirm')).credit_note, null)
    assert.equal((await ofFebruary()).price!.amount, '76.00')
  })

  test('outlives its port and its service, for its team', async () => {
    await addDays(port.portId, '2026-03-01', 31)
    await close()
    await sql`delete from services`.execute(owner())
    const { results, count } = await periods()
    assert.deepEqual([count, results[0]!.period, results[0]!.name], [12, '2026-03', 'et-0/0/1'])
    await assert.rejects(periods(nextTeamId), isFailure('not_found'))
  })

  test('is in the list of staff after its team is gone, and a correction is a message to the operator', async () => {
    await addDays(port.portId, '2026-03-01', 31)
    await close()
    const list = async (query: object = {}) => {
      const slice = { ordering: '-period,team,service', limit: 100, offset: 0 } as const
      const { results, count } = await listStaffBills({ db: owner() }, undefined, { ...slice, ...query })
      return { count, bills: results.map(({ period, team, service }) => [period, team, service]), results }
    }
    assert.equal((await list()).count, 12)
    const march = await list({ period: '2026-03', team_id: [teamId], service_id: [serviceId] })
    assert.deepEqual(march.bills, [['2026-03', 'one', 'Transit']])
    assert.equal((await list({ period: '2026-03', team_id: [nextTeamId] })).count, 0)
    await sql`delete from teams where id = ${teamId}`.execute(owner())
    await sql`delete from outbox`.execute(owner())
    const [{ bill_id: billId } = { bill_id: 0 }] = march.results
    await correctBill(deps(), { billId, reason: 'Agreed.', to: { bps: 0 } })
    const { rows } = await sql<object>`
      select team_id, data -> 'team' as team, data -> 'ports' -> 0 -> 'credit_note' -> 'corrects' as corrects from outbox`.execute(
      owner(),
    )
    assert.deepEqual(rows, [{ team_id: null, team: { id: teamId, name: '' }, corrects: billId }])
    const both = await list({ period: '2026-03' })
    assert.deepEqual(both.bills, [
      ['2026-03', null, 'Transit'],
      ['2026-03', null, 'Transit'],
    ])
    assert.deepEqual(
      (await list({ period: '2026-03', current: false })).results.map(({ bill_id }) => bill_id),
      [billId],
    )
    const { bytes, filename } = await exportStaffBills({ db: owner() }, undefined, {
      period: '2026-03',
      current: true,
    })
    assert.deepEqual([filename, String(bytes).split('\n').length], ['bills-2026-03.csv', 3])
  })

  test('is not closed if it ended before its ports were known', async () => {
    assert.equal(await closePeriods(database.postgres, new Date(), AbortSignal.timeout(60_000)), 0)
  })
})
