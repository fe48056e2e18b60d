// The drivers of the port Scrubber, by the `kind` of a scrubber's driver in the platform file and in `scrubbers.driver`.
import type { Scrubber } from '../shield/scrubber.ts'
import type { ScrubberDriver, ScrubberOptions, ScrubberSettings } from '../shield/scrubber-driver.ts'
import { driverList } from './driver/driver-list.ts'
import { flowspec } from './flowspec/driver.ts'
import { nftables } from './nftables/driver.ts'
import { sandboxScrubber } from './sandbox-scrubber/driver.ts'

export const scrubberDrivers = driverList<ScrubberDriver>('scrubber', [sandboxScrubber, flowspec, nftables])

/** Creates a scrubber, not connected yet. Throws an Error if the settings are not valid or a key file cannot be read. */
export const createScrubber = (
  settings: Readonly<Record<string, unknown>>,
  options: ScrubberOptions,
): Scrubber => scrubberDrivers.get(settings, options.name).create(settings as ScrubberSettings, options)
