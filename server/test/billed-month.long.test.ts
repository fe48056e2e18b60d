// A month in which every input of a bill changes: a LAG, the place of a port, the commit, the clock, names in NetBox, a
// faulty answer of the device, and the ports and prices of a pool. The bills are compared to the bit with an
// independent recount of the readings.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { sql } from 'kysely'
import type { BillablePort } from '@pharos/contract/inventory/bill'
import { readConfiguration } from '../src/commands/configuration.ts'
import { testRing } from '../src/commands/testing.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import * as fake from '../src/drivers/netbox/testing-netbox.ts'
import { getBillingSamples, listBillablePorts } from '../src/inventory/bill/billable-port.ts'
import { closePeriods } from '../src/inventory/bill/close-period.ts'
import { saveInterfaces } from '../src/inventory/collect/collect.store.ts'
import { saveCounters } from '../src/inventory/collect/counter.store.ts'
import type { CounterRow, SeenInterface } from '../src/inventory/collect/device-source.ts'
import { compactUsage } from '../src/inventory/usage/compact.store.ts'
import type { Operation } from '../src/operation/operation.ts'
import { applyPlatform, preparePlatform } from '../src/platform/engine/apply.ts'
import { documentOf } from '../src/platform/engine/document.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import { netboxOf, syncInventory } from '../src/platform/parts.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const bucket = 5 * minute
const pollMs = 10 * minute
const monthStart = Date.parse('2026-03-01T00:00:00Z')
const monthEnd = Date.parse('2026-04-01T00:00:00Z')

const joined = Date.parse('2026-03-08T12:02:30Z')
const committed = Date.parse('2026-03-11T00:00:00Z')
const grown = Date.parse('2026-03-13T07:31:00Z')
const renamed = Date.parse('2026-03-15T09:00:00Z')
const priced = Date.parse('2026-03-17T12:00:00Z')
const stepped = Date.parse('2026-03-18T10:00:00Z')
const corrected = Date.parse('2026-03-18T16:00:00Z')
const faulty = Date.parse('2026-03-20T03:00:00Z')
const left = Date.parse('2026-03-22T06:00:00Z')
const moved = Date.parse('2026-03-25T15:04:00Z')
/** The clock of the collector is behind by this much from `stepped` until `corrected`. */
const stepMs = 25 * minute
const [firstCommit, secondCommit] = [100_000_000, 110_003_000]
/** Per port of the pool. */
const poolCommit = 70_000_001
const tierBorders = [0, 80_000_000, 110_000_000] as const
/** Price of a month, and of a Mbit/s by tier, in 1/10,000 EUR; until `priced`, and from then on. */
const poolPrices = [
  { monthly: 990_000, tiers: [12_345, 8_000, 333] },
  { monthly: 1_234_567, tiers: [10_001, 9_999, 1] },
] as const
const priceText = (units: number) =>
  `${Math.floor(units / 10_000)}.${String(units % 10_000).padStart(4, '0')}`

