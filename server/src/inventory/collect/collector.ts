// Reads the devices that are due: a survey lists the interfaces, a poll reads their states. Each device is under a
// lease, so that any number of processes share the work. It makes no decisions: a device that does not answer costs one
// attempt and gets a state. Readings are queued while the database is down and saved later.
import type { Postgres, Trx } from '../../db/postgres.ts'
import { unlessAborted } from '../../runtime/abort.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { Failure } from '../../runtime/error.ts'
import type { Log } from '../../runtime/log.ts'
import {
  endLeases,
  extendLeases,
  leaseDevices,
  listCredentials,
  listReadDevices,
  saveDeviceFailure,
  saveDeviceObservations,
  type DueDevice,
  type PollFailure,
  type SealedCredential,
} from './collect.store.ts'
import type { DevicePart, DeviceSource } from './device-source.ts'
import { failureOf, readDevice, saveObservation, type PartFailure } from './observe.ts'
import { watchProgress, type ProgressLimits } from './watch-progress.ts'

/** Lease of a device in seconds; ends the lease of a crashed process. A longer reading extends its lease. */
const leaseSeconds = 135
const extendMs = 45_000
/** In total less than the 15 minutes that the increase of a counter may take. */
const readingLimits: ProgressLimits = { stallMs: 30_000, totalMs: 720_000 }
/** Devices that are read at the same time by one process. */
const devicesMax = 200
/** Delay after a poll without an answer. */
const retrySeconds = 60
/** A device that was silent for this many polls is polled every five minutes. */
const silentAfter = 3
const silentSeconds = 300

const notRead = { kind: 'protocol', text: 'its answer could not be read', isSilent: false }
const notSaved = { kind: 'protocol', text: 'its answer could not be saved', isSilent: false }

/** Writes a finished or failed reading. */
type Write = (trx: Trx) => Promise<void>
type Unsaved = { readonly device: LeasedDevice; readonly write: Write }

/** No connection, or all are in use: a retry may succeed. */
const isUnavailable = (error: unknown): boolean => error instanceof Failure && error.code === 'unavailable'

export type LeasedDevice = DueDevice & { readonly sealed: SealedCredential | undefined }

export type DeviceCollectorDeps = {
  readonly postgres: Postgres
  readonly log: Log
  /** Unique for each process. */
  readonly owner: string
  /** Undefined: the device cannot be read. */
  readonly createSource: (device: LeasedDevice) => DeviceSource | undefined
}

export class DeviceCollector {
  readonly #deps: DeviceCollectorDeps
  readonly #sources = new Map<number, { readonly config: string; readonly source: DeviceSource }>()
  readonly #reading = new Map<number, Promise<void>>()
  /** The last finished reading of each device that could not be saved for want of a connection. */
  readonly #unsaved = new Map<number, Unsaved>()
  #leasedMs = 0
  /** The texts of failed parts that were logged, by device and part. */
  readonly #logged = new Map<string, string>()
  readonly #stopped = new AbortController()

  constructor(deps: DeviceCollectorDeps) {
    this.#deps = deps
  }

