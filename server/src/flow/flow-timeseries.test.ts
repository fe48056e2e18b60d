// Traffic of a team on a real store: every answer equals a naive count over the same flows.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sql } from 'kysely'
import {
  getFlowGraphRoute,
  getFlowTimeseriesRoute,
  type FlowTimeseriesRequest,
} from '@pharos/contract/flow/flow'
import { flowKeys, type FlowKey } from '@pharos/contract/flow/flow-key'
import { Compile } from 'typebox/compile'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { createTestFlowStore, type TestFlowStore } from '../drivers/clickhouse/testing.ts'
import { seedPort } from '../inventory/testing.ts'
import { DriverError, QueryTooExpensive } from '../runtime/driver-error.ts'
import { Failure } from '../runtime/error.ts'
import { addPrefix, addTeam } from '../events/testing.ts'
import { rollUpPeers } from './peer-rollup.ts'
import { saveAsNames } from './as-name.store.ts'
import { getFilterKeys } from '../events/list/filter-keys.ts'
import { getFlowGraph } from './flow-graph.ts'
import { exportFlowTimeseries, getFlowTimeseries } from './flow-timeseries.ts'
import type { FlowDeps } from './read-flows.ts'
import { insertFlows, testFlow, type TestFlow } from './testing.ts'
import { scaled } from '../runtime/testing-scale.ts'

const now = new Date('2026-03-14T12:00:00Z')
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const ago = (ms: number) => new Date(now.getTime() - ms)
const runs = scaled(150)

let database: TestDatabase
let store: TestFlowStore
let team = 0
let other = 0
let prefixId = 0
let port = { deviceId: 0, portId: 0 }
const flows: TestFlow[] = []

let state = 7
const whole = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return Math.floor((state / 0x8000_0000) * below)
}
const pick = <T>(values: readonly T[]): T => values[whole(values.length)]!

function randomFlow(teamId: number): TestFlow {
  const direction = pick(['in', 'in', 'out', 'internal'] as const)
  const outside = pick(['198.51.100.1', '198.51.100.2', '2001:db8:f::1', '192.0.2.77'])
  const inside = pick(['203.0.113.1', '203.0.113.2', '2001:db8:a::1'])
  const [src, dst] =
    direction === 'out' ? [inside, outside] : direction === 'in' ? [outside, inside] : [inside, '203.0.113.9']
  return testFlow({
    teamId,
    time: ago(whole(6 * 3600) * 1000),
    direction,
    exporterId: pick([1, 2]),
    portId: pick([0, port.portId, 999]),
    prefixId: pick([prefixId, 0]),
    src,
    dst,
    srcPort: pick([53, 123, 40_000, 50_001]),
    dstPort: pick([443, 80, 33_000]),
    protocol: pick([6, 17, 1, 58]),
    tcpFlags: pick([0, 2, 18, 255]),
    dscp: pick([0, 46]),
    fragment: pick([0, 0, 1]),
    srcAs: pick([0, 64_500, 64_501]),
    dstAs: pick([64_510, 64_511]),
    srcCountry: pick(['', 'NL', 'DE']),
    dstCountry: pick(['FR', 'SE']),
    bytes: 100 + whole(3_000),
    packets: 1 + whole(9),
    samplingRate: pick([1, 100, 100]),
  })
}

