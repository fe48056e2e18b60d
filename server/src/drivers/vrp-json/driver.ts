// The driver of VRPs from the JSON export of a validator, in a file or over HTTP.
import type { VrpSource } from '../../registry/vrp-source.ts'
import { urlDriver } from '../driver/url-driver.ts'
import type { VrpContext } from '../vrps/context.ts'
import { createVrpJsonSource } from './source.ts'
import { parseVrpJsonUrl, type VrpJsonAddress } from './url.ts'

export const vrpJson = urlDriver<VrpJsonAddress, VrpContext, VrpSource>({
  kind: 'vrp-json',
  schemes: ['file:', 'http:', 'https:'],
  forms: ['file:/path', 'https://host/path'],
  parse: parseVrpJsonUrl,
  create: (address, context) => createVrpJsonSource({ ...address, ...context }),
})
