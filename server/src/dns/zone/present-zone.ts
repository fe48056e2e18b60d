// Zones, record sets and their differences as answers show them.
import type { StateMessage } from '@pharos/contract/reason/state-message'
import { changesShownMax, type RecordSet } from '@pharos/contract/dns/recordset'
import type { Zone as Wire, ZoneServer } from '@pharos/contract/dns/zone'
import { stateMessageText } from '@pharos/contract/reason/state-message'
import { relativeName } from '../../net/dns/name.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import { etagOf } from '../../operation/etag.ts'
import type { StoredSet, ZoneDifference } from './zone-change.ts'
import type { ShownZone } from './zone.store.ts'
import { shownZoneName } from './zone-name.ts'
import { zoneStatus } from './zone-status.ts'
import { rdataWithSerial, type DnsDefaults, type Zone } from './zone.ts'

export type ZoneIncludeQuery = { readonly include?: string }
export type ZoneInclude = {
  readonly servers: boolean
  readonly stateMessages: boolean
  readonly details: boolean
}

export function parseZoneInclude(text = ''): ZoneInclude {
  const names = text.split(',')
  return {
    servers: names.includes('servers'),
    stateMessages: names.includes('state_messages'),
    details: names.includes('details'),
  }
}

/** Returns whether the rows of servers and primaries are needed. */
export const needsAll = (include: ZoneInclude): boolean => Object.values(include).includes(true)

export function presentZone(zone: ShownZone, defaults: DnsDefaults, include: ZoneInclude): Wire {
  const assigned = zone.nameservers?.split('\n') ?? zone.settings.nameservers ?? [...defaults.nameservers]
  return {
    id: zone.id,
    name: shownZoneName(zone.name),
    kind: zone.kind,
    status: zone.shownStatus,
    serial: zone.published === null ? null : zone.serial,
    record_count: zone.recordCount,
    dnssec: zone.dnssec,
    nameservers: {
      assigned,
      delegated: zone.delegated ?? [],
      delegation_status: zone.delegationStatus ?? 'unknown',
      delegation_last_check: zone.delegationChecked?.toISOString() ?? null,
    },
    created: zone.created.toISOString(),
    touched: zone.touched.toISOString(),
    published: zone.published?.toISOString() ?? null,
    ...(include.servers ? { servers: serversOf(zone) } : {}),
    ...(include.stateMessages ? { state_messages: stateMessagesOf(zone, assigned) } : {}),
    ...(include.details ? { details: detailsOf(zone) } : {}),
  }
}

/**
 * The part before the dot covers values that callers change: content and settings. The rest follows from the name
 * servers and the parent.
 */
export const zoneEtag = (
  zone: Pick<Zone, 'version' | 'settingsVersion' | 'created' | 'deleted'>,
  beside?: object,
): string =>
  etagOf(
    [zone.version, zone.settingsVersion, zone.created.getTime(), zone.deleted?.getTime() ?? null],
    beside,
  )

const serversOf = ({ servers }: ShownZone): ZoneServer[] =>
  servers.map(({ name, region, serial, state, since, checked }) => ({
    name,
    region,
    serial,
    state,
    since: since.toISOString(),
    checked: checked.toISOString(),
  }))

function detailsOf(zone: ShownZone): NonNullable<Wire['details']> {
  const primaries = zone.primaries ?? []
  return {
    version: zone.version,
    published_version: zone.publishedVersion,
    recordset_count: zone.recordsetCount,
    reverse: zone.isReverse,
    generated: zone.isGenerated,
    primaries: primaries.map(({ address, port = 53 }) => ({ address, port })),
    tsig_key_id: primaries[0]?.tsig_key_id ?? null,
    deleted: zone.deleted?.toISOString() ?? null,
  }
}

function stateMessagesOf(zone: ShownZone, assigned: readonly string[]): StateMessage[] {
  const { reasons } = zoneStatus({
    publication: { status: zone.status, reason: zone.reason, attrs: zone.attrs ?? serverAttrs(zone) },
    dnssec: { state: zone.dnssec, reason: zone.dnssecReason },
    delegation: {
      status: zone.delegationStatus ?? 'unknown',
      wasDelegated: zone.wasDelegated,
      assigned,
      delegated: zone.delegated ?? [],
    },
    deletion: zone.deletion,
    failingAliases: zone.failingAliases ?? [],
  })
  return reasons.map(({ tag, severity, attrs }) => ({
    severity,
    tag,
    message: stateMessageText(tag, attrs),
    attrs,
    timestamp: zone.touched.toISOString(),
  }))
}

function serverAttrs({ servers }: ShownZone): { serving: number; total: number; servers: string[] } {
  const behind = servers.filter(({ state }) => state !== 'serving')
  return {
    serving: servers.length - behind.length,
    total: servers.length,
    servers: behind.map(({ name }) => name),
  }
}

/** `withSource`: `include=source`. */
export function presentSet(zone: Zone, set: StoredSet, withSource = false): RecordSet {
  const name = relativeName(set.name, zone.name)
  const type = typeName(set.type)
  return {
    id: `${name}/${type}`,
    zone_id: zone.id,
    name,
    fqdn: set.name,
    type,
    ttl: set.ttl,
    records: recordsOf(zone, set),
    comment: set.comment,
    managed: set.source === 'system',
    created: set.created.toISOString(),
    touched: set.touched.toISOString(),
    ...(withSource ? { source: set.source } : {}),
  }
}

/** The stored SOA record has the serial 0. */
const recordsOf = ({ serial }: Zone, { type, rdata, content }: StoredSet): string[] =>
  type === recordType.SOA ? [printRdata(type, rdataWithSerial(rdata[0]!, serial ?? 0))] : content.split('\n')

/** A difference as answers show it: the first sets of each list, and their numbers. */
export function presentDifference(zone: Zone, { added, changed, removed }: ZoneDifference) {
  const present = (set: StoredSet) => presentSet(zone, set)
  return {
    added: added.slice(0, changesShownMax).map(present),
    changed: changed
      .slice(0, changesShownMax)
      .map(({ before, after }) => ({ before: present(before), after: present(after) })),
    removed: removed.slice(0, changesShownMax).map(present),
    added_count: added.length,
    changed_count: changed.length,
    removed_count: removed.length,
  }
}

/** The part of an audit entry that describes the change: ids, and the records of a few sets. */
export function auditedSets(zone: Zone, sets: readonly StoredSet[]): object {
  return Object.fromEntries(
    sets.slice(0, auditedMax).map((set) => {
      const { id, ttl, records } = presentSet(zone, set)
      return [id, { ttl, records: records.slice(0, auditedMax) }]
    }),
  )
}

/** Larger changes are in the history of the zone. */
const auditedMax = 20