before(async () => {
  database = await createTestDatabase()
  store = await createTestFlowStore()
  const { owner } = database.postgres
  team = await addTeam(owner, 'one')
  other = await addTeam(owner, 'two')
  await addPrefix(owner, team, '203.0.113.0/24', 'web')
  prefixId = (await owner.selectFrom('prefixes').select('id').executeTakeFirstOrThrow()).id
  const service = await owner
    .insertInto('services')
    .values({ team_id: team, name: 'Transit', type: 'transit' })
    .returning('id')
    .executeTakeFirstOrThrow()
  port = await seedPort(database.postgres, {
    teamId: team,
    serviceId: service.id,
    circuitId: 'C1',
    since: ago(90 * dayMs),
  })
  await sql`insert into flow_exporters (id, address, device_id) overriding system value
    values (1, '192.0.2.1', ${port.deviceId}), (2, '192.0.2.2', null)`.execute(owner)
  for (let i = 0; i < 3_000; i++) flows.push(randomFlow(i % 5 === 0 ? other : team))
  await insertFlows(store, flows)
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const deps = (at = now, flowStore: FlowDeps['flowStore'] = store): FlowDeps => ({
  db: database.postgres.front,
  flowStore,
  retention: { days: 15, rollupDays: 400 },
  now: () => at,
})
const as = (teamId = team, isStaff = false) =>
  ({ actor: { kind: 'user', teamId, staffRoles: isStaff ? ['admin'] : [] } }) as never
const ask = (request: FlowTimeseriesRequest, teamId = team) => getFlowTimeseries(deps(), as(teamId), request)
const graph = (request: Parameters<typeof getFlowGraph>[2]) => getFlowGraph(deps(), as(), request)
const isInvalid = (place: string, type: string) => (error: unknown) =>
  error instanceof Failure &&
  error.code === 'invalid' &&
  error.errors!.some((one) => one.loc.join('.') === place && one.type === type)

/** The value of a key of a flow, by the description of the key. */
const valueOf: Readonly<Record<FlowKey, (flow: TestFlow) => string>> = {
  direction: ({ direction }) => direction,
  protocol: ({ protocol }) => ({ 6: 'tcp', 17: 'udp', 1: 'icmp', 58: 'icmpv6' })[protocol]!,
  family: ({ src }) => (src.includes(':') ? 'ipv6' : 'ipv4'),
  prefix: (flow) => (flow.prefixId === prefixId ? '203.0.113.0/24' : ''),
  device: ({ exporterId }) => (exporterId === 1 ? String(port.deviceId) : '0'),
  interface: ({ portId }) => (portId === port.portId ? String(portId) : '0'),
  service_port: ({ srcPort, dstPort }) =>
    String(Math.min(srcPort, dstPort) < 32_768 ? Math.min(srcPort, dstPort) : 0),
  remote_asn: (flow) => String(flow.direction === 'out' ? flow.dstAs : flow.srcAs),
  remote_country: (flow) => (flow.direction === 'out' ? flow.dstCountry : flow.srcCountry),
  remote_address: (flow) => (flow.direction === 'out' ? flow.dst : flow.src),
  remote_port: (flow) => String(flow.direction === 'out' ? flow.dstPort : flow.srcPort),
  local_address: (flow) => (flow.direction === 'out' ? flow.src : flow.dst),
  local_port: (flow) => String(flow.direction === 'out' ? flow.srcPort : flow.dstPort),
  src_address: ({ src }) => src,
  dst_address: ({ dst }) => dst,
  src_port: ({ srcPort }) => String(srcPort),
  dst_port: ({ dstPort }) => String(dstPort),
  src_asn: ({ srcAs }) => String(srcAs),
  dst_asn: ({ dstAs }) => String(dstAs),
  src_country: ({ srcCountry }) => srcCountry,
  dst_country: ({ dstCountry }) => dstCountry,
  tcp_flags: ({ tcpFlags }) =>
    ({ 0: 'none', 2: 'SYN', 18: 'SYN+ACK', 255: 'FIN+SYN+RST+PSH+ACK+URG+ECE+CWR' })[tcpFlags]!,
  dscp: ({ dscp }) => String(dscp),
  fragment: ({ fragment }) => (fragment ? 'yes' : 'no'),
  packet_size: ({ bytes, packets }) => {
    const size = Math.floor(bytes / packets)
    const bands = [64, 128, 256, 512, 1024, 1519]
    const at = bands.findIndex((border) => size < border)
    return ['0-63', '64-127', '128-255', '256-511', '512-1023', '1024-1518', '1519-'].at(at)!
  },
}

const keys = Object.keys(flowKeys) as FlowKey[]
const amounts = {
  bytes: (flow: TestFlow) => flow.bytes * flow.samplingRate,
  packets: (flow: TestFlow) => flow.packets * flow.samplingRate,
  flows: () => 1,
}

/** Equality and membership, which every key but `packet_size` takes. */
const filters = fc.array(
  fc.constantFrom(...keys.filter((key) => key !== 'packet_size')).chain((key) =>
    fc.record({
      key: fc.constant(key),
      op: fc.constantFrom('eq', 'ne', 'in', 'not_in'),
      value: fc.uniqueArray(fc.constantFrom(...new Set(sampleOf(key))), { minLength: 1, maxLength: 2 }),
    }),
  ),
  { maxLength: 2 },
)
/** Before the flows exist: only the form of the values matters to the generator. */
function sampleOf(key: FlowKey): number[] {
  return key ? [0, 1, 2, 3, 4, 5] : []
}

const requests = fc.record({
  groupBy: fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 4 }),
  filters,
  direction: fc.constantFrom('in', 'out', 'both'),
  metric: fc.constantFrom('bytes', 'packets', 'flows'),
  interval: fc.constantFrom(60, 3_600, 1_800, 21_600),
  limit: fc.constantFrom(1, 3, 50),
})

