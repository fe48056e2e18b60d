// The drivers of the port IrrSource, by the scheme of the URL in `irr_sources`.
import type { IrrSource } from '../registry/irr-source.ts'
import { dump, whois, type IrrContext } from './irr/driver.ts'
import { driverFor } from './driver/url-driver.ts'

const drivers = [whois, dump]

/** Throws a TypeError if one of the URLs is not valid. */
export function checkIrrSources(urls: readonly string[]): void {
  for (const url of urls) driverFor(drivers, url).check(url)
}

/** Returns the sources in the order given, not connected yet; throws as checkIrrSources does. */
export function createIrrSources(urls: readonly string[], context: IrrContext): IrrSource[] {
  return urls.map((url) => driverFor(drivers, url).create(url, context))
}
