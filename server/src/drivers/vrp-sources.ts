// The drivers of the port VrpSource, by the scheme of the URL in `rpki_sources`.
import type { VrpSource } from '../registry/vrp-source.ts'
import { rtr } from './rtr/driver.ts'
import { driverFor } from './driver/url-driver.ts'
import { vrpJson } from './vrp-json/driver.ts'
import type { VrpContext } from './vrps/context.ts'

const drivers = [rtr, vrpJson]

/** Throws a TypeError if one of the URLs is not valid, or is listed twice. */
export function checkVrpSources(urls: readonly string[]): void {
  const repeated = urls.find((url, at) => urls.indexOf(url) !== at)
  if (repeated !== undefined) throw new TypeError(`RPKI source ${repeated} is listed twice`)
  for (const url of urls) driverFor(drivers, url).check(url)
}

/** Returns the sources in the order given, not started yet; throws as checkVrpSources does, and if a file cannot be read. */
export function createVrpSources(
  urls: readonly string[],
  { now = () => new Date(), ...context }: Omit<VrpContext, 'now'> & Partial<Pick<VrpContext, 'now'>>,
): VrpSource[] {
  checkVrpSources(urls)
  return urls.map((url) => driverFor(drivers, url).create(url, { ...context, now }))
}
