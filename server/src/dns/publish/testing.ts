// For tests: zones in the database as the operations write them, without the operations.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { nameKey, parseZoneName, type ZoneName } from '../../net/dns/name.ts'
import type { Rrset } from '../../net/dns/record.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { createKey } from '../dnssec/key.ts'
import { rrsetsOf } from '../testing.ts'
import { encodeRrsets } from '../sign/rrset-list.ts'

const soaAndNs = `
  @ 300 SOA ns1.example.net. hostmaster.example.net. 0 3600 900 1209600 60
  @ 300 NS ns1.example.net.
`

const keyOf = (name: Rrset['name']): Buffer => Buffer.from(nameKey(name))

/** Inserts a zone with SOA, NS and the records of `text`; returns its id. */
export async function insertTestZone(
  db: Db,
  name: string,
  text = '',
  options: { readonly serial?: number } = {},
): Promise<number> {
  const zone = parseZoneName(name)
  // In one transaction, as the operations do it: a running loop publishes a zone with the sets that it sees.
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number }>`
      insert into dns_zones (name, name_key, serial) values (${zone}, ${keyOf(zone)}, ${options.serial ?? null})
      returning id`.execute(trx)
    const { id } = rows[0]!
    await saveSets(trx, id, rrsetsOf(zone, soaAndNs + text))
    await wake(trx, 'dns')
    return id
  })
}

async function saveSets(trx: Trx, zoneId: number, sets: readonly Rrset[]): Promise<void> {
  for (let at = 0; at < sets.length; at += 5_000) {
    const part = sets.slice(at, at + 5_000)
    await sql`
      insert into dns_recordsets (zone_id, name_key, type, name, ttl, rdata, content)
      select ${zoneId}, w.name_key, w.type, w.name, w.ttl, w.rdata::bytea[], ''
      from unnest(${part.map(({ name }) => keyOf(name))}::bytea[], ${part.map(({ type }) => type)}::integer[],
        ${part.map(({ name }) => name)}::text[], ${part.map(({ ttl }) => ttl)}::integer[],
        ${part.map(({ rdata }) => `{${rdata.map((one) => `"\\\\x${Buffer.from(one).toString('hex')}"`).join()}}`)}::text[])
        w (name_key, type, name, ttl, rdata)
      on conflict (zone_id, name_key, type) do update set ttl = excluded.ttl, rdata = excluded.rdata`.execute(
      trx,
    )
  }
}

/** Has a zone signed by a new key from the next publication on. */
export async function enableSigning(
  db: Db,
  ring: KeyRing,
  zoneId: number,
  options: object = {},
): Promise<void> {
  const { algorithm, flags, tag, dnskey, privateSealed } = createKey(ring, zoneId, 13)
  await sql`
    insert into dns_keys (zone_id, algorithm, flags, tag, dnskey, private_sealed, state)
    values (${zoneId}, ${algorithm}, ${flags}, ${tag}, ${Buffer.from(dnskey)}, ${privateSealed}, 'active')`.execute(
    db,
  )
  await sql`
    update dns_zones set dnssec = 'pending_ds', dnssec_options = ${JSON.stringify(options)}::jsonb, resign_requested = now()
    where id = ${zoneId}`.execute(db)
}

/** Writes one version: removes and adds the sets of zone file lines. */
export async function writeZoneVersion(
  db: Db,
  zoneId: number,
  change: { readonly removed?: string; readonly added?: string },
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ name: ZoneName; version: number }>`
      update dns_zones set version = version + 1, touched = now(), status = 'updating' where id = ${zoneId}
      returning name, version::float8 as version`.execute(trx)
    const { name, version } = rows[0]!
    const removed = rrsetsOf(name, change.removed ?? '')
    const added = rrsetsOf(name, change.added ?? '')
    for (const set of removed)
      await sql`delete from dns_recordsets
        where zone_id = ${zoneId} and name_key = ${keyOf(set.name)} and type = ${set.type}`.execute(trx)
    await saveSets(trx, zoneId, added)
    await sql`
      insert into dns_versions (zone_id, version, actor, what, removed, added, removed_count, changed_count, added_count)
      values (${zoneId}, ${version}, 'test', 'recordset.update', ${encodeRrsets(removed)}, ${encodeRrsets(added)},
        ${removed.length}, 0, ${added.length})`.execute(trx)
    await wake(trx, 'dns')
    return version
  })
}