describe('a time series', () => {
  it('is what a naive count finds, for any keys, filters and directions', async () => {
    const property = fc.asyncProperty(requests, async ({ groupBy, filters: drawn, limit, ...rest }) => {
      const asked = drawn.map(({ key, op, value }) => {
        const known = [...new Set(flows.map(valueOf[key]))].sort()
        const values = value.map((at) => known[at % known.length]!)
        return { key, op, value: op === 'in' || op === 'not_in' ? values : values[0]! }
      })
      const request = {
        ...rest,
        group_by: groupBy,
        filters: asked,
        limit,
        start: ago(6 * hourMs).toISOString(),
        end: now.toISOString(),
      } as FlowTimeseriesRequest
      const answer = await ask(request)
      const matching = flows.filter(
        (flow) =>
          flow.teamId === team &&
          (rest.direction === 'both' || flow.direction === rest.direction || flow.direction === 'internal') &&
          asked.every(({ key, op, value }) => {
            const isMember = [value].flat().includes(valueOf[key](flow))
            return op === 'eq' || op === 'in' ? isMember : !isMember
          }),
      )
      const sums = new Map<string, number>()
      const amount = amounts[rest.metric as keyof typeof amounts]
      for (const flow of matching) {
        const id = JSON.stringify(groupBy.map((key) => valueOf[key](flow)))
        sums.set(id, (sums.get(id) ?? 0) + amount(flow))
      }
      const total = (values: readonly (number | null)[]) =>
        values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
      const shown = answer.series.filter(({ label }) => label !== 'Other')
      if (groupBy.length > 0) assert.equal(shown.length, Math.min(limit, sums.size))
      for (const { key, values } of shown) {
        const id = JSON.stringify(groupBy.map((name) => key[name]))
        assert.equal(total(values), sums.get(id) ?? 0, id)
      }
      const least = Math.min(...shown.map(({ values }) => total(values)))
      const left = [...sums].filter(
        ([id]) => !shown.some(({ key }) => JSON.stringify(groupBy.map((name) => key[name])) === id),
      )
      assert.ok(left.every(([, sum]) => sum <= least))
      assert.equal(
        answer.series.reduce((sum, { values }) => sum + total(values), 0),
        matching.reduce((sum, flow) => sum + amount(flow), 0),
      )
      // Bucket by bucket.
      const stepMs = answer.interval * 1000
      answer.timestamps.forEach((at, bucket) => {
        const begin = Date.parse(at)
        const within = matching.filter(
          ({ time }) => time.getTime() >= begin && time.getTime() < begin + stepMs,
        )
        const sum = answer.series.reduce((all, { values }) => all + (values[bucket] ?? 0), 0)
        assert.equal(
          sum,
          within.reduce((all, flow) => all + amount(flow), 0),
        )
      })
    })
    await fc.assert(property, { numRuns: runs })
  })

  it('has rates over the time of each bucket, and fits the contract', async () => {
    const answer = await ask({
      start: ago(6 * hourMs).toISOString(),
      end: now.toISOString(),
      interval: 3_600,
    })
    const check = Compile(getFlowTimeseriesRoute.response)
    assert.ok(check.Check(answer), JSON.stringify(check.Errors(answer)))
    const bytes = await ask({
      start: ago(6 * hourMs).toISOString(),
      end: now.toISOString(),
      interval: 3_600,
      metric: 'bytes',
    })
    assert.deepEqual(
      answer.series[0]!.values,
      bytes.series[0]!.values.map((value) => Math.round((value! * 8) / 3_600)),
    )
    assert.deepEqual([answer.sampled, answer.sampling_rate, answer.partial], [true, null, false])
  })

  it('of one team has nothing of another one, and all teams are for staff', async () => {
    const sum = async (request: FlowTimeseriesRequest, teamId = team, isStaff = false) => {
      const { series } = await getFlowTimeseries(deps(), as(teamId, isStaff), { ...request, metric: 'flows' })
      return series[0]!.values.reduce<number>((all, value) => all + (value ?? 0), 0)
    }
    const ofTeam = (id: number) => flows.filter(({ teamId }) => teamId === id).length
    assert.deepEqual(await Promise.all([sum({}), sum({}, other)]), [ofTeam(team), ofTeam(other)])
    assert.equal(await sum({ team_id: other }, team, true), ofTeam(other))
    assert.equal(await sum({ all_teams: true }, team, true), flows.length)
    for (const request of [{ team_id: other }, { all_teams: true }])
      await assert.rejects(sum(request), { code: 'forbidden' })
    await assert.rejects(
      sum({ team_id: other, all_teams: true }, team, true),
      isInvalid('body.all_teams', 'exclusive'),
    )
  })

  it('has null where no flow of the team was received and after now, and 0 where none of the series', async () => {
    const quiet = await ask({
      start: ago(8 * hourMs).toISOString(),
      end: new Date(now.getTime() + 2 * hourMs).toISOString(),
      interval: 3_600,
      filters: [{ key: 'src_port', op: 'eq', value: 7 }],
    })
    assert.deepEqual(quiet.series[0]!.values, [null, null, 0, 0, 0, 0, 0, 0, null, null])
  })

  it('compares with the period before, with the same series', async () => {
    const answer = await ask({
      start: ago(3 * hourMs).toISOString(),
      end: now.toISOString(),
      interval: 3_600,
      metric: 'flows',
      group_by: ['protocol'],
      limit: 2,
      compare: 'previous_period',
    })
    const before = await ask({
      start: ago(6 * hourMs).toISOString(),
      end: ago(3 * hourMs).toISOString(),
      interval: 3_600,
      metric: 'flows',
      group_by: ['protocol'],
      limit: 50,
    })
    assert.deepEqual(answer.previous!.timestamps, before.timestamps)
    assert.equal(answer.series.length, 3)
    for (const [at, { key, values }] of answer.previous!.series.entries()) {
      assert.deepEqual(key, answer.series[at]!.key)
      const same = before.series.find((one) => one.key['protocol'] === key['protocol'])
      if (same) assert.deepEqual(values, same.values)
    }
    const sum = (series: typeof before.series) =>
      series.reduce((all, { values }) => all + values.reduce<number>((x, y) => x + (y ?? 0), 0), 0)
    assert.equal(sum(answer.previous!.series), sum(before.series))
  })

  it('is ordered by each figure', async () => {
    for (const limitBy of ['avg', 'max', 'last', 'p95'] as const) {
      const all = await ask({
        group_by: ['src_address', 'src_port'],
        limit: 50,
        limit_by: limitBy,
        interval: 900,
        metric: 'bytes',
        start: ago(6 * hourMs).toISOString(),
        end: now.toISOString(),
      })
      const figures = all.series.map((one) => one[limitBy]!)
      assert.deepEqual(
        figures,
        figures.toSorted((a, b) => b - a),
      )
      const few = await ask({
        group_by: ['src_address', 'src_port'],
        limit: 3,
        limit_by: limitBy,
        interval: 900,
        metric: 'bytes',
        include_other: false,
        start: ago(6 * hourMs).toISOString(),
        end: now.toISOString(),
      })
      assert.deepEqual(
        few.series.map((one) => one[limitBy]),
        figures.slice(0, 3),
      )
    }
  })
})

