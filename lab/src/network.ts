// A small real network on one machine: per region a gobgpd and a BIRD neighbor. It does not know Pharos, so that tests of the driver
// and of the server, and the bench, can use it.
import { mkdtemp, rm, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireFreePort, freePort, randomSubnet } from './address.ts'
import { Bird } from './bird.ts'
import type { BirdLog } from './bird-log.ts'
import type { BirdRoute } from './bird-routes.ts'
import { Gobgpd } from './gobgpd.ts'
import { unlessAborted, waitFor } from './wait.ts'

export type LabOptions = {
  /** Number of regions, or their names; two by default. */
  readonly regions?: number | readonly string[]
  /** One subnet of loopback per region, like `127.0.10`; random ones by default, so that labs do not collide. */
  readonly subnets?: readonly string[]
  /** Fails if a port other than 50051 (API) and 17900 (BGP) would have to be used. */
  readonly fixedPorts?: boolean
  readonly deferralSeconds?: number
  /** BIRD's hold time: the smaller value of both sides counts. */
  readonly holdSeconds?: number
  /** Restarts a gobgpd that dies, immediately and with `-r`; true by default. */
  readonly supervise?: boolean
  /** Prefixes that every BIRD announces to its gobgpd. */
  readonly birdAnnounces?: readonly string[]
  /** Aborts the start, with all that it started. */
  readonly signal?: AbortSignal
}

export type LabRegion = {
  readonly name: string
  /** Address of gobgpd's API, to which the speaker of this region connects. */
  readonly apiAddress: string
  readonly asn: number
  readonly peerAsn: number
  /** An IPv6 next hop for its routes: the session runs over IPv4 and does not provide it. */
  readonly nextHop6: string
  readonly gobgpd: Gobgpd
  readonly bird: Bird
}

const names = ['ams', 'fra', 'lon', 'nyc'] as const
const labAsn = 64500

/**
 * Starts the network and resolves when every session is established. `await using lab = await createLab()` ends it.
 * With PHAROS_LAB_KEEP=1 its folder with all logs is kept.
 */
export async function createLab(options: LabOptions = {}): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-lab-'))
  const lab = new Lab(folder)
  try {
    await unlessAborted(lab.start(options), options.signal)
    return lab
  } catch (error) {
    await lab.stop()
    throw error
  }
}

/** A running network; created by `createLab`. */
export class Lab {
  readonly folder: string
  #regions: readonly LabRegion[] = []

  constructor(folder: string) {
    this.folder = folder
  }

  get regions(): readonly LabRegion[] {
    return this.#regions
  }

  async start(options: LabOptions): Promise<void> {
    const { regions = 2 } = options
    const list = typeof regions === 'number' ? names.slice(0, regions) : regions
    this.#regions = await Promise.all(list.map((name, at) => buildRegion(this.folder, name, at, options)))
    await Promise.all(this.#regions.map(startRegion))
  }

  /** Throws on an unknown name. */
  region(name: string): LabRegion {
    const region = this.#regions.find((region) => region.name === name)
    if (!region) throw new Error(`the lab has no region ${name}`)
    return region
  }

  /** Current routes of the region's neighbor. */
  birdRoutes(name: string): Promise<BirdRoute[]> {
    return this.region(name).bird.routes()
  }

  /** Changes received by the region's neighbor from now on, each with its time. */
  watchBirdRoutes(name: string): BirdLog {
    return this.region(name).bird.watch()
  }

  /** Resolves when it has ended, and in a supervised lab when its successor answers. */
  killGobgpd(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    return this.region(name).gobgpd.kill(signal)
  }

  /** Restarts it with `-r`, as a supervisor does. For labs that are not supervised. */
  startGobgpd(name: string): Promise<void> {
    return this.region(name).gobgpd.start({ restarted: true })
  }

  async stop(): Promise<void> {
    await Promise.all(this.#regions.flatMap(({ gobgpd, bird }) => [gobgpd.stop(), bird.stop()]))
    if (process.env['PHAROS_LAB_KEEP'] !== '1')
      await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

async function buildRegion(
  labFolder: string,
  name: string,
  at: number,
  options: LabOptions,
): Promise<LabRegion> {
  const folder = join(labFolder, name)
  await mkdir(folder)
  const subnet = options.subnets?.[at] ?? randomSubnet()
  const [own, peer] = [`${subnet}.1`, `${subnet}.2`]
  const port = options.fixedPorts ? requireFreePort : freePort
  const [apiPort, bgpPort, peerPort] = await Promise.all([
    port(own, 50_051),
    port(own, 17_900),
    port(peer, 17_900),
  ])
  const peerAsn = labAsn + 1 + at
  const gobgpd = new Gobgpd({
    folder,
    address: own,
    bgpPort,
    apiPort,
    asn: labAsn,
    neighbors: [{ address: peer, port: peerPort, asn: peerAsn }],
    supervise: options.supervise ?? true,
    ...(options.deferralSeconds === undefined ? {} : { deferralSeconds: options.deferralSeconds }),
  })
  const bird = new Bird({
    folder,
    address: peer,
    port: peerPort,
    asn: peerAsn,
    neighbor: { address: own, port: bgpPort, asn: labAsn },
    ...(options.holdSeconds === undefined ? {} : { holdSeconds: options.holdSeconds }),
    ...(options.birdAnnounces ? { announces: options.birdAnnounces } : {}),
  })
  const nextHop6 = `2001:db8::${at + 1}`
  return { name, apiAddress: gobgpd.apiAddress, asn: labAsn, peerAsn, nextHop6, gobgpd, bird }
}

async function startRegion({ name, gobgpd, bird }: LabRegion): Promise<void> {
  await Promise.all([gobgpd.start(), bird.start()])
  await waitFor(`the session of ${name} is established`, () => bird.isEstablished())
}
