// The driver of one way to read devices: its settings in the platform file, and the factory of its sources. Drivers import it by type only;
// drivers/device-sources.ts lists them.
import type { TSchema } from 'typebox'
import type { DeviceSource } from './device-source.ts'
import type { SampledInterface } from './next-sample.ts'

/** A credential with its secrets. A secret is empty if it is not set, which the driver rejects if it needs it. */
export type DeviceCredential =
  | { readonly kind: 'v2c'; readonly community: string }
  | {
      readonly kind: 'v3'
      readonly user: string
      readonly auth: string | null
      readonly authPassword: string
      readonly privacy: string | null
      readonly privacyPassword: string
    }

/** A device of the platform file, with checked settings and its credential opened. */
export type DeviceOptions = {
  readonly name: string
  readonly settings: unknown
  readonly address: string | null
  readonly credential: DeviceCredential | null
  /** Returns counters that the device has sent by itself. */
  readonly readSamples: () => Promise<readonly SampledInterface[]>
  readonly now: () => Date
}

export type DeviceDriver = {
  /** The value of `driver` of a device. */
  readonly kind: string
  /** The schema of the settings, from which forms are made. */
  readonly settings: TSchema
  /** Fields that a device must have. */
  readonly needs: readonly ('address' | 'credential')[]
  /** Returns the problems of the settings, each with its place; an empty list means that `create` accepts them. */
  check(
    settings: unknown,
  ): readonly { readonly path: readonly (string | number)[]; readonly message: string }[]
  /** Returns the source without connecting; undefined if the device lacks a field that it needs. */
  create(device: DeviceOptions): DeviceSource | undefined
}
