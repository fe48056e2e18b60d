// Settings of a zone. The answer has a value for every setting; settings that the team has not changed have the provider's defaults.
import { Type, type Static } from 'typebox'
import { dnsAdmin, dnsReading, DomainNameText, ZoneInPath } from './term.ts'
import { route } from '../route.ts'
import { Component, Id, Optional, optionalFields, Strict } from '../scalar.ts'

/** Limits of the settings, in seconds. An expiry below 14 days would let zones vanish while the primary is down. */
export const settingLimits = {
  ttl: { minimum: 60, maximum: 86_400 },
  refresh: { minimum: 900, maximum: 86_400 },
  retry: { minimum: 300, maximum: 7_200 },
  expire: { minimum: 1_209_600, maximum: 2_419_200 },
  negative_ttl: { minimum: 60, maximum: 86_400 },
} as const

const Seconds = (name: keyof typeof settingLimits, description: string) =>
  Type.Integer({ ...settingLimits[name], description: `${description}, in seconds` })

const NotifyTarget = Component('NotifyTarget', {
  address: Type.String({ minLength: 2, maxLength: 45, description: 'IP address of the server' }),
  port: Optional(
    Type.Integer({ minimum: 1, maximum: 65_535, default: 53, description: 'port, 53 by default' }),
  ),
})

const soa = {
  rname: DomainNameText('mailbox of the person responsible, as a name: `hostmaster.example.com.`'),
  refresh: Seconds('refresh', 'how often secondary servers query the serial'),
  retry: Seconds('retry', 'after how long they repeat a failed query; less than `refresh`'),
  expire: Seconds('expire', 'after how long without contact they stop serving the zone'),
  negative_ttl: Seconds('negative_ttl', 'how long resolvers keep the answer that a name does not exist'),
}

const settings = {
  default_ttl: Seconds('ttl', 'TTL of record sets that are created without one'),
  minimum_ttl: Seconds('ttl', 'lowest TTL that record sets may have; at most `default_ttl`'),
  apex_ns_editable: Type.Boolean({
    description:
      'whether the team may change the NS records of the zone itself, which are never deleted; needs the permission of the provider',
  }),
  nameservers: Type.Array(DomainNameText('name of a name server'), {
    minItems: 1,
    maxItems: 13,
    description: 'names of the NS records of the zone itself',
  }),
  also_notify: Type.Array(NotifyTarget, {
    maxItems: 16,
    description: 'further servers to which NOTIFY is sent, signed with the first of `tsig_key_ids`',
  }),
  allow_transfer: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
    maxItems: 64,
    description: 'addresses and networks (CIDR) that may transfer the zone without a TSIG key',
  }),
  tsig_key_ids: Type.Array(Id, {
    maxItems: 16,
    description: 'TSIG keys with which the zone may be transferred',
  }),
  protect_delete: Type.Boolean({ description: 'the zone cannot be deleted while this is true' }),
  auto_ptr: Type.Boolean({
    description: 'write PTR records for A and AAAA records unless a request says otherwise',
  }),
  multi_signer: Type.Boolean({
    description: 'accept DNSKEY, CDS and CDNSKEY records of another signer (RFC 8901)',
  }),
  history_days: Type.Integer({
    minimum: 1,
    maximum: 3650,
    description: 'how long versions are kept, in days',
  }),
}

export const ZoneSettings = Component('ZoneSettings', {
  default_ttl: settings.default_ttl,
  minimum_ttl: settings.minimum_ttl,
  soa: Component('SoaSettings', soa, { description: 'fields of the SOA record' }),
  apex_ns_editable: settings.apex_ns_editable,
  nameservers: settings.nameservers,
  also_notify: settings.also_notify,
  allow_transfer: settings.allow_transfer,
  tsig_key_ids: settings.tsig_key_ids,
  protect_delete: settings.protect_delete,
  auto_ptr: settings.auto_ptr,
  multi_signer: settings.multi_signer,
  history_days: settings.history_days,
})
export type ZoneSettings = Static<typeof ZoneSettings>

export const ZoneSettingsUpdate = Component('ZoneSettingsUpdate', {
  ...optionalFields(settings),
  soa: Optional(
    Component('SoaSettingsUpdate', optionalFields(soa), { description: 'fields of the SOA record' }),
  ),
})
export type ZoneSettingsUpdate = Static<typeof ZoneSettingsUpdate>

export const getZoneSettingsRoute = route({
  name: 'getZoneSettings',
  group: 'DNS',
  method: 'GET',
  path: '/v3/dns/zones/{zone}/settings',
  summary: 'Get Zone Settings',
  description: 'Returns all settings of a zone, each with its value, given or default.',
  permission: { ...dnsReading, limitedBy: 'whole_zone' },
  params: Strict({ zone: ZoneInPath }),
  response: ZoneSettings,
  success: 200,
  conditional: true,
})

export const updateZoneSettingsRoute = route({
  name: 'updateZoneSettings',
  group: 'DNS',
  method: 'PUT',
  path: '/v3/dns/zones/{zone}/settings',
  summary: 'Update Zone Settings',
  description:
    "Replaces the settings of a zone. A missing field is reset to the provider's default: send what getZoneSettings returned, with " +
    'the change, and its ETag as `If-Match`. `minimum_ttl` applies to later changes; record sets with a lower TTL stay. The serial ' +
    'is raised if the SOA or NS records change.',
  permission: { ...dnsAdmin, limitedBy: 'whole_zone' },
  params: Strict({ zone: ZoneInPath }),
  body: ZoneSettingsUpdate,
  response: ZoneSettings,
  success: 200,
  errors: ['forbidden'],
  dryRun: true,
  conditional: true,
})

export const zoneSettingsRoutes = [getZoneSettingsRoute, updateZoneSettingsRoute]
