// Keys and the search of the PowerDNS-compatible API. Deleting the key of a zone disables DNSSEC by the rules of Pharos: never while
// the parent has DS records.
import type { Operation } from '../../operation/operation.ts'
import { fail, invalid, notFound } from '../../runtime/error.ts'
import type { Dnssec } from '@pharos/contract/dns/dnssec'
import { disableDnssec, enableDnssec, getDnssec, rollOverDnssecKey } from '../dnssec/request-dnssec.ts'
import { shownZoneName } from '../zone/zone-name.ts'
import { typeName } from '../../net/dns/type.ts'
import { cryptokeyOf } from './format.ts'
import { findComments, findRecords, findZonesLike, type Found } from './powerdns.store.ts'
import { parseZoneId, zoneIdOf } from './zone-id.ts'
import { requireServer, type PowerdnsDeps } from './zones.ts'

export async function listCryptokeys(deps: PowerdnsDeps, operation: Operation, server: string, id: string) {
  requireServer(server)
  return { body: (await keysOf(deps, operation, parseZoneId(id))).map((key) => cryptokeyOf(key, true)) }
}

async function keysOf(deps: PowerdnsDeps, operation: Operation, text: string): Promise<Dnssec['keys']> {
  const { body } = await getDnssec(deps, operation, text)
  // Keys of other signers are records of the zone, as in PowerDNS.
  return (body as Dnssec).keys.filter(({ managed }) => managed)
}

export type NewCryptokey = { readonly algorithm?: string | number; readonly content?: string }

const mnemonics: Readonly<Record<string, 'ECDSAP256SHA256' | 'ED25519'>> = {
  '13': 'ECDSAP256SHA256',
  ecdsa256: 'ECDSAP256SHA256',
  ecdsap256sha256: 'ECDSAP256SHA256',
  '15': 'ED25519',
  ed25519: 'ED25519',
}

/** Enables DNSSEC; for a signed zone starts the rollover to a new key. Throws `conflict` during a rollover. */
export async function createCryptokey(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  { algorithm = 13, content }: NewCryptokey,
) {
  requireServer(server)
  const text = parseZoneId(id)
  const known = mnemonics[String(algorithm).toLowerCase()]
  if (known === undefined || content !== undefined) throw invalid(['body', 'algorithm'], 'cryptokey')
  const before = (await getDnssec(deps, operation, text)).body as Dnssec
  if (before.status === 'disabled') await enableDnssec(deps, operation, text, { algorithm: known })
  else await rollOverDnssecKey(deps, operation, text)
  const keys = await keysOf(deps, operation, text)
  return { body: cryptokeyOf(keys.at(-1)!, true) }
}

/** Disables DNSSEC. Throws `not_found` for a key of another zone, and `conflict` during a rollover, which ends by itself. */
export async function deleteCryptokey(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  keyId: number,
): Promise<{ body: null }> {
  requireServer(server)
  const text = parseZoneId(id)
  const keys = await keysOf(deps, operation, text)
  if (!keys.some((key) => key.id === keyId)) throw notFound('key')
  if (keys.length > 1) throw fail('conflict', 'rolloverInProgress', { zone: shownZoneName(text as never) })
  await disableDnssec(deps, operation, text, { force: false, request_removal: false })
  return { body: null }
}

/** Returns one key; without its private key, which never leaves Pharos. */
export async function getCryptokey(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  keyId: number,
) {
  requireServer(server)
  const key = (await keysOf(deps, operation, parseZoneId(id))).find((one) => one.id === keyId)
  if (!key) throw notFound('key')
  return { body: cryptokeyOf(key, true) }
}

export type CryptokeyUpdate = { readonly active?: boolean; readonly published?: boolean }

/** Accepts the state that the key has: which keys sign and are published follows from the rollover. Throws `invalid` for another one. */
export async function updateCryptokey(
  deps: PowerdnsDeps,
  operation: Operation,
  server: string,
  id: string,
  keyId: number,
  given: CryptokeyUpdate,
): Promise<{ body: null }> {
  const { body: key } = await getCryptokey(deps, operation, server, id, keyId)
  for (const field of ['active', 'published'] as const)
    if (given[field] !== undefined && given[field] !== key[field])
      throw invalid(['body', field], 'cryptokeyState')
  return { body: null }
}

type SearchQuery = {
  readonly q: string
  readonly max: number
  readonly object_type: 'all' | 'zone' | 'record' | 'comment'
}

/** `*` is any text and `?` one character; a text without them is the whole name, record or comment. Upper and lower case are the same. */
export async function searchData(
  { postgres }: PowerdnsDeps,
  { actor }: Operation,
  server: string,
  { q, max, object_type: objectType }: SearchQuery,
) {
  requireServer(server)
  const pattern = likeOf(q)
  const isWanted = (type: typeof objectType): boolean => objectType === 'all' || objectType === type
  const [zones, records, comments] = await Promise.all([
    isWanted('zone') ? findZonesLike(postgres, actor.teamId, pattern, max) : [],
    isWanted('record') ? findRecords(postgres, actor.teamId, pattern, max) : [],
    isWanted('comment') ? findComments(postgres, actor.teamId, pattern, max) : [],
  ])
  const place = ({ zone, name, type, content }: Found) => ({
    zone_id: zoneIdOf(zone),
    zone,
    name,
    type: typeName(type),
    content,
  })
  const found = [
    ...zones.map(({ name }) => ({ object_type: 'zone', zone_id: zoneIdOf(name), name })),
    ...records.map((one) => ({ object_type: 'record', ...place(one), ttl: one.ttl, disabled: false })),
    ...comments.map((one) => ({ object_type: 'comment', ...place(one) })),
  ]
  return { body: found.slice(0, max) }
}

/** Names are compared without the final dot. */
const likeOf = (q: string): string =>
  q
    .replace(/(?<=.)\.$/, '')
    .replaceAll(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_')
