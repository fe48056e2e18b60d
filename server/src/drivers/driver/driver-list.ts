// The drivers of a port: a driver is a folder, and a line in the list of its port. Here the `kind` of an element of the platform file selects
// one; url-driver.ts is for drivers that a URL of the configuration selects.
import type { TSchema } from 'typebox'
import type { SettingProblem } from './setting-problems.ts'

export type KindDriver = {
  readonly kind: string
  readonly settings: TSchema
  /** Returns the problems of settings of this kind, each with its place; an empty list for valid settings. */
  check(settings: KindSettings): readonly SettingProblem[]
}

type KindSettings = Readonly<Record<string, unknown>>

export type DriverList<Driver extends KindDriver> = {
  readonly kinds: readonly string[]
  /** The schemas of the settings, by kind. */
  readonly schemas: Readonly<Record<string, TSchema>>
  find(kind: unknown): Driver | undefined
  /** Returns the problems of settings with their `kind`, also if the kind is unknown. */
  check(settings: KindSettings): readonly SettingProblem[]
  /** Returns the driver of valid settings; throws an Error with the name of the element and all problems of others. */
  get(settings: KindSettings, name: string): Driver
}

/** `noun` names an element that has such settings: speaker. */
export function driverList<Driver extends KindDriver>(
  noun: string,
  drivers: readonly Driver[],
): DriverList<Driver> {
  const kinds = drivers.map(({ kind }) => kind)
  const find = (kind: unknown): Driver | undefined => drivers.find((driver) => driver.kind === kind)
  const unknown = [{ path: ['kind'], message: `the kind of a ${noun} is ${kinds.join(' or ')}` }]
  const check = (settings: KindSettings): readonly SettingProblem[] =>
    find(settings['kind'])?.check(settings) ?? unknown
  return {
    kinds,
    schemas: Object.fromEntries(drivers.map(({ kind, settings }) => [kind, settings])),
    find,
    check,
    get(settings, name) {
      const problems = check(settings)
      if (problems.length === 0) return find(settings['kind'])!
      throw new Error(`${noun} ${name}: ${problems.map(({ message }) => message).join('; ')}`)
    },
  }
}