describe('what is kept', () => {
  const old = (days: number, fields: Partial<TestFlow> = {}) =>
    testFlow({ teamId: team + 100, time: ago(days * dayMs), samplingRate: 10, ...fields })
  before(async () => {
    // Kathmandu is 5:45 ahead of UTC: local midnight is 18:15 UTC.
    await insertFlows(store, [
      old(20),
      old(3, { time: new Date('2026-03-10T18:14:00Z') }),
      old(3, { time: new Date('2026-03-10T18:16:00Z'), bytes: 7 }),
      old(0.5, { samplingRate: 0, time: ago(60_000) }),
    ])
  })
  const askOld = (request: FlowTimeseriesRequest) => ask({ metric: 'bytes', ...request }, team + 100)

  it('is read by hour where minutes are gone, which the resolution states', async () => {
    const { resolution, interval, series } = await askOld({
      start: ago(21 * dayMs).toISOString(),
      end: now.toISOString(),
      points: 2000,
    })
    assert.deepEqual([resolution, interval], [3_600, 3_600])
    assert.equal(series[0]!.values.filter((value) => value !== null).length, 3)
  })

  it('is cut for keys that only flows have', async () => {
    const { resolution, partial, series } = await askOld({
      start: ago(21 * dayMs).toISOString(),
      group_by: ['src_port'],
      interval: 86_400,
    })
    assert.deepEqual([resolution, partial, series.length], [1, true, 1])
    assert.equal(series[0]!.values[0], null)
  })

  it('has the AS and country of flows whose hour is not added up yet', async () => {
    const at = new Date('2026-03-14T12:50:00Z')
    const old = (time: string, fields: Partial<TestFlow> = {}) =>
      testFlow({ teamId: team + 102, time: new Date(time), bytes: 108_000, samplingRate: 10, srcAs: 64_777, srcCountry: 'NL', ...fields }) // prettier-ignore
    await insertFlows(store, [
      old('2026-02-20T12:10:00Z'),
      old('2026-03-14T10:10:00Z'),
      old('2026-03-14T11:10:00Z', { direction: 'out', dstAs: 64_777, dstCountry: 'NL' }),
      old('2026-03-14T12:49:00Z'),
      old('2026-03-14T12:49:00Z', { srcAs: 64_778, srcCountry: 'DE', bytes: 324_000 }),
    ])
    await rollUpPeers(store, Date.parse('2026-03-14T11:50:00Z') / 1000, new AbortController().signal)
    const window = { start: new Date(at.getTime() - 30 * dayMs).toISOString(), end: at.toISOString() }
    const asked = async (request: FlowTimeseriesRequest, teamId = team + 102, isStaff = false) => {
      const answer = await getFlowTimeseries(deps(at), as(teamId, isStaff), {
        ...window,
        group_by: ['remote_asn'],
        ...request,
      })
      assert.deepEqual([answer.resolution, answer.interval], [3_600, 10_800])
      return answer.series.map(({ key, values }) => [key.remote_asn, ...values.filter((one) => one !== null)])
    }
    const [large, small] = [
      ['64778', 0, 0, 8_640],
      ['64777', 800, 1_600, 2_880],
    ]
    assert.deepEqual(await asked({}), [large, small])
    assert.deepEqual(await asked({ limit: 1, limit_by: 'max', include_other: false }), [large])
    assert.deepEqual(await asked({ filters: [{ key: 'remote_country', op: 'eq', value: 'DE' }] }), [large])
    assert.deepEqual(await asked({ direction: 'out' }), [['64777', 0, 800, 0]])
    const filters = [
      { key: 'remote_asn', op: 'eq', value: '64778' },
    ] satisfies FlowTimeseriesRequest['filters']
    const all = await asked({ filters, all_teams: true }, team, true)
    assert.equal(all[0]!.at(-1), 8_640)
    // A team whose flows are all of hours that are not added up yet.
    await insertFlows(store, [old('2026-03-14T12:49:00Z', { teamId: team + 103 })])
    assert.deepEqual(await asked({}, team + 103), [['64777', 2_880]])
    const { nodes, resolution } = await getFlowGraph(deps(at), as(team + 102), {
      ...window,
      metric: 'flows',
      group_by: ['remote_asn', 'remote_country'],
    })
    assert.equal(resolution, 3_600)
    assert.deepEqual(
      nodes.map(({ value, total }) => [value, total]),
      [
        ['64777', 4],
        ['64778', 1],
        ['NL', 4],
        ['DE', 1],
      ],
    )
  })

  it('has days of a time zone off the hour while minutes are kept', async () => {
    const { timestamps, series, resolution } = await askOld({
      start: '2026-03-09T18:15:00Z',
      end: '2026-03-11T18:15:00Z',
      interval: 86_400,
      timezone: 'Asia/Kathmandu',
    })
    assert.equal(resolution, 60)
    assert.deepEqual(timestamps, ['2026-03-09T18:15:00.000Z', '2026-03-10T18:15:00.000Z'])
    assert.deepEqual(series[0]!.values, [10_000, 70])
  })

  it('has days of 23 hours', async () => {
    const at = new Date('2026-03-31T00:00:00Z')
    await insertFlows(store, [
      testFlow({ teamId: team + 101, time: new Date('2026-03-28T22:59:00Z') }),
      testFlow({ teamId: team + 101, time: new Date('2026-03-28T23:00:00Z'), bytes: 20 }),
      testFlow({ teamId: team + 101, time: new Date('2026-03-29T21:59:00Z'), bytes: 3 }),
      testFlow({ teamId: team + 101, time: new Date('2026-03-29T22:00:00Z'), bytes: 100 }),
    ])
    const { series, timestamps } = await getFlowTimeseries(deps(at), as(team + 101), {
      start: '2026-03-28T00:00:00+01:00',
      end: '2026-03-31T00:00:00+02:00',
      interval: 86_400,
      timezone: 'Europe/Amsterdam',
      metric: 'bytes',
    })
    assert.equal(timestamps[2], '2026-03-29T22:00:00.000Z')
    assert.deepEqual(series[0]!.values, [1_000, 23, 100])
  })

  it('is partial if an exporter does not say how it samples', async () => {
    const { sampled, sampling_rate, partial } = await askOld({})
    assert.deepEqual([sampled, sampling_rate, partial], [true, null, true])
  })
})

