// D1 to D3: from the PUT of one record set to the answer with it: at the built-in name server, and at NSD and BIND that transfer the signed zone
// with TSIG, small and with 50,000 record sets. Beside it PowerDNS: its API, its own answer, and NSD behind it.
import { setTimeout as sleep } from 'node:timers/promises'
import { median, quantile } from '../../lab/src/measure.ts'
import { startFollower, type Follower } from '../../lab/src/dns-follower.ts'
import { recordType } from '../../server/src/net/dns/type.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { addFollowers, catalogZone, startDnsProduct, transferKey, type DnsProduct } from './dns-product.ts'
import { addressOf, hasAddress, openProbe, type Server } from './dns-probe.ts'
import { databaseMeter, nothing, spend, type HotPath } from './guard/hot-path.ts'
import { missingPrograms } from './packages.ts'
import { createPowerdnsZone, freePlace, setsOf, startPowerdns, type Powerdns } from './powerdns.ts'
import { milliseconds, times, whole } from './table.ts'

export const dnsChange: Benchmark = {
  id: 'D1',
  name: 'dns-change',
  title: 'PUT of a record set to the answer of the built-in name server',
  missing: () => missingPrograms('pdns_server'),
  run: measureBuiltIn,
}

export const dnsFollowers: Benchmark = {
  id: 'D2',
  name: 'dns-followers',
  title: 'PUT of a record set to the answer of NSD and BIND, signed, with TSIG',
  missing: () => missingPrograms('pdns_server', 'nsd', 'named'),
  run: (bench) =>
    measureFollowers(bench, 10, { changes: bench.quick ? 20 : 200, peerChanges: bench.quick ? 3 : 15 }),
}

export const dnsLargeZone: Benchmark = {
  id: 'D3',
  name: 'dns-large-zone',
  title: 'the same in a signed zone of 50,000 record sets',
  missing: dnsFollowers.missing,
  run: (bench) =>
    measureFollowers(bench, bench.quick ? 2_000 : 49_990, {
      changes: bench.quick ? 20 : 150,
      peerChanges: bench.quick ? 2 : 5,
    }),
}

const zone = 'bench.test.'
const hostOf = (n: number): string => `host${n}.${zone}`
/** Changes go around these. */
const changed = 5

/** Changes in one turn of the guard. */
const changesOfTurn = 60

export const dnsChangePath: HotPath = {
  id: 'D1',
  unit: 'change of a record set',
  peer: 'PowerDNS, SQLite',
  missing: dnsChange.missing,
  async prepare(bench, stack) {
    const { powerdns, ours } = await prepare(bench, stack)
    const database = await databaseMeter(bench)
    let first = 1
    const turn = (server: { cpuMicros(): number }, meter: () => number, change: Change) =>
      spend(
        () => server.cpuMicros(),
        meter,
        async () => {
          await makeChanges(change, (first += changesOfTurn), changesOfTurn)
          return changesOfTurn
        },
      )
    return {
      ours: () => turn(ours.product, database, (n) => putAddress(ours, n)),
      peer: () => turn(powerdns, nothing, (n) => patchPowerdns(powerdns, n)),
    }
  },
}

type Change = (n: number) => Promise<{ readonly ms: number }>

type Sample = { readonly answeredMs: number; readonly servedMs: readonly number[] }

/** Both with a zone of ten record sets. */
async function prepare(bench: Bench, stack: AsyncDisposableStack) {
  // With its caches it answers an old address for 20 s if a query arrives during a change.
  const withoutCaches = ['cache-ttl=0', 'query-cache-ttl=0', 'negquery-cache-ttl=0']
  const powerdns = stack.use(await startPowerdns([], withoutCaches))
  await createPowerdnsZone(powerdns, zone, hostsOf(10))
  const ours = stack.use(await startDnsProduct(bench))
  await importHosts(ours, 10, false)
  return { powerdns, ours }
}

