// Reads the devices that are due: a survey lists the interfaces, a poll reads their states. Each device is under a lease, so that
// any number of processes share the work. It decides nothing: a device that does not answer costs one attempt and a state.
import type { Postgres } from '../../db/postgres.ts'
import { unlessAborted } from '../../runtime/abort.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { Log } from '../../runtime/log.ts'
import {
  leaseDevices,
  listCredentials,
  listReadDevices,
  saveFailure,
  saveObservations,
  type DueDevice,
  type SealedCredential,
} from './collect.store.ts'
import type { DevicePart, DeviceSource } from './device-source.ts'
import { failureOf, observe, saveObservation, type PartFailure } from './observe.ts'

/** Longer than a survey may take. */
const leaseSeconds = 135
/** More than all parts that end with their time. */
const surveyTimeoutMs = 125_000
const pollTimeoutMs = 30_000
/** Devices that are read at the same time by one process. */
const devicesMax = 200
/** After a poll without an answer. */
const retrySeconds = 60
/** A device that was silent for this many polls is polled every five minutes. */
const silentAfter = 3
const silentSeconds = 300

const notSaved = { kind: 'protocol', text: 'its answer could not be saved', isSilent: false }

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
  /** The texts of failed parts that were logged, by device and part. */
  readonly #logged = new Map<string, string>()
  readonly #stopped = new AbortController()

  constructor(deps: DeviceCollectorDeps) {
    this.#deps = deps
  }

  /** Starts to read the devices that are due and returns without waiting for them. */
  async startDue(): Promise<void> {
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

  async stop(): Promise<void> {
    this.#stopped.abort(new Error('the collector stops'))
    await this.settle()
    await Promise.allSettled([...this.#sources.values()].map(({ source }) => source.close()))
  }

  async #read(device: LeasedDevice): Promise<void> {
    const { postgres, owner, log } = this.#deps
    const timeout = AbortSignal.timeout(
      device.isSurveyDue || device.areGaugesDue ? surveyTimeoutMs : pollTimeoutMs,
    )
    const signal = AbortSignal.any([timeout, this.#stopped.signal])
    try {
      const observation = await unlessAborted(signal, this.#observe(device, signal))
      await saveObservations(postgres, device.id, owner, (trx) => saveObservation(trx, device, observation))
      this.#logParts(device, observation.parts)
    } catch (error) {
      if (this.#stopped.signal.aborted) return
      const failure = failureOf(error, timeout)
      if (failure) log.debug({ device: device.name, ...failure }, 'device did not answer')
      // An answer that could not be saved ends the lease as well: the next poll has its increase.
      await saveObservations(postgres, device.id, owner, (trx) =>
        saveFailure(trx, device.id, failure ?? notSaved, { retrySeconds, silentSeconds, silentAfter }),
      ).catch((second: unknown) => {
        if (failure) throw second
      })
      if (!failure) throw error
    }
  }

  async #observe(device: LeasedDevice, signal: AbortSignal) {
    const source = this.#sourceOf(device)
    if (!source) throw new DriverError('protocol', `driver ${device.driver} cannot read devices`)
    return observe(source, device, signal)
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
