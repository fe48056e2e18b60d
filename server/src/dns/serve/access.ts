// Who may transfer a zone and send NOTIFY for it: followers of the platform file by their key, others by the settings of the zone. Pure.
import { parseAddress } from '../../net/address.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { tsigAlgorithms, type TsigAlgorithm, type TsigKey } from '../../net/dns/tsig.ts'
import { covers, hostPrefix, parsePrefix, type Prefix } from '../../net/prefix.ts'
import type { Peer, TransferView } from '../answer/zone-source.ts'
import type { AccessRows } from './served.store.ts'

export type Access = {
  readonly findKey: (name: DomainName) => TsigKey | undefined
  /** Returns what the peer may transfer of the zone; undefined for nothing. */
  readonly transferView: (zoneId: number, peer: Peer) => TransferView | undefined
  /** Returns the id of the secondary zone of which the peer is a primary. */
  readonly notifiedZone: (zone: ZoneName, peer: Peer) => number | undefined
}

/**
 * Compiles the rules. A follower with a key is known by the key alone: its transfers may come from any address. `open` opens the sealed
 * secret of a key; a key that does not open is unknown.
 */
export function compileAccess(
  { followers, zones, keys, primaries }: AccessRows,
  open: (name: DomainName, sealed: Buffer) => Uint8Array | undefined,
): Access {
  const known = new Map<DomainName, TsigKey>()
  for (const { name, algorithm, secret_sealed } of keys) {
    const secret = open(name, secret_sealed)
    if (secret && isTsigAlgorithm(algorithm)) known.set(name, { name, algorithm, secret })
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
    findKey: (name) => known.get(name),
    transferView(zoneId, { address, key }) {
      const follower = (key && viewByKey.get(key)) ?? viewByAddress.get(address)
      if (follower) return follower
      const own = settings.get(zoneId)
      if (!own) return undefined
      const isAllowed = (key && own.keys.has(key)) || isWithin(address, own.networks)
      return isAllowed ? 'signed' : undefined
    },
    notifiedZone: (zone, { address, key }) =>
      primariesOf
        .get(zone)
        ?.find((primary) => (primary.key === null ? primary.address === address : primary.key === key))?.id,
  }
}

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
