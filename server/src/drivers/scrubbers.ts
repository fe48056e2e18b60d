// The drivers of the port Scrubber, by the `kind` of a scrubber's driver in the platform file and in `scrubbers.driver`.
import type { Scrubber } from '../shield/scrubber.ts'
import type {
  ScrubberDriver,
  ScrubberOptions,
  ScrubberProblem,
  ScrubberSettings,
} from '../shield/scrubber-driver.ts'
import { flowspec } from './flowspec/driver.ts'
import { nftables } from './nftables/driver.ts'
import { sandbox } from './sandbox-scrubber/driver.ts'

const drivers: readonly ScrubberDriver[] = [sandbox, flowspec, nftables]

/** Returns the problems of the settings, each with its place; none means that they are ScrubberSettings. */
export function checkScrubber(settings: Readonly<Record<string, unknown>>): readonly ScrubberProblem[] {
  const driver = findDriver(settings)
  if (driver) return driver.check(settings)
  const kinds = drivers.map(({ kind }) => kind).join(' or ')
  return [{ path: ['kind'], message: `the kind of a scrubber is ${kinds}` }]
}

/** Returns a text that is equal for scrubbers with the same program and owner; undefined if they do not exclude each other. */
export function scrubberOwner(settings: ScrubberSettings): string | undefined {
  return findDriver(settings)?.ownerOf(settings)
}

/** Creates a scrubber, not connected yet. Throws an Error if the settings are not valid or a key file cannot be read. */
export function createScrubber(
  settings: Readonly<Record<string, unknown>>,
  options: ScrubberOptions,
): Scrubber {
  const problems = checkScrubber(settings)
  if (problems.length > 0)
    throw new Error(`scrubber ${options.name}: ${problems.map(({ message }) => message).join('; ')}`)
  return findDriver(settings)!.create(settings as ScrubberSettings, options)
}

const findDriver = (settings: Readonly<Record<string, unknown>>): ScrubberDriver | undefined =>
  drivers.find(({ kind }) => kind === settings['kind'])