async function measureBuiltIn(bench: Bench): Promise<Line[]> {
  const changes = bench.quick ? 50 : 300
  await using stack = new AsyncDisposableStack()
  const { powerdns, ours } = await prepare(bench, stack)
  const peer: Sample[] = []
  const own: Sample[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const first = 1_000 * (round + 1)
    peer.push(...(await measureChanges([powerdns], changes, first, (n) => patchPowerdns(powerdns, n))))
    own.push(...(await measureChanges([ours], changes, first, (n) => putAddress(ours, n))))
  }
  const micros = await cpuOfChange(ours.product, changes, (n) => putAddress(ours, n))
  const peerMicros = await cpuOfChange(powerdns, changes, (n) => patchPowerdns(powerdns, n))
  bench.report(
    `${describe('PUT', own)}; ${describe('PATCH of PowerDNS', peer)}; processor time of a change: product ${whole(micros)} us ` +
      `without its database, PowerDNS ${whole(peerMicros)} us with it`,
  )
  const [p50, p99] = quantilesOf(own, 0)
  const [peer50, peer99] = quantilesOf(peer, 0)
  return [
    {
      what: 'PUT to the answer, built-in name server',
      result: `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`,
      peer: `p50 ${milliseconds(peer50)}, p99 ${milliseconds(peer99)} PowerDNS, SQLite`,
      ratio: `${times(p50 / peer50)} its time`,
      goal: 'p50 <= 10 ms, p99 <= 50 ms',
      reached: p50 <= 10 && p99 <= 50,
    },
  ]
}

type Counts = { readonly changes: number; readonly peerChanges: number }

async function measureFollowers(
  bench: Bench,
  hosts: number,
  { changes, peerChanges }: Counts,
): Promise<Line[]> {
  const isLarge = hosts > 1_000
  const peer = await measurePowerdns(bench, hosts, peerChanges)
  await using stack = new AsyncDisposableStack()
  const ours = stack.use(await startDnsProduct(bench))
  const primary = { address: ours.address, port: ours.port }
  const followers: Follower[] = []
  for (const name of ['NSD', 'BIND'] as const) {
    const isByCatalog = name === 'BIND'
    const zones = isByCatalog ? [] : [zone]
    const options = { primary, key: transferKey, zones, ...(isByCatalog ? { catalog: catalogZone } : {}) }
    followers.push(stack.use(await startFollower(name, options)))
  }
  await addFollowers(
    ours.client,
    followers.map(({ name, address, port }) => ({ name, address, port, catalog: name === 'BIND' })),
  )
  await importHosts(ours, hosts, true)
  await measureChanges(followers, 5, 100, (n) => putAddress(ours, n))
  // The observation of all zones, and the end of the first transfers.
  await sleep(1_000)
  const own = await measureChanges(followers, changes, 1_000, (n) => putAddress(ours, n))
  const micros = await cpuOfChange(ours.product, changes, (n) => putAddress(ours, n))
  bench.report(
    `${describe('PUT', own)}; processor time of a change, with its transfers: product ${whole(micros)} us without its database`,
  )
  const limits = isLarge ? { p50: 60, p99: 300, ratio: 50 } : { p50: 30, p99: 150, ratio: 20 }
  const [peer50, peer99] = quantilesOf(peer, 0)
  const what = `PUT to the answer, signed zone of ${whole(hosts)}`
  return followers.map(({ name }, at): Line => {
    const [p50, p99] = quantilesOf(own, at)
    const ratio = peer50 / p50
    return {
      what: `${what}, ${name}`,
      result: `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`,
      peer: `p50 ${milliseconds(peer50)}, p99 ${milliseconds(peer99)} NSD behind PowerDNS`,
      ratio: `${times(ratio)} faster`,
      goal: `p50 <= ${limits.p50} ms, p99 <= ${limits.p99} ms, >= ${limits.ratio}x`,
      reached: p50 <= limits.p50 && p99 <= limits.p99 && ratio >= limits.ratio,
    }
  })
}

