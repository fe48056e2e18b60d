// The driver of visibility from RIS Live, the stream of the RIPE NCC's route collectors.
import type { VisibilitySource } from '../../byoip/visibility/visibility-source.ts'
import type { CollectorContext } from '../collectors/context.ts'
import { urlDriver } from '../driver/url-driver.ts'
import { createRisLiveSource } from './source.ts'
import { parseRisLiveUrl, type RisLiveAddress } from './url.ts'

export const risLive = urlDriver<RisLiveAddress, CollectorContext, VisibilitySource>({
  kind: 'ris-live',
  schemes: ['wss:', 'ws:'],
  forms: ['wss://ris-live.ripe.net/v1/ws/?client=name'],
  parse: parseRisLiveUrl,
  create: (address, context) => createRisLiveSource({ ...address, ...context }),
})
