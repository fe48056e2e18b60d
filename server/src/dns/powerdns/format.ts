// Zones, record sets and keys as PowerDNS 4.9 gives them. Pure. The shapes follow its API description; fields without a meaning here have
// the value of a server that does not use them.
import type { DnssecKey } from '@pharos/contract/dns/dnssec'
import type { Zone as Wire } from '@pharos/contract/dns/zone'
import { isIPv6 } from 'node:net'
import { parseName, type ZoneName } from '../../net/dns/name.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import { rdataWithSerial } from '../zone/zone.ts'
import type { StoredSet } from '../zone/zone-change.ts'
import { zoneIdOf } from './zone-id.ts'

const serverPath = '/api/v1/servers/localhost'
/** The first release with EXTEND and PRUNE: some clients choose their requests by it. */
export const reportedVersion = '4.9.12'

/** Fields that a client sets and reads back; see the column `dns_zones.powerdns`. */
export type PowerdnsOptions = {
  readonly kind?: 'Native' | 'Master'
  readonly account?: string
  readonly soa_edit_api?: string
}

export const server = {
  type: 'Server',
  id: 'localhost',
  daemon_type: 'authoritative',
  version: reportedVersion,
  url: serverPath,
  config_url: `${serverPath}/config{/config_setting}`,
  zones_url: `${serverPath}/zones{/zone}`,
}

/** A zone without its record sets. */
export function zoneInfo(
  { name: shown, kind, serial, dnssec, published, details }: Wire,
  options: PowerdnsOptions,
) {
  const name = parseName(`${shown}.`) as ZoneName
  const id = zoneIdOf(name)
  return {
    id,
    name,
    url: `${serverPath}/zones/${id}`,
    kind: kind === 'secondary' ? 'Slave' : (options.kind ?? 'Native'),
    dnssec: dnssec !== 'disabled',
    account: options.account ?? '',
    masters: (details?.primaries ?? []).map(printServer),
    serial: serial ?? 0,
    edited_serial: serial ?? 0,
    notified_serial: published === null ? 0 : (serial ?? 0),
    last_check: 0,
    catalog: '',
  }
}

type ServerAddress = { readonly address: string; readonly port?: number | undefined }

export const printServer = ({ address, port = 53 }: ServerAddress): string => {
  const host = isIPv6(address) && port !== 53 ? `[${address}]` : address
  return port === 53 ? host : `${host}:${port}`
}

/** Parses `192.0.2.1`, `192.0.2.1:5300`, `2001:db8::1` or `[2001:db8::1]:5300`; the operation checks the address. */
export function parseServer(text: string): { address: string; port?: number } {
  const [, bracketed, v4, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const address = bracketed ?? v4
  if (address === undefined) return { address: text }
  return port === undefined ? { address } : { address, port: Number(port) }
}

/** A zone with its record sets; undefined leaves them out. */
export const zoneWithSets = (
  zone: Wire,
  options: PowerdnsOptions,
  sets: readonly StoredSet[] | undefined,
) => ({
  ...zoneInfo(zone, options),
  api_rectify: true,
  soa_edit: '',
  soa_edit_api: options.soa_edit_api ?? 'DEFAULT',
  nsec3narrow: false,
  master_tsig_key_ids: [],
  slave_tsig_key_ids: [],
  ...(sets ? { rrsets: sets.map((set) => rrsetOf(set, zone.serial ?? 0)) } : {}),
})

function rrsetOf({ name, type, ttl, rdata, content, comment, touched }: StoredSet, serial: number) {
  const contents =
    type === recordType.SOA ? [printRdata(type, rdataWithSerial(rdata[0]!, serial))] : content.split('\n')
  return {
    name,
    type: typeName(type),
    ttl,
    records: contents.map((content) => ({ content, disabled: false })),
    comments:
      comment === ''
        ? []
        : [{ content: comment, account: '', modified_at: Math.floor(touched.getTime() / 1000) }],
  }
}

export const cryptokeyOf = (
  { id, active, keytype, flags, algorithm, dnskey, ds }: DnssecKey,
  isPublished: boolean,
) => ({
  type: 'Cryptokey',
  id,
  active,
  published: isPublished,
  keytype,
  flags,
  algorithm,
  bits: algorithm.startsWith('ECDSAP384') ? 384 : algorithm.startsWith('RSA') ? 2048 : 256,
  dnskey,
  ds,
})
