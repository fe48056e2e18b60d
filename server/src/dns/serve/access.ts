// The rights to transfer a zone and to send NOTIFY for it: followers of the platform file by their key, others by the settings of the zone. Pure.
import { parseAddress } from '../../net/address.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { tsigAlgorithms, type TsigAlgorithm, type TsigKey } from '../../net/dns/tsig.ts'
import { isAllowedFrom } from '../../limit/allowed-from.ts'
import { covers, hostPrefix, parsePrefix, type Prefix } from '../../net/prefix.ts'
import type { RequestPeer, TransferView } from '../answer/zone-source.ts'
import type { AccessRows } from './served.store.ts'

export type Access = {
  readonly findKey: (name: DomainName) => TsigKey | undefined
  /** Returns the view that the peer may transfer; undefined if it has no access. */
  readonly transferView: (zoneId: number, peer: RequestPeer) => TransferView | undefined
  /** Returns the id of the secondary zone of which the peer is a primary. */
  readonly notifiedZone: (zone: ZoneName, peer: RequestPeer) => number | undefined
}

/**
 * Compiles the rules. A follower with a key is identified by the key alone: its transfers may come from any address.
 * `open` opens the sealed secret of a key; a key that does not open, or has expired, is unknown. A limited key gets no
 * zone outside of its limit, even from an address that has access without a key.
 */
export function compileAccess(
  { followers, zones, keys, primaries }: AccessRows,
  open: (name: DomainName, sealed: Buffer) => Uint8Array | undefined,
  nowMs: () => number = Date.now,
): Access {
  const known = new Map<DomainName, KnownKey>()
  for (const {
    name,
    algorithm,
    secret_sealed,
    networks,
    expires,
    transfers,
    limited_to: limitedTo,
  } of keys) {
    const secret = open(name, secret_sealed)
    if (!secret || !isTsigAlgorithm(algorithm)) continue
    const rights = { networks, transfers: new Set(transfers), limitedTo: limitedTo && new Set(limitedTo) }
    known.set(name, { name, algorithm, secret, ...rights, expiresMs: expires?.getTime() ?? Infinity })
  }
  const viewByKey = new Map<DomainName, TransferView>()
  const viewByAddress = new Map<string, TransferView>()
  for (const { address, key, signing } of followers) {
    const view = signing === 'external' ? 'unsigned' : 'signed'
    if (key !== null) viewByKey.set(key, view)
    else if (address !== null) viewByAddress.set(address, view)
  }
  const settings = new Map(
    zones.map(({ id, networks, keys }) => [id, { keys: new Set(keys), networks: parseNetworks(networks) }]),
  )
  const primariesOf = Map.groupBy(primaries, ({ zone }) => zone)
  return {
    findKey(name) {
      const key = known.get(name)
      return key && key.expiresMs > nowMs() ? key : undefined
    },
    transferView(zoneId, { address, key }) {
      const follower = (key && viewByKey.get(key)) ?? viewByAddress.get(address)
      if (follower) return follower
      const own = settings.get(zoneId) ?? nobody
      const used = key === undefined ? undefined : known.get(key)
      if (used?.limitedTo?.has(zoneId) === false) return undefined
      const isByKey =
        used !== undefined &&
        (used.transfers.has(zoneId) || own.keys.has(used.name)) &&
        isAllowedFrom(used.networks, address)
      return isByKey || isWithin(address, own.networks) ? 'signed' : undefined
    },
    notifiedZone: (zone, { address, key }) =>
      primariesOf
        .get(zone)
        ?.find((primary) => (primary.key === null ? primary.address === address : primary.key === key))?.id,
  }
}

type KnownKey = TsigKey & {
  readonly networks: readonly string[]
  readonly transfers: ReadonlySet<number>
  readonly limitedTo: ReadonlySet<number> | null
  readonly expiresMs: number
}

const nobody = { keys: new Set<DomainName>(), networks: [] }

const isTsigAlgorithm = (text: string): text is TsigAlgorithm =>
  (tsigAlgorithms as readonly string[]).includes(text)

function parseNetworks(texts: readonly string[]): Prefix[] {
  return texts.map((text) => (text.includes('/') ? parsePrefix(text) : hostPrefix(parseAddress(text))))
}

function isWithin(address: string, networks: readonly Prefix[]): boolean {
  if (networks.length === 0) return false
  const host = hostPrefix(parseAddress(address))
  return networks.some((network) => covers(network, host))
}
