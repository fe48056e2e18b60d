// The scrubbers of the lab: a router with FlowSpec, and if the lab runs as root, a Linux host with nftables between two namespaces, through
// which packets really pass.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { type FlowspecPeers, startFlowspecPeers } from './flowspec-peers.ts'
import { skipWithoutNamespaces } from './namespace.ts'
import { createPacketPath, type PacketPath } from './packet-path.ts'
import { findProgram } from './program.ts'

export type ShieldNetwork = {
  readonly flowspec: FlowspecPeers
  /** Undefined unless namespaces can be created. */
  readonly path: PacketPath | undefined
  /** The platform file without the scrubbers that do not run. */
  readonly platformFile: string
  [Symbol.asyncDispose](): Promise<void>
}

/** Prefixes of lab/platform.yaml, to which packets are forwarded. */
const prefixes = ['203.0.113.0/24', '2001:db8:a::/48'].map(parsePrefix)

/** Names and addresses are those of lab/platform.yaml. */
export async function startShieldNetwork(
  folder: string,
  platformFile: string,
  signal: AbortSignal,
): Promise<ShieldNetwork> {
  await using stack = new AsyncDisposableStack()
  const hasPath = skipWithoutNamespaces() === false && findProgram('nft') !== undefined
  const path = hasPath ? await createPacketPath(prefixes, 'pharos-lab') : undefined
  if (path) stack.defer(() => path.stop())
  const flowspec = stack.use(
    await startFlowspecPeers({ folder, subnet: '127.0.40', fixedPorts: true, signal }),
  )
  const text = await readFile(platformFile, 'utf8')
  const own = join(folder, 'platform.yaml')
  // One scrubber is one line.
  await writeFile(own, hasPath ? text : text.replace(/^.*kind: nftables.*\n/m, ''))
  const disposal = stack.move()
  return { flowspec, path, platformFile: own, [Symbol.asyncDispose]: () => disposal.disposeAsync() }
}

export function describeShield({ flowspec: { gobgpd, bird }, path }: ShieldNetwork): string {
  const [host, port] = gobgpd.apiAddress.split(':')
  const nft = path
    ? `  rules of the host, with hits ${path.nft.join(' ')} list table inet pharos_shield
  packets to the customer     ip netns exec pharos-lab-sender ping 203.0.113.9        (nothing answers; they arrive at pharos-lab-receiver)
`
    : '  the host with nftables needs root: this lab is without it\n'
  return `Shield: a gobgpd of its own with a router, and a Linux host with nftables; their rules:
  rules of gobgpd             gobgp -u ${host} -p ${port} global rib -a ipv4-flowspec
  rules of the router         birdc -r -s ${bird.socket} show route all table flow4tab
${nft}`
}