describe('a request', () => {
  const wrong: readonly [FlowTimeseriesRequest, string, string][] = [
    [{ start: '2026-03-02T00:00:00Z', end: '2026-03-01T00:00:00Z' }, 'body.end', 'range'],
    [{ interval: 60, points: 5 }, 'body.points', 'conflict'],
    [{ start: '2026-01-01T00:00:00Z', interval: 60 }, 'body.interval', 'range'],
    [{ timezone: 'Europe/Atlantis' }, 'body.timezone', 'unknown'],
    [{ filters: [{ key: 'protocol', op: 'gt', value: 6 }] }, 'body.filters.0.op', 'unknown'],
    [{ filters: [{ key: 'protocol', op: 'in', value: 6 }] }, 'body.filters.0.value', 'type'],
    [{ filters: [{ key: 'protocol', op: 'eq', value: [6] }] }, 'body.filters.0.value', 'type'],
    [{ filters: [{ key: 'protocol', op: 'in', value: ['udp', 'quic'] }] }, 'body.filters.0.value.1', 'value'],
    [{ filters: [{ key: 'src_port', op: 'lt', value: 65_536 }] }, 'body.filters.0.value', 'value'],
    [
      { filters: [{ key: 'src_address', op: 'within', value: '10.0.0.1/8' }] },
      'body.filters.0.value',
      'host_bits',
    ],
    [{ filters: [{ key: 'src_address', op: 'eq', value: "1' or 1" }] }, 'body.filters.0.value', 'value'],
    [{ filters: [{ key: 'prefix', op: 'eq', value: '198.51.100.0/24' }] }, 'body.filters.0.value', 'unknown'],
    [{ filters: [{ key: 'tcp_flags', op: 'contains', value: 'SYN+XXX' }] }, 'body.filters.0.value', 'value'],
    [{ filters: [{ key: 'remote_country', op: 'eq', value: 'nl' }] }, 'body.filters.0.value', 'value'],
    [{ filters: [{ key: 'dscp', op: 'eq', value: 64 }] }, 'body.filters.0.value', 'value'],
  ]
  for (const [request, place, type] of wrong)
    it(`with ${JSON.stringify(request).slice(0, 70)} is refused at ${place}`, async () => {
      await assert.rejects(ask(request), isInvalid(place, type))
    })

  it('that is too expensive, or without a store, is 503', async () => {
    const failing = (error: Error): FlowDeps =>
      deps(now, {
        ...store,
        query: async () => {
          throw error
        },
      })
    await assert.rejects(getFlowTimeseries(failing(new QueryTooExpensive('159')), as(), {}), {
      code: 'query_too_expensive',
    })
    const narrow = async (request: FlowTimeseriesRequest) =>
      await getFlowTimeseries(failing(new QueryTooExpensive('159')), as(), request).then(
        () => assert.fail('it is answered'),
        ({ errors }: Failure) => errors!.map(({ loc, type, ctx }) => [loc[1], type, ctx?.['keys']]),
      )
    const [start, end] = [ago(4 * 3_600_000).toISOString(), now.toISOString()]
    assert.deepEqual(await narrow({ start, end, group_by: ['protocol', 'src_address'], interval: 60 }), [
      ['group_by', 'keys_of_flows', ['src_address']],
      ['start', 'window', undefined],
    ])
    assert.deepEqual((await narrow({ start, end, group_by: ['protocol'], interval: 10 }))[0], [
      'interval',
      'interval_of_flows',
      undefined,
    ])
    assert.deepEqual(await narrow({ start, end, group_by: ['protocol'], interval: 60 }), [
      ['start', 'window', undefined],
    ])
    const gone = failing(new DriverError('unreachable', 'gone'))
    await assert.rejects(getFlowTimeseries(gone, as(), {}), { code: 'unavailable', degraded: ['clickhouse'] })
    const { results } = await getFilterKeys(gone, as(), {
      key: 'remote_asn',
      ordering: 'key',
      limit: 10,
      offset: 0,
    })
    assert.deepEqual(results[0]!.values, [])
  })

  it('with four keys over a year is answered from what is kept', async () => {
    const { series, partial } = await ask({
      start: ago(365 * dayMs).toISOString(),
      group_by: ['src_address', 'dst_address', 'src_port', 'dst_port'],
      limit: 50,
    })
    assert.ok(partial)
    assert.equal(series.length, 51)
  })
})

