// Many small zones for the benchmarks of DNS: SOA, NS and one address each, as rows, published or still to be published.
import type { Client } from 'pg'
import { nameToWire, parseName, type ZoneName, parseZoneName } from '../../server/src/net/dns/name.ts'
import { keyOf } from './dns-product.ts'

const suffix = 'zones.test.'
const digits = 7

export const seededZone = (n: number): ZoneName =>
  parseZoneName(`z${String(n).padStart(digits, '0')}.${suffix}`)

/** The content of each of the zones as a zone file with relative names. */
export const seededFile = `@ 3600 IN SOA ns1.bench.test. hostmaster.bench.test. 1 3600 900 1209600 300
@ 3600 IN NS ns1.bench.test.
www 300 IN A 192.0.2.1
`

/** `isPublished`: as after the first publication, with serial 1. */
export async function seedZones(client: Client, count: number, isPublished: boolean): Promise<void> {
  const server = nameToWire(parseName('ns1.bench.test.'))
  const mailbox = nameToWire(parseName('hostmaster.bench.test.'))
  const numbers = Buffer.alloc(20)
  for (const [at, value] of [1, 3600, 900, 1_209_600, 300].entries()) numbers.writeUInt32BE(value, at * 4)
  const soa = Buffer.concat([server, mailbox, numbers])
  const sets = `(values (''::bytea, 6, 3600, array[$4::bytea]), (''::bytea, 2, 3600, array[$5::bytea]),
    ('\\x77777700'::bytea, 1, 300, array['\\xc0000201'::bytea])) s (below, type, ttl, rdata)`
  const names = `(select 'z' || lpad(n::text, ${digits}, '0') as label from generate_series(0, $3::integer - 1) n) l`
  await client.query(
    `insert into dns_zones (team_id, name, name_key, recordset_count, record_count, published_version, serial, status, published)
     select 1, l.label || '.' || $1, $2::bytea || convert_to(l.label, 'UTF8') || '\\x00'::bytea, 3, 3,
       ${isPublished ? `1, 1, 'ok', now()` : `0, null, 'updating', null`}
     from ${names}`,
    [suffix, keyOf(parseName(suffix)), count],
  )
  const shared = [suffix, count, soa, Buffer.from(server)]
  const zones = `(select id, name, name_key from dns_zones where not is_catalog and name like '%.' || $1 order by id limit $2::integer) z`
  const renumbered = sets.replaceAll('$4', '$3').replaceAll('$5', '$4')
  await client.query(
    `insert into dns_recordsets (zone_id, team_id, name_key, type, name, ttl, rdata, content, source)
     select z.id, 1, z.name_key || s.below, s.type, case when s.below = '' then '' else 'www.' end || z.name, s.ttl, s.rdata, '',
       case when s.below = '' then 'system' else 'user' end
     from ${zones} cross join ${renumbered}`,
    shared,
  )
  // The parents of published zones were just queried, as happens every hour.
  if (isPublished)
    await client.query(
      `insert into dns_delegations (zone_id, status, due, checked) select z.id, 'absent', now() + interval '1 hour', now() from ${zones}`,
      [suffix, count],
    )
  if (isPublished)
    await client.query(
      `insert into dns_served (zone_id, name_key, type, ttl, rdata)
       select z.id, z.name_key || s.below, s.type, s.ttl, s.rdata from ${zones} cross join ${renumbered}`,
      shared,
    )
  await client.query('analyze dns_zones, dns_recordsets, dns_served')
}
