// The drivers of the port VisibilitySource, by the scheme of the URL in `visibility_sources`.
import type { VisibilitySource } from '../byoip/visibility/visibility-source.ts'
import { collectorFiles } from './collector-files/driver.ts'
import type { CollectorContext } from './collectors/context.ts'
import { risLive } from './ris-live/driver.ts'
import { sandboxCollectors } from './sandbox/collectors.ts'
import { driverFor } from './driver/url-driver.ts'

const drivers = [risLive, collectorFiles, sandboxCollectors]

/** Throws a TypeError if one of the URLs is not valid, or is listed twice. */
export function checkVisibilitySources(urls: readonly string[]): void {
  const repeated = urls.find((url, at) => urls.indexOf(url) !== at)
  if (repeated !== undefined) throw new TypeError(`visibility source ${repeated} is listed twice`)
  for (const url of urls) driverFor(drivers, url).check(url)
}

/** Returns the sources in the order given, not connected yet; throws as checkVisibilitySources does. */
export function createVisibilitySources(
  urls: readonly string[],
  {
    now = () => new Date(),
    ...context
  }: Omit<CollectorContext, 'now'> & Partial<Pick<CollectorContext, 'now'>>,
): VisibilitySource[] {
  checkVisibilitySources(urls)
  return urls.map((url) => driverFor(drivers, url).create(url, { ...context, now }))
}
