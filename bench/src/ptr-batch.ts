// D6: 4,096 PTR records over 17 zones of reverse DNS in one request: until it is answered, and until BIND and Knot serve all zones. Beside it PowerDNS,
// which needs a PATCH for each zone.
import { setTimeout as sleep } from 'node:timers/promises'
import { median, quantile } from '../../lab/src/measure.ts'
import { startFollower, type Follower } from '../../lab/src/dns-follower.ts'
import type { Message } from '../../server/src/net/dns/message.ts'
import { nameFromWire } from '../../server/src/net/dns/name.ts'
import { recordType } from '../../server/src/net/dns/type.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { addFollowers, catalogZone, startDnsProduct, transferKey, type DnsProduct } from './dns-product.ts'
import { openProbe, type Probe } from './dns-probe.ts'
import { missingPrograms } from './packages.ts'
import { createPowerdnsZone, setsOf, startPowerdns, type Powerdns } from './powerdns.ts'
import { milliseconds, times, whole } from './table.ts'

export const ptrBatch: Benchmark = {
  id: 'D6',
  name: 'ptr-batch',
  title: '4,096 PTR records over 17 zones at once',
  missing: () => missingPrograms('pdns_server', 'named', 'knotd'),
  run,
}

const zonesCount = 17
const records = 4_096
const perZone = Math.ceil(records / zonesCount)

/** Record n of the batch. */
const placeOf = (n: number) => ({ zone: Math.floor(n / perZone), host: n % perZone })
const zoneOf = (zone: number): string => `${zone}.18.198.in-addr.arpa.`
const nameOf = (n: number): string => `${placeOf(n).host}.${zoneOf(placeOf(n).zone)}`
const targetOf = (n: number, round: number): string => `r${round}-${n}.bench.test.`
const all = Array.from({ length: records }, (_, n) => n)
const lastOfZones = Array.from(
  { length: zonesCount },
  (_, zone) => Math.min(records, (zone + 1) * perZone) - 1,
)

async function run(bench: Bench): Promise<Line[]> {
  const batches = bench.quick ? 3 : 20
  const peer = await measurePowerdns(bench.quick ? 2 : 10)
  await using stack = new AsyncDisposableStack()
  const ours = stack.use(
    await startDnsProduct(bench, {
      seed: async (client) =>
        void (await client.query(
          `insert into prefixes (team_id, prefix) values (1, '198.18.0.0/20'), (1, '198.18.16.0/24')`,
        )),
    }),
  )
  const followers: Follower[] = []
  for (const name of ['BIND', 'Knot'] as const) {
    const primary = { address: ours.address, port: ours.port }
    followers.push(
      stack.use(await startFollower(name, { primary, key: transferKey, zones: [], catalog: catalogZone })),
    )
  }
  await addFollowers(
    ours.client,
    followers.map(({ name, address, port }) => ({ name, address, port, catalog: true })),
  )
  const probes: Probe[] = []
  for (const follower of followers)
    for (let zone = 0; zone < zonesCount; zone++) probes.push(stack.use(await openProbe(follower)))
  const samples: { answeredMs: number; servedMs: number }[] = []
  // The first one creates the zones, the second one warms up.
  for (let round = -2; round < batches; round++) {
    const sample = await measureBatch(ours, probes, round + 2)
    if (round >= 0) samples.push(sample)
    await sleep(200)
  }
  const answered = samples.map(({ answeredMs }) => answeredMs)
  const served = samples.map(({ servedMs }) => servedMs)
  const what = `${whole(records)} PTR records, ${zonesCount} zones`
  return [
    {
      what: `${what}, answered`,
      result: `p50 ${milliseconds(median(answered))}, p99 ${milliseconds(quantile(answered, 0.99))}`,
      peer: `p50 ${milliseconds(median(peer))}, p99 ${milliseconds(quantile(peer, 0.99))} PowerDNS, ${zonesCount} PATCHes`,
      ratio: `${times(median(answered) / median(peer))} its time`,
      goal: 'p99 <= 250 ms',
      reached: quantile(answered, 0.99) <= 250,
    },
    {
      what: `${what}, served by BIND and Knot`,
      result: `p50 ${milliseconds(median(served))}, p99 ${milliseconds(quantile(served, 0.99))}`,
      peer: '-',
      ratio: '-',
      goal: 'p99 <= 1 s',
      reached: quantile(served, 0.99) <= 1_000,
    },
  ]
}

async function measureBatch(
  { call }: DnsProduct,
  probes: readonly Probe[],
  round: number,
): Promise<{ answeredMs: number; servedMs: number }> {
  const body = {
    records: all.map((n) => ({
      ip: `198.18.${placeOf(n).zone}.${placeOf(n).host}`,
      ptrdname: targetOf(n, round),
    })),
  }
  const start = performance.now()
  const { ms: answeredMs } = await call('POST', '/ptr/batch', body)
  const served = await Promise.all(
    probes.map((probe, at) => {
      const n = lastOfZones[at % zonesCount]!
      return probe.until(nameOf(n), recordType.PTR, hasTarget(targetOf(n, round)), { everyMs: 5 })
    }),
  )
  return { answeredMs, servedMs: Math.max(...served) - start }
}

const hasTarget =
  (target: string) =>
  ({ answers }: Message): boolean =>
    answers.some(({ type, rdata }) => type === recordType.PTR && nameFromWire(rdata) === target)

async function measurePowerdns(rounds: number): Promise<number[]> {
  await using powerdns = await startPowerdns()
  for (let zone = 0; zone < zonesCount; zone++) await createPowerdnsZone(powerdns, zoneOf(zone), [])
  const samples: number[] = []
  for (let round = -1; round < rounds; round++) {
    const ms = await patchAll(powerdns, round + 1)
    if (round >= 0) samples.push(ms)
  }
  return samples
}

async function patchAll({ call }: Powerdns, round: number): Promise<number> {
  let total = 0
  for (let zone = 0; zone < zonesCount; zone++) {
    const own = all.filter((n) => placeOf(n).zone === zone)
    const sets = own.map((n) => ({ name: nameOf(n), type: 'PTR', records: [targetOf(n, round)] }))
    total += (await call('PATCH', `/zones/${zoneOf(zone)}`, { rrsets: setsOf(sets) })).ms
  }
  return total
}
