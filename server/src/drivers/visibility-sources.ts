// The drivers of the port VisibilitySource, by the scheme of the URL in `visibility_sources`.
import { collectorFiles } from './collector-files/driver.ts'
import { urlDriverList } from './driver/url-driver.ts'
import { risLive } from './ris-live/driver.ts'
import { sandboxCollectors } from './sandbox/collectors.ts'

export const visibilityDrivers = urlDriverList('visibility source', [
  risLive,
  collectorFiles,
  sandboxCollectors,
])
