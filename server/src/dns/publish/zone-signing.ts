// The opened keys that sign a zone, and the sets at the apex that publish them. States are decided elsewhere: a row
// contains the use of a key.
import { createPrivateKey } from 'node:crypto'
import type { DnssecState } from '@pharos/contract/dns/term'
import type { ZoneName } from '../../net/dns/name.ts'
import type { Rrset } from '../../net/dns/record.ts'
import { open, type KeyRing } from '../../runtime/secrets.ts'
import { isAlgorithm } from '../sign/algorithm.ts'
import { cdnskeyDelete, cdsDelete, dsOf, keyFlags } from '../sign/dnskey.ts'
import { keyContext } from '../dnssec/key.ts'
import { parentRequestOf } from '../sign/key-state.ts'
import { keySets, type ParentRequest } from '../sign/key-sets.ts'
import { defaultTimes, type SignatureSettings } from '../sign/signature.ts'
import type { SigningKey } from '../sign/signing-key.ts'
import type { PublishedKey, PublishedZone } from './publish.store.ts'

/** The signing of a published zone: `signing` is undefined for an unsigned zone. */
export type ZoneSigning = {
  readonly signing: SignatureSettings | undefined
  /** The sets of our keys at the apex. */
  readonly keySets: readonly Rrset[]
  /**
   * Whether the rdata of DNSKEY, CDS or CDNSKEY belongs to a current or former key of Pharos; the rest belongs to other
   * signers (RFC 8901).
   */
  readonly isOwn: (rdata: Uint8Array) => boolean
}

/** No key of a signed zone opens: its signatures stay as they are, and no new key is made. */
export class KeysNotReadable extends Error {}

const keyTtl = 3600

/** Returns how the zone is signed now. Throws KeysNotReadable. */
export function zoneSigningOf(
  ring: KeyRing,
  { id, name, dnssec, dnssecOptions, keys: all }: PublishedZone,
  nowSeconds: number,
): ZoneSigning {
  const isOwn = ownRdata(
    name,
    all.map(({ dnskey }) => dnskey),
  )
  const rows = all.filter(({ state }) => state !== 'removed')
  if (rows.length === 0) return { signing: undefined, keySets: [], isOwn }
  const options = dnssecOptions as { nsec3?: boolean; cds?: boolean }
  const keys = rows.flatMap((row) => openKey(ring, id, row))
  if (keys.length === 0) throw new KeysNotReadable(`no key of ${name} can be opened`)
  const signing: SignatureSettings = {
    zone: name,
    keys: withKinds(keys),
    denial: options.nsec3 === true ? 'nsec3' : 'nsec',
    now: nowSeconds,
    times: defaultTimes,
  }
  const dnskeys = rows.map(({ dnskey }) => Uint8Array.from(dnskey))
  return {
    signing,
    isOwn,
    keySets: keySets(name, dnskeys, parentRequest(dnssec as DnssecState, options, rows), keyTtl),
  }
}

function ownRdata(zone: ZoneName, dnskeys: readonly Uint8Array[]): ZoneSigning['isOwn'] {
  const keys = dnskeys.map((octets) => Uint8Array.from(octets))
  const hexOf = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')
  const cds = keys.flatMap((dnskey) => [dsOf(zone, dnskey, 2), dsOf(zone, dnskey, 4)])
  const own = new Set([...keys, ...cds, cdsDelete, cdnskeyDelete].map(hexOf))
  return (rdata) => own.has(hexOf(rdata))
}

/** The request in CDS and CDNSKEY: the state table decides, unless the team does not want them. */
function parentRequest(
  status: DnssecState,
  { cds }: { cds?: boolean },
  rows: readonly PublishedKey[],
): ParentRequest {
  if (cds === false) return { request: 'none' }
  const wanted = parentRequestOf({ status, keys: rows })
  if (wanted.request !== 'keys') return wanted
  const entries = rows.filter(
    ({ id, flags }) => wanted.ids.includes(id) && (flags & keyFlags.secureEntryPoint) !== 0,
  )
  return { request: 'keys', dnskeys: entries.map(({ dnskey }) => Uint8Array.from(dnskey)) }
}

type OpenKey = Omit<SigningKey, 'kind'> & { readonly flags: number }

function openKey(ring: KeyRing, zoneId: number, row: PublishedKey): OpenKey[] {
  const { algorithm, flags, tag, dnskey, privateSealed: sealed } = row
  if (sealed === null || !isAlgorithm(algorithm)) return []
  try {
    const der = open(ring, 'dnssec-key', sealed, keyContext(zoneId, dnskey))
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    return [{ algorithm, tag, flags, dnskey: Uint8Array.from(dnskey), privateKey }]
  } catch {
    return []
  }
}

/** A key with the flag SEP is a CSK, unless the zone also has a key without it of the same algorithm: then it is a KSK. */
function withKinds(keys: readonly OpenKey[]): SigningKey[] {
  const isZsk = ({ flags }: OpenKey): boolean => (flags & keyFlags.secureEntryPoint) === 0
  return keys.map(({ flags, ...key }) => {
    const hasZsk = keys.some((other) => isZsk(other) && other.algorithm === key.algorithm)
    const kind = isZsk({ ...key, flags }) ? 'zsk' : hasZsk ? 'ksk' : 'csk'
    return { ...key, kind }
  })
}
