// The drivers of the port VrpSource, by the scheme of the URL in `rpki_sources`.
import { urlDriverList } from './driver/url-driver.ts'
import { rtr } from './rtr/driver.ts'
import { vrpJson } from './vrp-json/driver.ts'

export const vrpDrivers = urlDriverList('RPKI source', [rtr, vrpJson])
