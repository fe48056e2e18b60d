// The scrubbers of the lab: a router with FlowSpec, and if the lab runs as root, a Linux host with nftables between two namespaces, through
// which packets really pass. softflowd on that host exports their flows.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FlowPacket } from '../../server/src/net/flow-match.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { createExportLink, startFlowExporter } from './flow-exporter.ts'
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
  /** Listen settings of Pharos for flows. */
  readonly settings: Readonly<Record<string, string>>
  [Symbol.asyncDispose](): Promise<void>
}

/** Prefixes of lab/platform.yaml, to which packets are forwarded. */
const prefixes = ['203.0.113.0/24', '2001:db8:a::/48'].map(parsePrefix)

/** Names and addresses match lab/platform.yaml. */
export async function startShieldNetwork(
  folder: string,
  platformFile: string,
  signal: AbortSignal,
): Promise<ShieldNetwork> {
  await using stack = new AsyncDisposableStack()
  const hasPath = skipWithoutNamespaces() === false && findProgram('nft') !== undefined
  const path = hasPath ? await createPacketPath(prefixes, 'pharos-lab') : undefined
  if (path) stack.defer(() => path.stop())
  const settings = path ? await startFlows(stack, path, folder, signal) : {}
  const flowspec = stack.use(
    await startFlowspecPeers({ folder, subnet: '127.0.40', fixedPorts: true, signal }),
  )
  const text = await readFile(platformFile, 'utf8')
  const own = join(folder, 'platform.yaml')
  // One scrubber is one line.
  await writeFile(own, hasPath ? text : text.replace(/^.*kind: nftables.*\n/m, ''))
  const disposal = stack.move()
  return { flowspec, path, platformFile: own, settings, [Symbol.asyncDispose]: () => disposal.disposeAsync() }
}

/** Usual traffic of the customer: 1.6 Mbit/s to its web server. */
const usual: FlowPacket = {
  source: parsePrefix('192.0.2.80/32'),
  destination: parsePrefix('203.0.113.80/32'),
  protocol: 17,
  sourcePort: 51_000,
  destinationPort: 443,
  packetLength: 1_000,
  dscp: 0,
  fragment: false,
}
const usualPacketsPerSecond = 200

/** Returns the setting with which Pharos receives the flows. */
async function startFlows(
  stack: AsyncDisposableStack,
  path: PacketPath,
  folder: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const { collector } = stack.use(await createExportLink(path.host, 'pharos-flows', '198.19.0'))
  const target = `${collector}:2055`
  const exporter = {
    folder: join(folder, 'softflowd'),
    namespace: path.host,
    device: 'in1',
    version: 10,
    target,
  } as const
  stack.use(await startFlowExporter({ ...exporter, signal }))
  const traffic = path.flood(usual, usualPacketsPerSecond)
  stack.defer(async () => void (await traffic.stop()))
  return { PHAROS_NETFLOW_LISTEN: target }
}

export function describeShield({ flowspec: { gobgpd, bird }, path }: ShieldNetwork): string {
  const [host, port] = gobgpd.apiAddress.split(':')
  const nft = path
    ? `  rules of the host, with hits ${path.nft.join(' ')} list table inet pharos_shield
  flows of its packets        softflowd exports them to 198.19.0.1:2055 (IPFIX): Traffic in the portal, about 10 s later
  packets to the customer     ip netns exec pharos-lab-sender ping 203.0.113.9        (nothing answers; they arrive at pharos-lab-receiver)
`
    : '  the host with nftables needs root: this lab is without it\n'
  return `Shield: a gobgpd of its own with a router, and a Linux host with nftables; their rules:
  rules of gobgpd             gobgp -u ${host} -p ${port} global rib -a ipv4-flowspec
  rules of the router         birdc -r -s ${bird.socket} show route all table flow4tab
${nft}`
}