describe('an export', () => {
  it('has a line for each bucket and series', async () => {
    const request: FlowTimeseriesRequest = {
      start: ago(2 * hourMs).toISOString(),
      end: now.toISOString(),
      interval: 3_600,
      group_by: ['protocol', 'interface'],
      limit: 2,
      metric: 'packets',
    }
    const { bytes, mediaType, filename } = await exportFlowTimeseries(deps(), as(), request)
    const [head, ...lines] = String(bytes).trimEnd().split('\n')
    assert.deepEqual([mediaType, filename], ['text/csv', 'flows-2026-03-14.csv'])
    assert.equal(head, 'start,protocol,interface,label,packets')
    const { series, timestamps } = await ask(request)
    assert.equal(lines.length, series.length * timestamps.length)
    assert.ok(lines[0]!.startsWith('2026-03-14T10:00:00.000Z,'))
    assert.ok(lines.some((line) => /,,,Other,\d+$/.test(line)))
  })
})

describe('a graph', () => {
  it('has links that add up to their nodes, and fits the contract', async () => {
    const answer = await graph({
      start: ago(6 * hourMs).toISOString(),
      end: now.toISOString(),
      metric: 'bytes',
      group_by: ['remote_asn', 'protocol', 'local_address'],
      limit: 2,
    })
    const check = Compile(getFlowGraphRoute.response)
    assert.ok(check.Check(answer), JSON.stringify(check.Errors(answer)))
    const total = flows
      .filter(({ teamId }) => teamId === team)
      .reduce((sum, flow) => sum + amounts.bytes(flow), 0)
    for (const key of ['remote_asn', 'protocol', 'local_address']) {
      const nodes = answer.nodes.filter((node) => node.key === key)
      assert.equal(nodes.length, 3)
      assert.equal(nodes.at(-1)!.value, null)
      assert.equal(
        nodes.reduce((sum, node) => sum + node.total, 0),
        total,
      )
    }
    answer.nodes.forEach((node, at) => {
      const sumOf = (end: 'source' | 'target') =>
        answer.links.filter((link) => link[end] === at).reduce((sum, link) => sum + link.value, 0)
      if (node.key !== 'local_address') assert.equal(sumOf('source'), node.total)
      if (node.key !== 'remote_asn') assert.equal(sumOf('target'), node.total)
    })
  })

  it('ends with the calendar', async () => {
    const lastSecond = '9999-12-31T23:59:59.5Z'
    const { end } = await graph({
      start: '9999-12-01T00:00:00Z',
      end: lastSecond,
      group_by: ['protocol', 'remote_asn'],
    })
    assert.equal(end, '9999-12-31T23:59:59.999Z')
  })
})