  /** Starts to read the devices that are due and returns without waiting for them. */
  async startDue(): Promise<void> {
    await this.#saveUnsaved()
    await this.#extendLeases()
    const max = devicesMax - this.#reading.size
    if (max <= 0) return
    const { postgres, owner } = this.#deps
    const devices = await leaseDevices(postgres, { owner, seconds: leaseSeconds, max })
    const ids = devices.flatMap(({ credentialId }) => credentialId ?? [])
    const sealed = ids.length === 0 ? new Map() : await listCredentials(postgres, ids)
    for (const leased of devices) {
      const device = { ...leased, sealed: sealed.get(leased.credentialId ?? 0) }
      const done = this.#read(device)
        .catch((error: unknown) =>
          this.#deps.log.error({ err: error, device: device.name }, 'device not read'),
        )
        .finally(() => this.#reading.delete(device.id))
      this.#reading.set(device.id, done)
    }
  }

  /** Closes the sources of devices that are not read any more. Returns how many devices are. */
  async closeUnused(): Promise<number> {
    const ids = await listReadDevices(this.#deps.postgres.owner)
    for (const [id, { source }] of this.#sources) {
      if (ids.has(id) || this.#reading.has(id)) continue
      this.#sources.delete(id)
      await source.close()
    }
    return ids.size
  }

  /** Resolves once no device is being read. */
  async settle(): Promise<void> {
    await Promise.all(this.#reading.values())
  }

  /** Aborts running readings, and saves finished ones if the database answers. */
  async stop(): Promise<void> {
    this.#stopped.abort(new Error('the collector stops'))
    await this.settle()
    const { postgres, owner, log } = this.#deps
    await this.#saveUnsaved()
      .then(() => endLeases(postgres, owner))
      .catch((error: unknown) => log.warn({ err: error }, 'leases of devices end with their time'))
    await Promise.allSettled([...this.#sources.values()].map(({ source }) => source.close()))
  }

  async #read(device: LeasedDevice): Promise<void> {
    const write = await this.#observe(device).catch((error: unknown) => {
      if (this.#stopped.signal.aborted) return undefined
      const failure = failureOf(error)
      if (!failure) this.#deps.log.error({ err: error, device: device.name }, 'device not read')
      else this.#deps.log.debug({ device: device.name, ...failure }, 'device did not answer')
      return this.#failing(device, failure ?? notRead)
    })
    if (write) await this.#save(device, write)
  }

  /** Reads the due parts of a device, and returns a function that saves them. */
  async #observe(device: LeasedDevice): Promise<Write> {
    const source = this.#sourceOf(device)
    if (!source) throw new DriverError('protocol', `driver ${device.driver} cannot read devices`)
    using progress = watchProgress(() => source.answers(), readingLimits)
    const signal = AbortSignal.any([progress.signal, this.#stopped.signal])
    const observation = await unlessAborted(signal, readDevice(source, device, signal))
    return async (trx) => {
      await saveObservation(trx, device, observation)
      this.#logParts(device, observation.parts)
    }
  }

  #failing =
    (device: LeasedDevice, failure: PollFailure): Write =>
    (trx) =>
      saveDeviceFailure(trx, device.id, failure, { retrySeconds, silentSeconds, silentAfter })

  /**
   * Saves a reading and ends the lease. A reading that the database refuses ends it as well, as a failure: the next
   * poll includes its increase. Without a connection the reading stays queued.
   */
  async #save(device: LeasedDevice, write: Write): Promise<void> {
    const { postgres, owner, log } = this.#deps
    const keep = (kept: Write) => (error: unknown) => {
      if (!isUnavailable(error)) throw error
      this.#unsaved.set(device.id, { device, write: kept })
    }
    try {
      await saveDeviceObservations(postgres, device.id, owner, write).catch(keep(write))
    } catch (error) {
      log.error({ err: error, device: device.name }, 'device not saved')
      const failing = this.#failing(device, notSaved)
      await saveDeviceObservations(postgres, device.id, owner, failing).catch(keep(failing))
    }
  }

  /**
   * Stops at the first reading that cannot be saved. If the lease has ended in the meantime and the device was read
   * again, the newer reading is used.
   */
  async #saveUnsaved(): Promise<void> {
    for (const [id, { device, write }] of this.#unsaved) {
      this.#unsaved.delete(id)
      await this.#save(device, write)
      if (this.#unsaved.has(id)) return
    }
  }

  async #extendLeases(): Promise<void> {
    const now = performance.now()
    if (this.#reading.size === 0 || now - this.#leasedMs < extendMs) return
    this.#leasedMs = now
    const { postgres, owner } = this.#deps
    await extendLeases(postgres, owner, [...this.#reading.keys()], leaseSeconds)
  }

  /** Each failure once, until the part is read again. */
  #logParts({ id, name }: LeasedDevice, parts: ReadonlyMap<DevicePart, PartFailure | null>): void {
    for (const [part, failure] of parts) {
      const key = `${id} ${part}`
      if (this.#logged.get(key) === failure?.text) continue
      if (failure === null) {
        this.#logged.delete(key)
        this.#deps.log.info({ device: name, part }, 'part of a device read again')
        continue
      }
      const { kind, text, error } = failure
      this.#logged.set(key, text)
      this.#deps.log.warn({ device: name, part, kind, reason: text, err: error }, 'part of a device not read')
    }
  }

  /** A source is kept open until the settings of its device change. */
  #sourceOf(device: LeasedDevice): DeviceSource | undefined {
    const { name, driver, settings, address, sealed } = device
    const config = JSON.stringify([name, driver, settings, address, sealed])
    const open = this.#sources.get(device.id)
    if (open?.config === config) return open.source
    void open?.source.close()
    this.#sources.delete(device.id)
    const source = this.#deps.createSource(device)
    if (source) this.#sources.set(device.id, { config, source })
    return source
  }
}
