// The observed half of the state table: the zones on name servers, and whether the published signatures are valid.
import { createPrivateKey } from 'node:crypto'
import { sql } from 'kysely'
import type { Trx } from '../../db/postgres.ts'
import { sameRdata, type SignedRrset } from '../../net/dns/record.ts'
import { isNewer, toSerial } from '../../net/dns/serial.ts'
import { recordType } from '../../net/dns/type.ts'
import { open, type KeyRing } from '../../runtime/secrets.ts'
import { servedRows } from '../sign/served-rows.ts'
import { isDnskey } from '../sign/dnskey.ts'
import { isValidRrset } from '../sign/signature.ts'
import type { StoredDnssec } from './dnssec.store.ts'
import { keyContext } from './key.ts'
import type { DnssecFacts } from '../sign/key-state.ts'

/** TTL of DNSKEY, CDS and CDNSKEY in seconds. */
export const defaultKeyTtl = 3600

/** The facts, and the serial from which on the current keys are published; null before. */
export type ReadFacts = { readonly facts: DnssecFacts; readonly keysSerial: number | null }

/** Reads the facts of a zone with DNSSEC. */
export async function readFacts(
  trx: Trx,
  ring: KeyRing,
  dnssec: StoredDnssec,
  now: number,
): Promise<ReadFacts> {
  const { zoneId, name, keys, otherKeys, parent } = dnssec
  const apex = (await servedRows(trx, zoneId).at([name])).get(name) ?? []
  const dnskey = apex.find(({ type }) => type === recordType.DNSKEY)
  const isPublished =
    !dnssec.isResignRequested &&
    dnskey !== undefined &&
    sameRdata(
      dnskey.rdata,
      [...keys, ...otherKeys].map((key) => key.dnskey),
    )
  const keysSerial = isPublished ? (dnssec.keysSerial ?? dnssec.serial) : null
  const facts: DnssecFacts = {
    isServed: keysSerial !== null && (await isServedEverywhere(trx, zoneId, keysSerial)),
    canSign: await canOpen(trx, ring, zoneId),
    isValid: !dnskey || isValidApex(apex, dnskey, now),
    zoneTtl: await readTtlMax(trx, zoneId),
    keyTtl: Math.max(dnskey?.ttl ?? defaultKeyTtl, parent?.keyTtlMax ?? 0),
    propagation: dnssec.propagation,
    parent,
  }
  return { facts, keysSerial }
}

/** Every key of the zone must sign the SOA, and the keys in the parent's DS records must sign DNSKEY. */
const isValidApex = (apex: readonly SignedRrset[], dnskey: SignedRrset, now: number): boolean =>
  apex
    .filter(({ type }) => type === recordType.SOA || type === recordType.DNSKEY)
    .every((set) => isValidRrset(set, dnskey.rdata.filter(isDnskey), now))

/**
 * Ignores servers that were never observed, servers outside of the catalog that do not have the zone, and servers that
 * sign themselves: they have no signatures of Pharos.
 */
async function isServedEverywhere(trx: Trx, zoneId: number, serial: number): Promise<boolean> {
  const { rows } = await sql<{ serial: number | null }>`
    select z.serial::float8 as serial from dns_servers s
    left join dns_server_zones z on z.server_id = s.id and z.zone_id = ${zoneId}
    where s.signing = 'pharos' and (s.catalog or z.state is distinct from 'absent')`.execute(trx)
  return rows.every((row) => row.serial !== null && !isNewer(toSerial(serial), toSerial(row.serial)))
}

async function readTtlMax(trx: Trx, zoneId: number): Promise<number> {
  const { rows } = await sql<{ ttl: number | null }>`
    select max(ttl) as ttl from dns_served where zone_id = ${zoneId}`.execute(trx)
  return rows[0]!.ttl ?? 0
}

async function canOpen(trx: Trx, ring: KeyRing, zoneId: number): Promise<boolean> {
  const { rows } = await sql<{ dnskey: Buffer; private_sealed: Buffer | null }>`
    select dnskey, private_sealed from dns_keys where zone_id = ${zoneId} and state <> 'removed'`.execute(trx)
  return rows.some(({ dnskey, private_sealed: sealed }) => {
    if (sealed === null) return false
    try {
      createPrivateKey({
        key: open(ring, 'dnssec-key', sealed, keyContext(zoneId, dnskey)),
        format: 'der',
        type: 'pkcs8',
      })
      return true
    } catch {
      return false
    }
  })
}
