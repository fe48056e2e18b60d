// The drivers of the port IrrSource, by the scheme of the URL in `irr_sources`.
import { urlDriverList } from './driver/url-driver.ts'
import { dump, whois } from './irr/driver.ts'

export const irrDrivers = urlDriverList('IRR source', [whois, dump])