describe('filter keys', () => {
  const list = async (query: Partial<Parameters<typeof getFilterKeys>[2]>) =>
    await getFilterKeys(deps(), as(), { ordering: '-dataset,label', limit: 100, offset: 0, ...query })

  it('are those of both datasets, in pages', async () => {
    const { results, count } = await list({})
    assert.equal(results.length, count)
    assert.ok(keys.every((key) => results.some((one) => one.key === key && one.dataset === 'flows')))
    const page = await list({ limit: 2, offset: 1 })
    assert.deepEqual([page.count, page.results], [count, results.slice(1, 3)])
    assert.ok((await list({ dataset: ['events'] })).results.every(({ dataset }) => dataset === 'events'))
  })

  it('complete values of the inventory, the traffic and closed lists', async () => {
    const values = async (key: string, prefix?: string) =>
      (await list({ key, ...(prefix === undefined ? {} : { prefix }) })).results[0]!.values!.map(
        ({ value }) => value,
      )
    assert.deepEqual(await values('prefix', '203'), ['203.0.113.0/24'])
    assert.deepEqual(await values('interface', 'et-0'), [String(port.portId)])
    assert.deepEqual(await values('device', 'router'), [String(port.deviceId)])
    assert.deepEqual((await values('remote_asn', 'AS6450')).toSorted(), ['64500', '64501'])
    assert.deepEqual(await values('remote_country', 'Neth'), ['NL'])
    assert.deepEqual(await values('protocol', 'ud'), ['udp', 'udplite'])
    assert.ok((await values('service_port', 'memc')).includes('11211'))
    assert.deepEqual(await values('flag', 'INC'), ['INCOMING'])
    assert.deepEqual(await values('affected_network', '203'), ['203.0.113.0/24'])
  })

  it('complete the detectors of the team’s events, those with the most events first', async () => {
    const db = database.postgres.owner
    const facets = [
      ...['seldom', 'often', 'gone'].map((source_key) => ({ team_id: team, source_key })),
      { team_id: other, source_key: 'of another team' },
    ]
    for (const { team_id, source_key } of facets) {
      const { rows } = await sql<{ id: number }>`
        insert into team_event_facets (team_id, flags, status, classification_key, source_key)
        values (${team_id}, 1, 1, 'unknown', ${source_key}) returning id`.execute(db)
      await sql`insert into team_event_counts (team_id, facet, measure, bucket, events)
        values (${team_id}, ${rows[0]!.id}, 'all', 0, ${{ seldom: 1, often: 9, gone: 0 }[source_key] ?? 5})`.execute(
        db,
      )
    }
    const { results } = await list({ key: 'source_key' })
    assert.deepEqual(
      results[0]!.values!.map(({ value }) => value),
      ['often', 'seldom'],
    )
  })

  it('have the names of AS numbers in files of the operator, until a file has others', async () => {
    const db = database.postgres.owner
    const labels = async () => {
      const { series } = await ask({ group_by: ['remote_asn'], include_other: false })
      const { nodes } = await getFlowGraph(deps(), as(), { group_by: ['remote_asn', 'protocol'] })
      const { results } = await list({ key: 'remote_asn', prefix: 'example' })
      return [
        series.map(({ label }) => label).includes('AS64500 Example Networks'),
        nodes.some(({ label }) => label === 'AS64500 Example Networks'),
        results[0]!.values!.map(({ value }) => value),
      ]
    }
    await saveAsNames(
      db,
      new Map([
        [64500, 'Example Networks'],
        [64501, 'Another'],
      ]),
    )
    assert.deepEqual(await labels(), [true, true, ['64500']])
    await saveAsNames(db, new Map([[64501, 'Example of another']]))
    assert.deepEqual(await labels(), [false, false, ['64501']])
    await saveAsNames(db, new Map())
    assert.deepEqual(await labels(), [false, false, []])
  })

  it('are refused if they do not exist', async () => {
    await assert.rejects(list({ key: 'nothing' }), isInvalid('query.key', 'unknown'))
    await assert.rejects(list({ prefix: 'a' }), isInvalid('query.prefix', 'required'))
  })
})
