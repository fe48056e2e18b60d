// D7: an empty Knot and an empty BIND learn all zones from the catalog zone and transfer them: from their start until they serve every zone. Beside it
// the same Knot with the catalog zone of PowerDNS, which has the same zones in SQLite.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { startFollower, type FollowerName } from '../../lab/src/dns-follower.ts'
import { createFollower } from '../../server/src/drivers/dns-follower/name-server.ts'
import { DriverError } from '../../server/src/runtime/driver-error.ts'
import { waitFor } from '../../lab/src/wait.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { catalogZone, startDnsProduct, transferKey, addFollowers, type DnsProduct } from './dns-product.ts'
import type { Server } from './dns-probe.ts'
import { missingPrograms } from './packages.ts'
import { startPowerdns } from './powerdns.ts'
import { seededZone, seedZones } from './seed-zones.ts'
import { milliseconds, perSecond, times, whole } from './table.ts'

export const coldFollowers: Benchmark = {
  id: 'D7',
  name: 'cold-followers',
  title: 'empty name servers learn all zones from the catalog zone',
  missing: () => missingPrograms('pdns_server', 'named', 'knotd'),
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const count = bench.quick ? 300 : bench.full ? 100_000 : 10_000
  const goal = { ms: bench.full ? 90_000 : 12_000, text: bench.full ? '<= 90 s' : '<= 12 s' }
  const peerMs = await measurePowerdns(count)
  const start = performance.now()
  await using ours = await startDnsProduct(bench, {
    roles: ['reconciler', 'nameserver'],
    seed: (client) => seedZones(client, count, false),
  })
  await untilPublished(ours, count)
  bench.report(
    `${whole(count)} new zones published from the start of the product on: ${perSecond((count * 1_000) / (performance.now() - start))}`,
  )
  const lines: Line[] = []
  for (const name of ['Knot', 'BIND'] as const) {
    const before = ours.product.cpuMicros()
    const ms = await measureFollower(name, ours, count, (follower) =>
      addFollowers(ours.client, [{ ...follower, name, catalog: true }]),
    )
    await ours.client.query('delete from dns_servers')
    await ours.client.query('delete from dns_tsig_keys')
    bench.report(
      `${name}: processor time of the product ${milliseconds((ours.product.cpuMicros() - before) / 1_000)}`,
    )
    const isAsPeer = name === 'Knot'
    const ratio = isAsPeer ? `${times(ms / peerMs)} its time` : '-'
    lines.push({
      what: `${whole(count)} zones at an empty ${name}`,
      result: `${milliseconds(ms)}, ${perSecond((count * 1_000) / ms)}`,
      peer: isAsPeer ? `${milliseconds(peerMs)} Knot behind PowerDNS, SQLite` : '-',
      ratio,
      goal: bench.quick ? '' : goal.text,
      reached: ms <= goal.ms,
    })
  }
  return lines
}

async function untilPublished({ client }: DnsProduct, count: number): Promise<void> {
  const unpublished = `select count(*)::integer as n from dns_zones where published is null or version > published_version`
  await waitFor(
    'all zones are published',
    async () => (await client.query<{ n: number }>(unpublished)).rows[0]!.n === 0,
    {
      timeoutMs: 600_000,
      everyMs: 200,
    },
  )
  const members = `select count(*)::integer as n from dns_served s join dns_zones z on z.id = s.zone_id where z.is_catalog and s.type = 12`
  await waitFor(
    'all zones are in the catalog',
    async () => (await client.query<{ n: number }>(members)).rows[0]!.n === count,
    {
      timeoutMs: 600_000,
      everyMs: 200,
    },
  )
}

/** From the start of an empty server until it serves all zones. */
async function measureFollower(
  name: FollowerName,
  primary: Server,
  count: number,
  announce: (follower: Server) => Promise<void>,
  catalog = catalogZone,
): Promise<number> {
  const start = performance.now()
  const { address, port } = primary
  await using follower = await startFollower(name, {
    primary: { address, port },
    key: transferKey,
    zones: [],
    catalog,
  })
  await announce(follower)
  const client = createFollower({ address: follower.address, port: follower.port, key: transferKey })
  try {
    await untilServed(client, count)
    return performance.now() - start
  } finally {
    await client.close()
  }
}

/** A sample of the zones first: asking for all of them is work for the server. */
async function untilServed(client: ReturnType<typeof createFollower>, count: number): Promise<void> {
  const all = Array.from({ length: count }, (_, n) => seededZone(n))
  const sample = all.filter((_, n) => n % Math.ceil(count / 100) === 0)
  for (const end = performance.now() + 600_000; performance.now() < end; await sleep(100)) {
    const isServed = async (zones: typeof all): Promise<boolean> =>
      [...(await client.serials(zones)).values()].every((serial) => typeof serial === 'number')
    try {
      if ((await isServed(sample)) && (await isServed(all))) return
    } catch (error) {
      if (!(error instanceof DriverError)) throw error
    }
  }
  throw new Error('the follower does not serve all zones')
}

/** PowerDNS as the producer of a catalog zone with the same zones. */
async function measurePowerdns(count: number): Promise<number> {
  await using powerdns = await startPowerdns()
  const database = new DatabaseSync(join(powerdns.folder, 'pdns.sqlite3'))
  const catalog = 'catalog.bench.invalid.'
  database.exec('begin')
  const zone = database.prepare(`insert into domains (id, name, type, catalog) values (?, ?, ?, ?)`)
  const record = database.prepare(
    `insert into records (domain_id, name, type, content, ttl, prio, disabled, auth) values (?, ?, ?, ?, ?, 0, 0, 1)`,
  )
  const metadata = database.prepare(
    `insert into domainmetadata (domain_id, kind, content) values (?, 'TSIG-ALLOW-AXFR', ?)`,
  )
  const soa = 'ns1.bench.test hostmaster.bench.test 1 3600 900 1209600 300'
  const bare = (name: string): string => name.slice(0, -1)
  zone.run(1, bare(catalog), 'PRODUCER', '')
  record.run(1, bare(catalog), 'SOA', soa, 3600)
  record.run(1, bare(catalog), 'NS', 'ns1.bench.test', 3600)
  metadata.run(1, bare(transferKey.name))
  for (let n = 0; n < count; n++) {
    const [id, name] = [n + 2, bare(seededZone(n))]
    zone.run(id, name, 'MASTER', bare(catalog))
    record.run(id, name, 'SOA', soa, 3600)
    record.run(id, name, 'NS', 'ns1.bench.test', 3600)
    record.run(id, `www.${name}`, 'A', '192.0.2.1', 300)
    metadata.run(id, bare(transferKey.name))
  }
  database.exec('commit')
  database.close()
  // It reads its list of zones again when it starts.
  await powerdns.kill()
  await powerdns.start()
  return await measureFollower('Knot', powerdns, count, async () => {}, catalog)
}
