// D5: the list of a zone of a million record sets over HTTP: pages of 100 with the exact count, at the start and at random offsets. Beside it the
// same page by plain SQL, which counts and skips rows, and PowerDNS, which returns a zone of 50,000 record sets whole.
import type { Client } from 'pg'
import { median, quantile } from '../../lab/src/measure.ts'
import { parseName } from '../../server/src/net/dns/name.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { keyOf, startDnsProduct, type DnsProduct } from './dns-product.ts'
import { addressOf } from './dns-probe.ts'
import { missingPrograms } from './packages.ts'
import { createPowerdnsZone, startPowerdns } from './powerdns.ts'
import { milliseconds, times, whole } from './table.ts'

export const recordSetList: Benchmark = {
  id: 'D5',
  name: 'recordset-list',
  title: 'list of a zone of 1 M record sets, page of 100 and exact count',
  missing: () => missingPrograms('pdns_server'),
  run,
}

export const zone = 'large.test.'
export const pageSize = 100

async function run(bench: Bench): Promise<Line[]> {
  const count = bench.quick ? 20_000 : 1_000_000
  const peerCount = bench.quick ? 2_000 : 50_000
  await using ours = await startDnsProduct(bench, {
    roles: ['api'],
    seed: (client) => seedZone(client, count),
  })
  const total = await countByProduct(ours)
  const offsets = Array.from(
    { length: bench.quick ? 50 : 300 },
    (_, at) => (at * 7919 * pageSize) % (total - pageSize),
  )
  const start = await measure(
    ours,
    offsets.map(() => 0),
    total,
  )
  const anywhere = await measure(ours, offsets, total)
  const plain = await measurePlain(ours.client, offsets.slice(0, bench.quick ? 5 : 40))
  const powerdnsMs = await measurePowerdns(peerCount)
  const line = (what: string, samples: readonly number[], p99Max: number): Line => {
    const [p50, p99] = [median(samples), quantile(samples, 0.99)]
    return {
      what: `${whole(total)} record sets, ${what}`,
      result: `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`,
      peer: `p50 ${milliseconds(median(plain))}, p99 ${milliseconds(quantile(plain, 0.99))} plain SQL at any offset`,
      ratio: `${times(p50 / median(plain))} its time`,
      goal: `p99 <= ${p99Max} ms`,
      reached: p99 <= p99Max,
    }
  }
  return [
    line('first page', start, 10),
    line('page at any offset', anywhere, 20),
    {
      what: `page of ${pageSize}; the peer has no pages`,
      result: `p50 ${milliseconds(median(anywhere))}`,
      peer: `${milliseconds(powerdnsMs)} PowerDNS, all of ${whole(peerCount)}`,
      ratio: `${times(powerdnsMs / median(anywhere))} faster`,
      goal: '',
      reached: undefined,
    },
  ]
}

/** Rows as the product writes them, without a journal and without blocks. */
export async function seedZone(client: Client, count: number): Promise<void> {
  const { rows } = await client.query<{ id: number }>(
    `insert into dns_zones (team_id, name, name_key, recordset_count, record_count)
     values (1, $1, $2, $3, $3) returning id`,
    [zone, keyOf(parseName(zone)), count],
  )
  await client.query(
    `insert into dns_recordsets (zone_id, team_id, name_key, type, name, ttl, rdata, content)
     select $1::integer, 1, $2::bytea || convert_to(h.label, 'UTF8') || '\\x00'::bytea, 1, h.label || '.' || $3, 300,
       array['\\xc0000201'::bytea], '192.0.2.1'
     from (select 'host' || lpad(n::text, 7, '0') as label from generate_series(0, $4::integer - 1) n) h`,
    [rows[0]!.id, keyOf(parseName(zone)), zone, count],
  )
  await client.query('analyze dns_recordsets')
}

/** Adds more record sets than are counted one by one, so that the product counts the zone. Returns the new number. */
export async function countByProduct({ call, client }: DnsProduct): Promise<number> {
  const recordsets = Array.from({ length: 250 }, (_, n) => ({
    name: `added${n}.${zone}`,
    type: 'A',
    ttl: 300,
    records: [addressOf(n)],
  }))
  await call('PATCH', `/zones/${zone}/recordsets`, { recordsets })
  const { rows } = await client.query<{ n: number }>('select count(*)::integer as n from dns_recordsets')
  return rows[0]!.n
}

async function measure({ call }: DnsProduct, offsets: readonly number[], total: number): Promise<number[]> {
  const samples: number[] = []
  for (const offset of offsets) {
    const { ms, body } = await call('GET', `/zones/${zone}/recordsets?limit=${pageSize}&offset=${offset}`)
    const { results, count } = JSON.parse(body) as { results: unknown[]; count: number }
    if (count !== total || results.length !== pageSize)
      throw new Error(`offset ${offset}: ${results.length} of ${count} instead of ${pageSize} of ${total}`)
    samples.push(ms)
  }
  return samples
}

async function measurePlain(client: Client, offsets: readonly number[]): Promise<number[]> {
  const { rows } = await client.query<{ id: number }>('select id from dns_zones where name = $1', [zone])
  const samples: number[] = []
  for (const offset of offsets) {
    const start = performance.now()
    await client.query(
      `select name, type, ttl, content, comment, created, touched,
         (select count(*) from dns_recordsets c where c.zone_id = $1)
       from dns_recordsets r where zone_id = $1 order by name_key, type limit $2 offset $3`,
      [rows[0]!.id, pageSize, offset],
    )
    samples.push(performance.now() - start)
  }
  return samples
}

async function measurePowerdns(count: number): Promise<number> {
  await using powerdns = await startPowerdns()
  const hosts = Array.from({ length: count }, (_, n) => ({
    name: `host${n}.${zone}`,
    type: 'A',
    records: [addressOf(n)],
  }))
  await createPowerdnsZone(powerdns, zone, hosts)
  const samples: number[] = []
  for (let at = 0; at < 5; at++) samples.push((await powerdns.call('GET', `/zones/${zone}`)).ms)
  return median(samples)
}
