// A zone as the operations know it: the row, its settings with the provider's defaults, and the records that follow from them.
import type { DnssecState } from '@pharos/contract/dns/term'
import type { ZoneSettings, ZoneSettingsUpdate } from '@pharos/contract/dns/settings'
import type { ZoneKind, ZoneStatus } from '@pharos/contract/dns/zone'
import { nameToWire, parseName, type ZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import type { DesiredSet } from './zone-change.ts'

export type Zone = {
  readonly id: number
  /** Null for a zone of the operator. */
  readonly teamId: number | null
  readonly name: ZoneName
  readonly kind: ZoneKind
  readonly status: ZoneStatus
  readonly isReverse: boolean
  readonly version: number
  readonly publishedVersion: number
  readonly serial: number | null
  readonly recordsetCount: number
  readonly recordCount: number
  /** Settings of the team; the rest are defaults. */
  readonly settings: ZoneSettingsUpdate
  readonly settingsVersion: number
  readonly dnssec: DnssecState
  readonly claimed: Date | null
  readonly created: Date
  readonly touched: Date
  readonly deleted: Date | null
  /** The time of the transaction that has read it. */
  readonly now: Date
}

/** Settings of zones and teams without their own value: the section `dns` of the platform file. */
export type DnsDefaults = {
  readonly hostmaster: string
  readonly defaultTtl: number
  readonly minimumTtl: number
  readonly refresh: number
  readonly retry: number
  readonly expire: number
  readonly negativeTtl: number
  readonly historyDays: number
  readonly zonesMax: number
  readonly recordsetsMax: number
  readonly aliasesMax: number
  readonly isApexNsEditable: boolean
  /**
   * Names of the provider's public name servers, in order; a name that does not exist if the provider has no server.
   */
  readonly nameservers: readonly string[]
}

/** Most record sets and ALIAS records of a zone. */
export type ZoneLimits = Pick<DnsDefaults, 'recordsetsMax' | 'aliasesMax'>

/** For changes that follow from others, which must not fail. */
export const withoutLimits: ZoneLimits = { recordsetsMax: Infinity, aliasesMax: Infinity }

/** Without a name server in the platform file, zones can still be edited, and the built-in server answers for them. */
export const noNameserver = 'ns.invalid.'

/** Returns all settings, each with the value of the zone or the default. */
export function resolveSettings(settings: ZoneSettingsUpdate, defaults: DnsDefaults): ZoneSettings {
  const { soa } = settings
  return {
    default_ttl: settings.default_ttl ?? Math.max(defaults.defaultTtl, settings.minimum_ttl ?? 0),
    minimum_ttl: settings.minimum_ttl ?? Math.min(defaults.minimumTtl, settings.default_ttl ?? Infinity),
    soa: {
      rname: soa?.rname ?? defaults.hostmaster,
      refresh: soa?.refresh ?? defaults.refresh,
      retry: soa?.retry ?? defaults.retry,
      expire: soa?.expire ?? defaults.expire,
      negative_ttl: soa?.negative_ttl ?? defaults.negativeTtl,
    },
    apex_ns_editable: settings.apex_ns_editable ?? defaults.isApexNsEditable,
    nameservers: settings.nameservers ?? [...defaults.nameservers],
    also_notify: settings.also_notify ?? [],
    allow_transfer: settings.allow_transfer ?? [],
    tsig_key_ids: settings.tsig_key_ids ?? [],
    protect_delete: settings.protect_delete ?? false,
    auto_ptr: settings.auto_ptr ?? false,
    multi_signer: settings.multi_signer ?? false,
    history_days: settings.history_days ?? defaults.historyDays,
  }
}

/**
 * Returns the SOA and NS records of the zone itself, as they follow from the settings. The serial of SOA is 0: that of the zone is put in its
 * place when it is shown and published.
 */
export function managedSets(name: ZoneName, settings: ZoneSettings): DesiredSet[] {
  const { soa, nameservers, default_ttl: ttl } = settings
  const servers = nameservers.map((server) => nameToWire(parseName(server)))
  const times = Buffer.alloc(20)
  for (const [i, seconds] of [0, soa.refresh, soa.retry, soa.expire, soa.negative_ttl].entries())
    times.writeUInt32BE(seconds, 4 * i)
  const rdata = Buffer.concat([servers[0]!, nameToWire(parseName(soa.rname)), times])
  return [
    { name, type: recordType.SOA, ttl, rdata: [new Uint8Array(rdata)], source: 'system' },
    { name, type: recordType.NS, ttl, rdata: servers, source: 'system' },
  ]
}

/** The serial of an SOA record follows its two names; the other four numbers follow it. */
const serialFromEnd = 20

/** Returns the rdata of an SOA record with another serial. */
export function rdataWithSerial(rdata: Uint8Array, serial: number): Uint8Array {
  const changed = Uint8Array.from(rdata)
  new DataView(changed.buffer).setUint32(changed.length - serialFromEnd, serial)
  return changed
}