let database: TestDatabase
let netbox: fake.TestNetbox
const owner = () => database.postgres.owner
before(async () => {
  database = await createTestDatabase()
  netbox = await fake.startTestNetbox({})
})
after(async () => {
  await netbox[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

async function apply(document: object): Promise<void> {
  const deps = { ring: testRing, readText: () => assert.fail() }
  const flags = { prune: false, enforce: false }
  const prepared = await preparePlatform(platformKinds, owner(), documentOf('file', document), deps, flags)
  await applyPlatform(platformKinds, owner(), prepared, new Date())
}

async function sync(name: string, commitBps: number): Promise<void> {
  Object.assign(netbox.lists, fake.smallWorld())
  netbox.lists['dcim/devices'] = [fake.netboxDevice(1, name)]
  netbox.lists['circuits/circuits'] = [fake.circuit(1, 'C-1', 'demo', { commit_rate: commitBps / 1000 })]
  const env = {
    DATABASE_URL: database.databaseUrl,
    PHAROS_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
    PHAROS_NETBOX_URL: netbox.url.href,
    PHAROS_NETBOX_TOKEN: 'token',
  }
  const config = readConfiguration(env, { read: () => undefined, mode: () => 0o600, create: () => {} })
  const log = { info: () => {}, error: (...args: unknown[]) => assert.fail(String(args[1])) } as never
  const deps = { db: owner(), source: netboxOf(config)!, log, ring: testRing, recipients: [] }
  await syncInventory(deps, AbortSignal.timeout(20_000))
}

/** Moves the event to this time of the month. */
async function dated(ms: number, event: () => Promise<unknown>): Promise<void> {
  await event()
  const at = new Date(ms)
  for (const table of ['former_port_facts', 'former_service_terms'])
    await sql`update ${sql.table(table)} set valid = tstzrange(lower(valid), ${at}) where upper(valid) > now() - interval '1 hour'`.execute(
      owner(),
    )
  await sql`update ports set interface_since = ${at} where interface_since > now() - interval '1 hour'`.execute(
    owner(),
  )
}

const fileOf = (device: string, member: string, { monthly, tiers }: (typeof poolPrices)[number]) => ({
  services: [
    { team: 'demo', name: 'C-1', type: 'transit', billing_method: 'p95', billing_direction: 'max' },
    {
      team: 'demo',
      name: 'Pool',
      type: 'transit',
      commit_bps: poolCommit,
      billing_method: 'p90',
      billing_direction: 'max_sample',
      billing_scope: 'service',
      billing_commit_scope: 'port',
      billing_prices: {
        currency: 'EUR',
        decimals: 2,
        monthly: priceText(monthly),
        tiers: tiers.map((units, tier) => ({ above: tierBorders[tier]!, price: priceText(units) })),
      },
    },
  ],
  ports: [
    { circuit_id: 'POOL-1', device, interface: 'et-0/0/5', team: 'demo', service: 'Pool' },
    { circuit_id: 'POOL-2', device, interface: 'et-0/0/6', team: 'demo', service: 'Pool' },
    { circuit_id: 'LAG', device, interface: 'ae0', team: 'demo', service: 'C-1' },
    { circuit_id: 'MEMBER', device, interface: member, team: 'demo', service: 'C-1' },
  ],
})

const keys = ['et-0/0/1', 'et-0/0/2', 'et-0/0/5', 'et-0/0/6', 'et-0/0/7', 'ae0'] as const
type Key = (typeof keys)[number]

const seen = (lag: 'et-0/0/2' | null): SeenInterface[] =>
  keys.map((key, index) => ({
    key,
    index,
    name: key,
    alias: '',
    type: key === 'ae0' ? 161 : 6,
    mtu: null,
    mac: null,
    admin: 'up',
    oper: 'up',
    speedBps: 100_000_000_000,
    lagKey: key === lag ? 'ae0' : null,
    addresses: [],
  }))

async function survey(lag: 'et-0/0/2' | null): Promise<void> {
  const { rows } = await sql<{ id: number }>`select id from devices`.execute(owner())
  await owner()
    .transaction()
    .execute((trx) => saveInterfaces(trx, rows[0]!.id, seen(lag)))
}

type Reading = { readonly at: number; readonly received: bigint; readonly sent: bigint }

/**
 * The counters of the device at the times of the polls, by its true clock; the LAG counts the traffic of its members.
 */
function traffic(): {
  readonly times: readonly number[]
  readonly counters: Readonly<Record<Key, Reading[]>>
} {
  let seed = 20_260_301n
  const random = (max: bigint): bigint => {
    seed = (seed * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n
    return (seed >> 20n) % max
  }
  const times: number[] = []
  // Every minute, as the product polls, around the faulty answer; otherwise less often, for the time that the test takes.
  const isNear = (at: number) => at >= faulty - hour && at < faulty + hour
  for (let k = 0, at = monthStart - hour; at < monthEnd + hour; k++, at += isNear(at) ? minute : pollMs)
    times.push(at + 7_000 + ((k * 397) % 1_000))
  const counters = Object.fromEntries(keys.map((key) => [key, []])) as unknown as Record<Key, Reading[]>
  const totals = new Map<string, bigint>(
    keys.flatMap((key) => [
      [`${key} received`, 2n ** 60n],
      [`${key} sent`, 5n],
    ]),
  )
  for (const at of times)
    for (const key of keys) {
      const steps = { received: random(9_000_000_001n), sent: random(6_000_000_001n) }
      const isMember = at >= joined && at < left
      if (key === 'ae0') {
        const member = counters['et-0/0/2']
        const [now, last] = [member.at(-1)!, member.at(-2)]
        steps.received = isMember && last ? now.received - last.received : 0n
        steps.sent = isMember && last ? now.sent - last.sent : 0n
      }
      const [received, sent] = (['received', 'sent'] as const).map((way) => {
        const total = totals.get(`${key} ${way}`)! + steps[way]
        totals.set(`${key} ${way}`, total)
        return total
      })
      counters[key].push({ at, received: received!, sent: sent! })
    }
  return { times, counters }
}

const clockOf = (ms: number): number => (ms >= stepped && ms < corrected ? ms - stepMs : ms)

async function poll(
  deviceId: number,
  place: number,
  { times, counters }: ReturnType<typeof traffic>,
): Promise<void> {
  const at = times[place]!
  const isFaulty = at >= faulty && at < faulty + minute
  const rows = keys.map((key): CounterRow => ({
    key,
    at: clockOf(at),
    uptimeCs: Math.floor((at - monthStart + 100 * day) / 10),
    discontinuity: 0,
    admin: 'up',
    oper: 'up',
    octetsIn: isFaulty ? 3n : counters[key][place]!.received,
    octetsOut: isFaulty ? 3n : counters[key][place]!.sent,
    packetsIn: 0n,
    packetsOut: 0n,
    errorsIn: 0n,
    errorsOut: 0n,
    discardsIn: 0n,
    discardsOut: 0n,
    bits: 64,
  }))
  await owner()
    .transaction()
    .execute((trx) => saveCounters(trx, deviceId, rows))
}

type Minute = { coveredMs: number; received: bigint; sent: bigint }

/** The minutes of a port by hand. `places`: its interface from a time on. */
function recount(
  { counters }: ReturnType<typeof traffic>,
  places: readonly [number, Key][],
): Map<number, Minute> {
  const stored = new Map<number, Minute>()
  let open = new Map<number, Minute>()
  const store = (start: number, { coveredMs, received, sent }: Minute) => {
    const known = stored.get(start) ?? { coveredMs: 0, received: 0n, sent: 0n }
    // A minute that comes again after the clock went back stays as it is.
    if (known.coveredMs + coveredMs > minute) return
    stored.set(start, {
      coveredMs: known.coveredMs + coveredMs,
      received: known.received + received,
      sent: known.sent + sent,
    })
  }
  let last: (Reading & { readonly true: number }) | undefined
  counters.ae0.forEach(({ at: trueMs }, place) => {
    // The faulty answer is no reading.
    if (trueMs >= faulty && trueMs < faulty + minute) return
    const key = places.findLast(([since]) => trueMs >= since)![1]
    const reading = { ...counters[key][place]!, at: clockOf(trueMs), true: trueMs }
    const isIn = (event: number) => last !== undefined && last.true < event && trueMs >= event
    const isOtherPlace = places.slice(1).some(([since]) => isIn(since))
    if (isOtherPlace) for (const [start, part] of open) store(start, part)
    if (isOtherPlace || isIn(stepped)) open = new Map()
    else if (last !== undefined && !isIn(corrected)) {
      const [from, until] = [last, reading]
      const share = (total: bigint, ms: number) => (total * BigInt(ms - from.at)) / BigInt(until.at - from.at)
      for (let at = from.at; at < until.at;) {
        const start = at - (at % minute)
        const end = Math.min(start + minute, until.at)
        const part = open.get(start) ?? { coveredMs: 0, received: 0n, sent: 0n }
        const increase = (way: 'received' | 'sent') =>
          share(until[way] - from[way], end) - share(until[way] - from[way], at)
        open.set(start, {
          coveredMs: part.coveredMs + end - at,
          received: part.received + increase('received'),
          sent: part.sent + increase('sent'),
        })
        at = end
      }
    }
    for (const [start, part] of open)
      if (start + minute <= reading.at) {
        store(start, part)
        open.delete(start)
      }
    last = reading
  })
  return stored
}

type Sample = {
  readonly start: number
  readonly coveredMs: number
  readonly in: bigint
  readonly out: bigint
}

/** Buckets of 5 minutes in the time of the bill; the customer receives what the device sends. */
function samplesOf(minutes: ReadonlyMap<number, Minute>, times: readonly [number, number][]): Sample[] {
  const samples: Sample[] = []
  for (const [from, until] of times)
    for (let start = from; start < until; start += bucket) {
      const parts = [0, 1, 2, 3, 4].flatMap((n) => minutes.get(start + n * minute) ?? [])
      if (parts.length === 0) continue
      samples.push({
        start,
        coveredMs: parts.reduce((sum, { coveredMs }) => sum + coveredMs, 0),
        in: parts.reduce((sum, { sent }) => sum + sent, 0n),
        out: parts.reduce((sum, { received }) => sum + received, 0n),
      })
    }
  return samples
}

/** The figures of a bill by hand. */
function billed(samples: readonly Sample[], times: readonly [number, number][]) {
  const ranked = samples.filter(({ coveredMs }) => coveredMs >= 150_000)
  const rank = Math.ceil((95 * ranked.length) / 100)
  const p95 = (way: 'in' | 'out') =>
    Number(
      ranked
        .map((sample) => (sample[way] * 8_000n) / BigInt(sample.coveredMs))
        .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))[rank - 1],
    )
  let [first, second] = [0, 0]
  for (const [from, until] of times)
    for (let start = from; start < until; start += bucket)
      if (start < committed) first++
      else second++
  const commit = Number(
    (BigInt(first) * BigInt(firstCommit) + BigInt(second) * BigInt(secondCommit)) / BigInt(first + second),
  )
  const billable = Math.max(p95('in'), p95('out'))
  return {
    samples: ranked.length,
    missing_samples: first + second - ranked.length,
    octets_in: Number(samples.reduce((sum, sample) => sum + sample.in, 0n)),
    octets_out: Number(samples.reduce((sum, sample) => sum + sample.out, 0n)),
    p95_in_bps: p95('in'),
    p95_out_bps: p95('out'),
    rank,
    commit_bps: commit,
    billable_bps: billable,
    overage_bps: Math.max(0, billable - commit),
  }
}

const fileByHand = (samples: readonly Sample[]): string =>
  ['start,covered_ms,octets_in,octets_out,in_bps,out_bps,sum_bps']
    .concat(
      samples.map((sample) => {
        const rates = (['in', 'out'] as const).map((way) => (sample[way] * 8_000n) / BigInt(sample.coveredMs))
        const columns = sample.coveredMs >= 150_000 ? [...rates, rates[0]! + rates[1]!] : ['', '', '']
        return [
          new Date(sample.start).toISOString().replace('.000', ''),
          sample.coveredMs,
          sample.in,
          sample.out,
          ...columns,
        ].join()
      }),
    )
    .join('\n') + '\n'

type PoolSample = Sample & { readonly rates: readonly [bigint, bigint] | undefined }

/** The samples of the pool by hand: ports added in each bucket, which has rates if every port that belongs to it then has them. */
function pooled(
  ports: readonly { readonly samples: readonly Sample[]; readonly since: number }[],
): PoolSample[] {
  const all: PoolSample[] = []
  for (let start = monthStart; start < monthEnd; start += bucket) {
    const here = ports.filter(({ since }) => start >= since)
    const cells = here.flatMap(({ samples }) => samples.find((sample) => sample.start === start) ?? [])
    if (cells.length === 0) continue
    const isKnown = cells.length === here.length && cells.every(({ coveredMs }) => coveredMs >= 150_000)
    const rate = (way: 'in' | 'out') =>
      cells.reduce((sum, cell) => sum + (cell[way] * 8_000n) / BigInt(cell.coveredMs), 0n)
    all.push({
      start,
      coveredMs: Math.min(...cells.map(({ coveredMs }) => coveredMs)),
      in: cells.reduce((sum, cell) => sum + cell.in, 0n),
      out: cells.reduce((sum, cell) => sum + cell.out, 0n),
      rates: isKnown ? [rate('in'), rate('out')] : undefined,
    })
  }
  return all
}

/** The bill of the pool by hand: the 90th percentile of the greater direction of each bucket, at least the commit of its ports, through the tiers. */
function billedPool(samples: readonly PoolSample[], since: number) {
  const greater = samples
    .flatMap(({ rates }) => (rates ? [Number(rates[0] > rates[1] ? rates[0] : rates[1])] : []))
    .sort((a, b) => a - b)
  const rank = Math.ceil((90 * greater.length) / 100)
  const buckets = (monthEnd - monthStart) / bucket
  const commit = Math.floor((poolCommit * (buckets + (monthEnd - since) / bucket)) / buckets)
  const billable = greater[rank - 1]!
  const total = Math.max(billable, commit)
  const before = (priced - monthStart) / bucket
  const amounts: bigint[] = []
  poolPrices.forEach(({ monthly, tiers }, at) => {
    const part = at === 0 ? before : buckets - before
    // In cents, halves up: a price is 1/10,000, and a Mbit/s a million bit/s.
    const add = (units: number, quantity: number, per: number) => {
      const [numerator, denominator] = [
        BigInt(units) * BigInt(quantity) * BigInt(part),
        100n * BigInt(per) * BigInt(buckets),
      ]
      amounts.push(numerator / denominator + ((numerator % denominator) * 2n >= denominator ? 1n : 0n))
    }
    add(monthly, 1, 1)
    tiers.forEach((units, tier) => {
      const [from, until] = [tierBorders[tier]!, Math.min(total, tierBorders[tier + 1] ?? total)]
      if (until > from) add(units, until - from, 1_000_000)
    })
  })
  const text = (cents: bigint) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
  return {
    samples: greater.length,
    rank,
    ranked: 'max',
    commit_bps: commit,
    billable_bps: billable,
    overage_bps: Math.max(0, billable - commit),
    amounts: amounts.map(text),
    amount: text(amounts.reduce((sum, one) => sum + one, 0n)),
  }
}

it('is billed to the bit as counted by hand', { timeout: 600_000 }, async () => {
  await apply({ teams: [{ slug: 'demo', name: 'Demo' }] })
  await sync('r1.ams', firstCommit)
  await apply(fileOf('r1.ams', 'et-0/0/2', poolPrices[0]))
  await survey(null)
  await sql`update port_assignments set valid = tstzrange('2026-02-01T00:00:00Z', null)`.execute(owner())
  await sql`update port_assignments set valid = tstzrange(${new Date(grown)}, null)
    where port_id = (select id from ports where circuit_id = 'POOL-2')`.execute(owner())
  await sql`update ports set interface_since = null`.execute(owner())
  await sql`delete from former_service_terms`.execute(owner())
  const { rows: ids } = await sql<{ device: number; service: number; pool: number; team: number }>`
    select d.id as device, s.id as service, p.id as pool, s.team_id as team from devices d, services s, services p
    where s.name = 'C-1' and p.name = 'Pool'`.execute(owner())
  const { device, service, pool, team } = ids[0]!
  const events: readonly [number, () => Promise<unknown>][] = [
    [joined, () => survey('et-0/0/2')],
    [committed, () => sync('r1.ams', secondCommit)],
    [renamed, () => sync('r9.ams', secondCommit)],
    [priced, () => apply(fileOf('r9.ams', 'et-0/0/2', poolPrices[1]))],
    [left, () => survey(null)],
    [moved, () => apply(fileOf('r9.ams', 'et-0/0/7', poolPrices[1]))],
  ]
  const counted = traffic()
  let next = 0
  for (const [place, at] of counted.times.entries()) {
    for (; next < events.length && events[next]![0] <= at; next++) await dated(...events[next]!)
    await poll(device, place, counted)
  }
  await sql`
    select create_sample_partition(day::date) from generate_series('2026-02-28'::date, '2026-04-01'::date, '1 day') day`.execute(
    owner(),
  )
  await compactUsage(owner())
  const now = new Date('2026-04-03T00:00:00Z')
  await closePeriods(database.postgres, now, AbortSignal.timeout(60_000), { isMeasured: true, months: 1 })

  const deps = { postgres: database.postgres, now: () => now }
  const as = { actor: { teamId: team } } as Operation
  const { results } = await listBillablePorts(deps, as, service, {
    period: '2026-03',
    ordering: 'circuit_id',
    limit: 100,
    offset: 0,
  })
  const whole: [number, number][] = [[monthStart, monthEnd]]
  const own: [number, number][] = [
    [monthStart, joined - (joined % bucket)],
    [left, monthEnd],
  ]
  const expected = [
    { circuit_id: 'LAG', times: whole, places: [[0, 'ae0']] as [number, Key][] },
    {
      circuit_id: 'MEMBER',
      times: own,
      places: [
        [0, 'et-0/0/2'],
        [moved, 'et-0/0/7'],
      ] as [number, Key][],
    },
    { circuit_id: 'r1.ams et-0/0/1', times: whole, places: [[0, 'et-0/0/1']] as [number, Key][] },
  ]
  assert.deepEqual(
    results.map(({ circuit_id }) => circuit_id),
    expected.map(({ circuit_id }) => circuit_id),
  )
  for (const [at, { circuit_id, times, places }] of expected.entries()) {
    const samples = samplesOf(recount(counted, places), times)
    const figures = billed(samples, times)
    const bill: BillablePort = results[at]!
    const actual = Object.fromEntries(
      Object.keys(figures).map((name) => [name, bill[name as keyof typeof figures]]),
    )
    const { bytes } = await getBillingSamples(deps, as, service, {
      period: '2026-03',
      port_id: bill.port_id!,
    })
    const [lines, byHand] = [String(bytes).split('\n'), fileByHand(samples).split('\n')]
    const first = lines.findIndex((line, index) => line !== byHand[index])
    assert.equal(first, -1, `${circuit_id}: ${lines[first]} instead of ${byHand[first]}`)
    assert.deepEqual(actual, figures, circuit_id)
    assert.ok(figures.samples > 4_900 && figures.missing_samples < 40, JSON.stringify(figures))
  }

  const [bill, ...others] = (
    await listBillablePorts(deps, as, pool, { period: '2026-03', ordering: 'name', limit: 100, offset: 0 })
  ).results
  assert.equal(others.length, 0)
  const since = Math.ceil(grown / bucket) * bucket
  const samples = pooled([
    { samples: samplesOf(recount(counted, [[0, 'et-0/0/5']]), whole), since: monthStart },
    { samples: samplesOf(recount(counted, [[0, 'et-0/0/6']]), [[since, monthEnd]]), since },
  ])
  const { bytes } = await getBillingSamples(deps, as, pool, { period: '2026-03' })
  const byHand = samples.map(({ start, coveredMs, in: octetsIn, out: octetsOut, rates }) =>
    [
      new Date(start).toISOString().replace('.000', ''),
      coveredMs,
      octetsIn,
      octetsOut,
      ...(rates ? [...rates, rates[0] + rates[1]] : ['', '', '']),
    ].join(),
  )
  const lines = String(bytes).trimEnd().split('\n').slice(1)
  const first = lines.findIndex((line, index) => line !== byHand[index])
  assert.equal(first, -1, `pool: ${lines[first]} instead of ${byHand[first]}`)
  assert.equal(lines.length, byHand.length)
  const { amounts, amount, ...figures } = billedPool(samples, since)
  assert.deepEqual(
    Object.fromEntries(Object.keys(figures).map((name) => [name, bill![name as 'rank']])),
    figures,
  )
  assert.deepEqual([bill!.price!.lines.map((line) => line.amount), bill!.price!.amount], [amounts, amount])
  assert.equal(amounts.length, 8, 'all tiers are reached, with both prices')
})
