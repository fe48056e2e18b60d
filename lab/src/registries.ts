// The registries of the lab: an RTR cache over ROAs, and a routing registry, both over files that people and tests change. Of
// Pharos it knows only the names of the settings.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireFreePort, freePort, randomSubnet } from './address.ts'
import { IrrServer } from './irr-server.ts'
import { Stayrtr, type LabVrp } from './stayrtr.ts'
import { unlessAborted } from './wait.ts'

export type LabRegistriesOptions = {
  /** The lab's folder, in which they create their own. */
  readonly folder: string
  /** Subnet of loopback, like `127.0.30`; a random one by default. */
  readonly subnet?: string
  /** Fails if a port other than 8282 (RTR) and 4343 (IRR) would have to be used. */
  readonly fixedPorts?: boolean
  readonly vrps?: readonly LabVrp[]
  /** RPSL texts. */
  readonly objects?: readonly string[]
  /** Aborts the start, with all that it started. */
  readonly signal?: AbortSignal
}

/** Running registries; created by `startRegistries`. */
export class LabRegistries {
  readonly folder: string
  readonly stayrtr: Stayrtr
  readonly irr: IrrServer

  constructor(folder: string, stayrtr: Stayrtr, irr: IrrServer) {
    this.folder = folder
    this.stayrtr = stayrtr
    this.irr = irr
  }

  /** The settings with which Pharos uses them. */
  get settings(): Record<string, string> {
    const { stayrtr, irr } = this
    return {
      PHAROS_RPKI_SOURCES: `rtr://${stayrtr.options.address}:${stayrtr.options.port}`,
      PHAROS_IRR_SOURCES: `whois://${irr.options.address}:${irr.options.port}?sources=RIPE&sources=LAB`,
      PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true',
      PHAROS_PROVIDER_NAME: 'Example Net',
      PHAROS_PROVIDER_ASN: '64500',
    }
  }

  get vrpFile(): string {
    return join(this.folder, 'vrps.json')
  }

  get rpslFile(): string {
    return this.irr.options.file
  }

  async stop(): Promise<void> {
    await Promise.all([this.stayrtr.stop(), this.irr.stop()])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

export async function startRegistries(options: LabRegistriesOptions): Promise<LabRegistries> {
  const { subnet = randomSubnet(), fixedPorts = false, vrps = [], objects = [] } = options
  const folder = join(options.folder, 'registries')
  await mkdir(folder, { recursive: true })
  const address = `${subnet}.1`
  const port = fixedPorts ? requireFreePort : freePort
  const stayrtr = new Stayrtr({ folder, address, port: await port(address, 8282) })
  const file = join(folder, 'routes.rpsl')
  await writeFile(file, objects.map((object) => `${object}\n\n`).join(''))
  const irr = new IrrServer({ file, address, port: await port(address, 4343), sources: ['RIPE', 'LAB'] })
  const registries = new LabRegistries(folder, stayrtr, irr)
  try {
    await stayrtr.setVrps(vrps)
    await unlessAborted(Promise.all([stayrtr.start(), irr.start()]), options.signal)
    return registries
  } catch (error) {
    await registries.stop()
    throw error
  }
}
