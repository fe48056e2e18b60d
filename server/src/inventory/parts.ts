// Wires the inventory: its operations, and the loops that read devices and check ASNs.
import { randomUUID } from 'node:crypto'
import { createDeviceSource } from '../drivers/device-sources.ts'
import { listSamples } from './collect/sampled-counters.store.ts'
import { DeviceCollector } from './collect/collector.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { openFilesMax } from '../runtime/open-files.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import type { Shared } from '../process/shared.ts'
import type { AsnProofDeps } from './holding/asn-proof.ts'
import type { AsnProofSources } from './holding/asn-proof-result.ts'
import { recheckAsns } from './holding/asn-recheck.ts'
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import { createLoop } from '../runtime/loop.ts'
import type { DeviceCredential } from './collect/device-driver.ts'
import type { SealedCredential } from './collect/collect.store.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { type KeyRing, open } from '../runtime/secrets.ts'

/** How often devices that are due are looked for. */
const intervalMs = 5_000
const closeMs = 600_000
/** Files and sockets for everything else. */
const otherFiles = 500

export type DevicesDeps = Pick<Shared, 'postgres' | 'log'> & {
  readonly config: Pick<Config, 'secret'>
}

export function createDeviceCollector({ config, postgres, log }: DevicesDeps): DeviceCollector {
  return new DeviceCollector({
    postgres,
    log,
    owner: randomUUID(),
    createSource: ({ sealed, ...device }) =>
      createDeviceSource({
        ...device,
        credential: sealed ? openDeviceCredential(config.secret, sealed) : null,
        readSamples: () => listSamples(postgres.owner, device.id),
        now: () => new Date(),
      }),
  })
}

export function devicesPart(shared: Shared): Component {
  const { log } = shared
  const collector = createDeviceCollector(shared)
  const loop = createLoopComponent(shared, {
    name: 'devices',
    sends: 'nothing',
    wakeName: 'devices',
    intervalMs,
    run: () => collector.startDue(),
  })
  const closing = createLoopComponent(shared, {
    name: 'unused-devices',
    sends: 'nothing',
    intervalMs: closeMs,
    async run() {
      const devices = await collector.closeUnused()
      const max = await openFilesMax()
      if (max !== undefined && devices + otherFiles > max)
        log.warn({ devices, max }, 'each device needs a socket: raise the limit of open files (ulimit -n)')
    },
  })
  return {
    name: loop.name,
    start() {
      loop.start()
      closing.start()
    },
    async stop() {
      await closing.stop()
      await loop.stop()
      await collector.stop()
    },
  }
}

export function asnProofDeps(shared: Shared): AsnProofDeps {
  const { config, postgres, log } = shared
  return {
    postgres,
    ring: config.secret,
    sources: createAsnProofSources(shared),
    allowDocumentationAsns: config.allowDocumentationResources,
    now: () => new Date(),
    onCheckError: (error) => log.error({ err: error }, 'ASN check failed; it is retried with the next one'),
  }
}

/** Leaves out the sources that are not configured, so that their methods are reported as such. */
function createAsnProofSources({ config, rpki, irr }: Shared): AsnProofSources {
  return {
    irr: config.irrSources.length > 0 ? irr : undefined,
    rpki: config.rpkiSources.length > 0 ? rpki : undefined,
    txt: createTxtResolver({ servers: config.dnsResolvers }),
  }
}

const hourMs = 3_600_000

/** Hourly, because each ASN is checked at its own time of day. */
export function asnProofsPart(shared: Shared): Component {
  const { log, metrics } = shared
  const deps = asnProofDeps(shared)
  return createLoop({
    name: 'asn-proofs',
    sends: 'nothing',
    intervalMs: hourMs,
    run: async (signal) => {
      const { checked, expired, failed } = await recheckAsns(deps, signal)
      if (checked > 0) log.info({ checked, expired, failed }, 'ASNs checked')
    },
    log,
    metrics,
  })
}

/** Throws a DriverError if a secret does not open: the device is reported as refused. A secret that is missing is empty, and the driver rejects the credential. */
export function openDeviceCredential(ring: KeyRing, row: SealedCredential): DeviceCredential {
  const secret = (sealed: Buffer | null) => (sealed === null ? '' : openSecret(ring, sealed, row.name))
  if (row.version === 'v2c') return { kind: 'v2c', community: secret(row.community_sealed) }
  return {
    kind: 'v3',
    user: row.user_name,
    auth: row.auth,
    authPassword: row.auth === null ? '' : secret(row.auth_sealed),
    privacy: row.privacy,
    privacyPassword: row.privacy === null ? '' : secret(row.privacy_sealed),
  }
}

function openSecret(ring: KeyRing, sealed: Buffer, name: string): string {
  try {
    return open(ring, 'device-credential', sealed, name).toString('utf8')
  } catch (cause) {
    throw new DriverError(
      'refused',
      `Credential ${name} cannot be decrypted with the keys of the installation.`,
      {
        cause,
      },
    )
  }
}
