// A gobgpd with its own FlowSpec sessions, and a BIRD as its router: the tables flow4tab and flow6tab are the proof of
// rules.
import { mkdtemp, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, randomSubnet, requireFreePort } from './address.ts'
import { Bird } from './bird.ts'
import { flowspecFamilies, Gobgpd } from './gobgpd.ts'
import { unlessAborted, waitFor } from './wait.ts'

export type FlowspecOptions = {
  /** Default: a separate folder, which is removed at the end. */
  readonly folder?: string
  /** Like `127.0.40`; a random one by default. */
  readonly subnet?: string
  /** Fails if a port other than 50051 (API) and 17900 (BGP) would have to be used. */
  readonly fixedPorts?: boolean
  readonly signal?: AbortSignal
}

export type FlowspecPeers = {
  readonly gobgpd: Gobgpd
  readonly bird: Bird
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Resolves when the session is established. Both have the same ASN: rules from iBGP can be valid (RFC 9117). */
export async function startFlowspecPeers(options: FlowspecOptions = {}): Promise<FlowspecPeers> {
  const folder = options.folder
    ? join(options.folder, 'flowspec')
    : await mkdtemp(join(tmpdir(), 'pharos-flowspec-'))
  await mkdir(folder, { recursive: true })
  const port = async (address: string, preferred: number): Promise<number> => {
    if (!options.fixedPorts) return freePort(address, preferred)
    await requireFreePort(address, preferred)
    return preferred
  }
  const address = `${options.subnet ?? randomSubnet()}.1`
  const peerAddress = address.replace(/\.1$/, '.2')
  const peer = { address: peerAddress, port: await port(peerAddress, 17_900), asn: 64500 }
  const gobgpd = new Gobgpd({
    folder,
    address,
    apiPort: await port(address, 50_051),
    bgpPort: await port(address, 17_900),
    asn: 64500,
    neighbors: [peer],
    families: flowspecFamilies,
    deferralSeconds: 1,
  })
  const { bgpPort, asn } = gobgpd.options
  const bird = new Bird({ folder, ...peer, flowspec: true, neighbor: { address, port: bgpPort, asn } })
  const stop = async (): Promise<void> => {
    await Promise.all([gobgpd.stop(), bird.stop()])
    if (!options.folder) await rm(folder, { recursive: true, force: true })
  }
  const start = async (): Promise<void> => {
    await gobgpd.start()
    await bird.start()
    await waitFor('the session is established', () => bird.isEstablished())
  }
  try {
    await unlessAborted(start(), options.signal)
  } catch (error) {
    await stop()
    throw error
  }
  return { gobgpd, bird, stop, [Symbol.asyncDispose]: stop }
}
