// D4, second part: a zone file of 50,000 records imported over HTTP: the dry run, the import until it is answered, and until NSD serves the zone signed.
// Beside it a POST of the same zone to PowerDNS with SQLite, unsigned.
import { setTimeout as sleep } from 'node:timers/promises'
import { startFollower } from '../../lab/src/dns-follower.ts'
import { recordType } from '../../server/src/net/dns/type.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { hostsFile } from './dns-change.ts'
import { addFollowers, startDnsProduct, transferKey } from './dns-product.ts'
import { addressOf, hasAddress, openProbe } from './dns-probe.ts'
import { readLag } from './event-loop-lag.ts'
import { missingPrograms } from './packages.ts'
import { createPowerdnsZone, startPowerdns } from './powerdns.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf } from './turns.ts'

export const zoneImport: Benchmark = {
  id: 'D4',
  name: 'zone-import',
  title: 'zone file of 50,000 records imported, signed and served',
  missing: () => missingPrograms('pdns_server', 'nsd'),
  run,
}

async function run(bench: Bench): Promise<Line[]> {
  const count = bench.quick ? 2_000 : 49_990
  const zones = Array.from({ length: bench.rounds }, (_, round) => `import${round}.test.`)
  const samples: { dryMs: number; appliedMs: number; servedMs: number; peerMs: number; lagMs: number }[] = []
  await using stack = new AsyncDisposableStack()
  const powerdns = stack.use(await startPowerdns())
  const ours = stack.use(await startDnsProduct(bench))
  const primary = { address: ours.address, port: ours.port }
  const nsd = stack.use(await startFollower('NSD', { primary, key: transferKey, zones }))
  await addFollowers(ours.client, [{ name: nsd.name, address: nsd.address, port: nsd.port, catalog: false }])
  const probe = stack.use(await openProbe(nsd))
  const zonefile = hostsFile(count)
  for (const name of zones) {
    const hosts = Array.from({ length: count }, (_, n) => ({
      name: `host${n}.${name}`,
      type: 'A',
      records: [addressOf(n)],
    }))
    const { ms: peerMs } = await createPowerdnsZone(powerdns, name, hosts)
    const body = { name, zonefile, mode: 'create' }
    const { ms: dryMs } = await ours.call('POST', '/zones/import?dry_run=true', body)
    await readLag(ours.product.url)
    const start = performance.now()
    const { ms: appliedMs } = await ours.call('POST', '/zones/import', body)
    const last = count - 1
    const servedAt = await probe.until(`host${last}.${name}`, recordType.A, hasAddress(last), { everyMs: 10 })
    samples.push({
      dryMs,
      appliedMs,
      servedMs: servedAt - start,
      peerMs,
      lagMs: await readLag(ours.product.url),
    })
    await sleep(1_000)
  }
  const of = (numberOf: (sample: (typeof samples)[number]) => number) => medianOf(samples, numberOf)
  const peerMs = of((sample) => sample.peerMs)
  bench.report(
    `longest delay of the event loop of the product during an import, signing and transfer: ${samples.map(({ lagMs }) => milliseconds(lagMs)).join(', ')} by the wall clock`,
  )
  const line = (what: string, ms: number, goal = '', msMax = Infinity): Line => ({
    what: `${whole(count)} records ${what}`,
    result: milliseconds(ms),
    peer: `${milliseconds(peerMs)} POST to PowerDNS, SQLite, unsigned`,
    ratio: `${times(ms / peerMs)} its time`,
    goal,
    reached: goal === '' ? undefined : ms <= msMax,
  })
  return [
    line(
      'imported, dry run',
      of(({ dryMs }) => dryMs),
    ),
    line(
      'imported',
      of(({ appliedMs }) => appliedMs),
      '<= 2 s',
      2_000,
    ),
    line(
      'imported, signed and served at NSD',
      of(({ servedMs }) => servedMs),
      '<= 8 s',
      8_000,
    ),
  ]
}
