// DNSSEC of a zone in the API: keys, DS records to enter, DS records of the parent, and the next step.
import type { Dnssec, DnssecKey } from '@pharos/contract/dns/dnssec'
import { dnssecReasonText } from '@pharos/contract/reason/dnssec-reason'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { etagOf } from '../../operation/etag.ts'
import { algorithmNames, isAlgorithm } from '../sign/algorithm.ts'
import { decodeDnskey, dsOf, isDnskey, keyFlags, keyTagOf } from '../sign/dnskey.ts'
import type { OtherKey, StoredDnssec, StoredKey } from './dnssec.store.ts'
import { defaultKeyTtl } from './facts.ts'
import { defaultWaits, parentRequestOf, unsignedAfter, type Waits } from '../sign/key-state.ts'

export function presentDnssec(dnssec: StoredDnssec, now: Date, waits: Waits = defaultWaits): Dnssec {
  const { name, status, options, keys, parent } = dnssec
  const otherKeys = dnssec.otherKeys.filter(({ dnskey }) => isDnskey(dnskey))
  const isSigned = status !== 'disabled'
  const wanted = wantedKeys(dnssec)
  return {
    status,
    algorithm: isSigned && keys.length > 0 ? mnemonicOf(keys.at(-1)!.algorithm) : null,
    signer: dnssec.signer,
    nsec3: isSigned && (options.nsec3 ?? false),
    keys: isSigned
      ? [...keys.map((key) => keyOf(name, key, keys)), ...otherKeys.map((key) => otherKeyOf(name, key))]
      : [],
    ds_records: wanted.flatMap((key) => dsTexts(name, key)),
    publish_after: publishAfter(dnssec, now, waits)?.toISOString() ?? null,
    parent: {
      ds_present: parent?.isAnswered ? parent.hasDs : null,
      ds_matches: parent?.isAnswered ? parent.dsEverywhere.length > 0 : null,
      ds_records: parent?.ds.map((octets) => printRdata(recordType.DS, octets)) ?? [],
      checked: parent ? new Date(parent.checked * 1000).toISOString() : null,
    },
    cds_published: options.cds !== false && parentRequestOf(dnssec).request !== 'none',
    next_rollover: null,
    unsigned_after: removalTime(dnssec, waits),
    reason: dnssec.reason === null ? null : dnssecReasonText(dnssec.reason),
  }
}

/** Removes keys that a dry run created: the key is not stored, so its DS record must not be entered. */
export function withoutNewKeys(after: Dnssec, before: Dnssec): Dnssec {
  const known = new Set(before.keys.map(({ id }) => id))
  const added = after.keys.filter(({ id }) => !known.has(id)).flatMap(({ ds }) => ds)
  return {
    ...after,
    keys: after.keys.filter(({ id }) => known.has(id)),
    ds_records: after.ds_records.filter((ds) => !added.includes(ds)),
  }
}

/** The part that a request can change. */
export const dnssecEtag = ({ status, algorithm, nsec3, keys, cds_published: cds }: Dnssec): string =>
  etagOf({ status, algorithm, nsec3, cds, keys: keys.map(({ id, state }) => [id, state]) })

/** The keys whose DS records the parent should have: new ones as long as there is no other. */
function wantedKeys({ status, keys }: StoredDnssec): readonly StoredKey[] {
  if (status === 'disabled' || status === 'pending_disabled') return []
  const withFlag = keys.filter(({ flags }) => (flags & keyFlags.secureEntryPoint) !== 0)
  const active = withFlag.filter(({ state }) => state === 'active')
  return active.length > 0 ? active : withFlag
}

/** Null if the DS records may be entered now. Before all name servers have the signed zone, the time is the earliest possible. */
function publishAfter({ status, keys, zoneTtl }: StoredDnssec, now: Date, waits: Waits): Date | undefined {
  if (status !== 'signing' || keys.length === 0) return undefined
  const introduced = keys.map((key) => key.introduced ?? now.getTime() / 1000)
  const wait = waits.introduce({ zoneTtl: zoneTtl ?? 0, keyTtl: defaultKeyTtl })
  return new Date((Math.max(...introduced) + wait) * 1000)
}

function removalTime({ status, parent, propagation }: StoredDnssec, waits: Waits): string | null {
  if (status !== 'pending_disabled' || !parent) return null
  const keyTtl = parent.keyTtlMax ?? defaultKeyTtl
  const time = unsignedAfter({ keyTtl, propagation }, parent, waits)
  return time === undefined ? null : new Date(time * 1000).toISOString()
}

function keyOf(zone: ZoneName, key: StoredKey, all: readonly StoredKey[]): DnssecKey {
  const { id, tag, flags, algorithm, dnskey, state, created } = key
  const isEntry = (flags & keyFlags.secureEntryPoint) !== 0
  const hasZsk = all.some(
    (other) => other.algorithm === algorithm && (other.flags & keyFlags.secureEntryPoint) === 0,
  )
  return {
    id,
    key_tag: tag,
    flags,
    keytype: isEntry ? (hasZsk ? 'ksk' : 'csk') : 'zsk',
    algorithm: mnemonicOf(algorithm),
    dnskey: printRdata(recordType.DNSKEY, dnskey),
    ds: isEntry ? dsTexts(zone, key) : [],
    managed: true,
    active: true,
    state: state as DnssecKey['state'],
    created: created.toISOString(),
  }
}

/** A key of another signer, which has it: here it is only published. */
function otherKeyOf(zone: ZoneName, { dnskey, created }: OtherKey): DnssecKey {
  const { flags, algorithm } = decodeDnskey(dnskey)
  const isEntry = (flags & keyFlags.secureEntryPoint) !== 0
  return {
    id: null,
    key_tag: keyTagOf(dnskey),
    flags,
    keytype: isEntry ? 'ksk' : 'zsk',
    algorithm: mnemonicOf(algorithm),
    dnskey: printRdata(recordType.DNSKEY, dnskey),
    ds: isEntry ? dsTexts(zone, { dnskey }) : [],
    managed: false,
    active: false,
    state: 'active',
    created: created.toISOString(),
  }
}

const mnemonicOf = (algorithm: number): string =>
  isAlgorithm(algorithm) ? algorithmNames[algorithm] : String(algorithm)

const dsTexts = (zone: ZoneName, { dnskey }: Pick<StoredKey, 'dnskey'>): string[] =>
  ([2, 4] as const).map((digest) => printRdata(recordType.DS, dsOf(zone, dnskey, digest)))
