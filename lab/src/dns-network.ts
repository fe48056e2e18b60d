// The DNS of the lab: a signed root, three followers of Pharos by different vendors, and a validating resolver, all on 127.0.0.1. Of Pharos it
// knows only the names of the settings.
import { join } from 'node:path'
import { freePort } from './address.ts'
import { startFollower, type Follower, type FollowerKey, type FollowerName } from './dns-follower.ts'
import { SignedParent } from './signed-parent.ts'
import { Unbound } from './unbound.ts'
import { unlessAborted } from './wait.ts'

/** From lab/platform.yaml: the key of all followers, and the names of NSD, BIND and Knot in NS records. */
export const labKey: FollowerKey = {
  name: 'transfer.lab.example.',
  algorithm: 'hmac-sha256',
  secret: Buffer.from('cGhhcm9zLWxhYi10cmFuc2ZlcnMtb25seS4uLi4uLi4=', 'base64'),
}
const nameServers = ['ns1.lab.example.', 'ns2.lab.example.', 'ns3.lab.example.'] as const
const followerNames = ['NSD', 'BIND', 'Knot'] as const satisfies readonly FollowerName[]

/** The zone that the root delegates, and that NSD is configured for: NSD of Debian 12 has no catalog zones. */
export const labZone = 'shop.example.'

/** TTL of the root, and the cache limit of the resolver, which DNSSEC waits for. */
const cacheSeconds = 2

export const labDnsPorts = { primary: 8053, root: 5300, NSD: 5301, BIND: 5302, Knot: 5303, resolver: 5304 }
type Ports = typeof labDnsPorts

export type DnsNetworkOptions = {
  /** The lab's folder, in which it creates its own. */
  readonly folder: string
  /** Uses the ports of `labDnsPorts`, and others only where another program has one. */
  readonly fixedPorts?: boolean
  /** Aborts the start, with all that it started. */
  readonly signal?: AbortSignal
}

/** Running name servers; created by `startDnsNetwork`. */
export class DnsNetwork {
  readonly folder: string
  readonly ports: Ports
  readonly root: SignedParent
  #followers: readonly Follower[] = []
  #resolver: Unbound | undefined

  constructor(folder: string, ports: Ports) {
    this.folder = folder
    this.ports = ports
    this.root = new SignedParent({
      folder: join(folder, 'root'),
      port: ports.root,
      zone: '.',
      ttl: cacheSeconds,
      records: nameServers.flatMap((server) => [`${labZone} NS ${server}`, `${server} A 127.0.0.1`]),
    })
  }

  get followers(): readonly Follower[] {
    return this.#followers
  }

  /** The settings with which Pharos is the primary of this network. */
  get settings(): Record<string, string> {
    const { root, primary } = this.ports
    return {
      PHAROS_DNS_LISTEN: `127.0.0.1:${primary}`,
      PHAROS_DNS_ROOTS: `127.0.0.1:${root}`,
      PHAROS_DNS_CACHE_SECONDS: String(cacheSeconds),
    }
  }

  async start(): Promise<void> {
    const { folder, ports, root } = this
    await root.start()
    const startOne = (name: (typeof followerNames)[number]): Promise<Follower> =>
      startFollower(name, {
        primary: { address: '127.0.0.1', port: ports.primary },
        key: labKey,
        folder: join(folder, name.toLowerCase()),
        port: ports[name],
        ...(name === 'NSD' ? { zones: [labZone] } : { zones: [], catalog: 'catalog.pharos.invalid.' }),
      })
    this.#followers = await Promise.all(followerNames.map(startOne))
    this.#resolver = new Unbound({
      folder: join(folder, 'unbound'),
      port: ports.resolver,
      anchor: root.anchor,
      zones: { '.': [ports.root], [labZone]: followerNames.map((name) => ports[name]) },
      cacheSeconds,
    })
    await this.#resolver.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.root.stop(), this.#resolver?.stop(), ...this.#followers.map((one) => one.stop())])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

export async function startDnsNetwork(options: DnsNetworkOptions): Promise<DnsNetwork> {
  const entries = Object.entries(labDnsPorts).map(async ([name, usual]) => [
    name,
    await freePort('127.0.0.1', options.fixedPorts ? usual : 0),
  ])
  const ports = Object.fromEntries(await Promise.all(entries)) as Ports
  const network = new DnsNetwork(join(options.folder, 'dns'), ports)
  try {
    await unlessAborted(network.start(), options.signal)
    return network
  } catch (error) {
    await network.stop()
    throw error
  }
}
