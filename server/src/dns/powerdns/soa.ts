// SOA records of clients of PowerDNS as settings of the zone. Pure.
import { settingLimits, type ZoneSettings, type ZoneSettingsUpdate } from '@pharos/contract/dns/settings'
import { nameFromWire, skipName, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { parseRdata, RdataError } from '../../net/dns/rdata/rdata.ts'
import { recordType } from '../../net/dns/type.ts'
import type { StoredSet } from '../zone/zone-change.ts'
import type { PowerDnsRrset, PowerDnsRrsetChange } from './rrset.ts'

export type SoaRecord = {
  readonly mname: DomainName
  readonly serial: number
  /** Times outside the limits of the settings are the nearest that they allow: PowerDNS has no limits, and an expiry of 7 days. */
  readonly soa: ZoneSettings['soa']
}

const isSoaOf = ({ name, type }: PowerDnsRrset, zone: ZoneName): boolean =>
  type.toUpperCase() === 'SOA' && name.toLowerCase() === zone

/** Parses the rdata of an SOA record. */
export function readSoa(rdata: Uint8Array): SoaRecord {
  const rnameAt = skipName(rdata, 0, rdata.length)
  const numbers = new DataView(rdata.buffer, rdata.byteOffset + rdata.length - 20)
  const within = (limits: { readonly minimum: number; readonly maximum: number }, at: number): number =>
    Math.min(Math.max(numbers.getUint32(at), limits.minimum), limits.maximum)
  return {
    mname: nameFromWire(rdata),
    serial: numbers.getUint32(0),
    soa: {
      rname: nameFromWire(rdata, rnameAt),
      refresh: within(settingLimits.refresh, 4),
      retry: within(settingLimits.retry, 8),
      expire: within(settingLimits.expire, 12),
      negative_ttl: within(settingLimits.negative_ttl, 16),
    },
  }
}

/**
 * Returns the settings that a change of the SOA record asks for. Undefined if it changes anything else, such as the TTL
 * or the name server; it is then rejected as a change of a managed set.
 */
export function soaSettings(
  change: PowerDnsRrsetChange,
  zone: ZoneName,
  stored: readonly StoredSet[],
  current: ZoneSettings['soa'],
): NonNullable<ZoneSettingsUpdate['soa']> | undefined {
  const before = stored.find(({ type }) => type === recordType.SOA)
  if (change.changetype !== 'REPLACE' || !before || !isSoaOf(change, zone)) return undefined
  const asked = findSoa(change)
  const isSame = (change.ttl ?? before.ttl) === before.ttl && asked?.mname === nameFromWire(before.rdata[0]!)
  if (!asked || !isSame) return undefined
  const fields = Object.entries(asked.soa) as [keyof ZoneSettings['soa'], string | number][]
  return Object.fromEntries(fields.filter(([field, value]) => current[field] !== value))
}

function findSoa({ records = [] }: PowerDnsRrset): SoaRecord | undefined {
  try {
    return records.length === 1 ? readSoa(parseRdata(recordType.SOA, records[0]!.content)) : undefined
  } catch (error) {
    if (error instanceof RdataError) return undefined
    throw error
  }
}
