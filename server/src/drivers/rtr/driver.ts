// The driver of VRPs from an RTR cache (RFC 8210).
import type { VrpSource } from '../../registry/vrp-source.ts'
import { urlDriver } from '../driver/url-driver.ts'
import type { VrpContext } from '../vrps/context.ts'
import { createRtrSource } from './source.ts'
import { parseRtrUrl, readTlsFiles, type RtrAddress } from './url.ts'

export const rtr = urlDriver<RtrAddress, VrpContext, VrpSource>({
  kind: 'rtr',
  schemes: ['rtr:', 'rtrs:'],
  forms: ['rtr://host:port', 'rtrs://host:port'],
  parse: parseRtrUrl,
  create: (address, context) => createRtrSource({ ...readTlsFiles(address), ...context }),
})