/** PATCH to the answer of NSD behind PowerDNS, which is told to notify immediately. */
async function measurePowerdns({ report }: Bench, hosts: number, changes: number): Promise<Sample[]> {
  await using stack = new AsyncDisposableStack()
  // Each needs the address of the other.
  const primary = await freePlace()
  const nsd = stack.use(await startFollower('NSD', { primary, key: transferKey, zones: [zone] }))
  const powerdns = stack.use(await startPowerdns([nsd], [], primary))
  await createPowerdnsZone(powerdns, zone, hostsOf(hosts), { dnssec: true })
  await powerdns.call('PUT', `/zones/${zone}/notify`)
  using probe = await openProbe(nsd)
  await probe.until(hostOf(hosts - 1), recordType.A, hasAddress(hosts - 1), { everyMs: 20 })
  const samples = await measureChanges([nsd], changes, 1_000, async (n) => {
    const patched = await patchPowerdns(powerdns, n)
    const told = await powerdns.call('PUT', `/zones/${zone}/notify`)
    return { ms: patched.ms + told.ms }
  })
  report(`PowerDNS: ${describe('PATCH and notify', samples)}`)
  return samples
}

const hostsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: hostOf(n), type: 'A', records: [addressOf(n)] }))

const patchPowerdns = (powerdns: Powerdns, n: number): Promise<{ ms: number }> =>
  powerdns.call('PATCH', `/zones/${zone}`, {
    rrsets: setsOf([{ name: hostOf(n % changed), type: 'A', records: [addressOf(n)] }]),
  })

const putAddress = ({ call }: DnsProduct, n: number): Promise<{ ms: number }> =>
  call('PUT', `/zones/${zone}/recordsets/${hostOf(n % changed)}/A`, { ttl: 300, records: [addressOf(n)] })

/** One change at a time, each after all servers have the previous one. */
async function measureChanges(
  servers: readonly Server[],
  count: number,
  first: number,
  change: Change,
): Promise<Sample[]> {
  using stack = new DisposableStack()
  const probes = (await Promise.all(servers.map(openProbe))).map((probe) => stack.use(probe))
  const samples: Sample[] = []
  for (let n = first; n < first + count; n++) {
    const start = performance.now()
    const [{ ms: answeredMs }, ...served] = await Promise.all([
      change(n),
      ...probes.map((probe) => probe.until(hostOf(n % changed), recordType.A, hasAddress(n))),
    ])
    samples.push({ answeredMs, servedMs: served.map((at) => at - start) })
  }
  return samples
}

/** Microseconds of processor time of one change, with its publication, without the questions that wait for it. */
async function cpuOfChange(server: { cpuMicros(): number }, count: number, change: Change): Promise<number> {
  const before = server.cpuMicros()
  await makeChanges(change, 500_000, count)
  return (server.cpuMicros() - before) / count
}

/** Makes changes one after the other; resolves when they are published. */
async function makeChanges(change: Change, first: number, count: number): Promise<void> {
  for (let n = first; n < first + count; n++) await change(n)
  await sleep(500)
}

const quantilesOf = (samples: readonly Sample[], at: number): [number, number] => {
  const served = samples.map(({ servedMs }) => servedMs[at]!)
  return [median(served), quantile(served, 0.99)]
}

function describe(what: string, samples: readonly Sample[]): string {
  const answered = samples.map(({ answeredMs }) => answeredMs)
  return `${what} answered in p50 ${milliseconds(median(answered))}, p99 ${milliseconds(quantile(answered, 0.99))}`
}

/** Imports the zone with its hosts; resolves when the built-in name server answers. */
export async function importHosts(
  ours: DnsProduct,
  count: number,
  dnssec: boolean,
  name = zone,
): Promise<void> {
  await ours.call('POST', '/zones/import', { name, zonefile: hostsFile(count), mode: 'create', dnssec })
  using probe = await openProbe(ours)
  const last = count - 1
  await probe.until(`host${last}.${name}`, recordType.A, hasAddress(last), { everyMs: 20 })
}

/** Lines with relative names. */
export const hostsFile = (count: number): string =>
  Array.from({ length: count }, (_, n) => `host${n} 300 A ${addressOf(n)}\n`).join('')
