// Which registries are asked: from the URLs in the configuration to drivers.
import type { VrpSource } from '../registry/rpki.ts'
import { createRtrSource } from './rtr/source.ts'
import { parseRtrUrl } from './rtr/url.ts'
import { createVrpJsonSource } from './vrp-json/source.ts'
import { parseVrpJsonUrl } from './vrp-json/url.ts'
import type { Log } from '../runtime/log.ts'

export type VrpSourceOptions = {
  readonly log: Log
  readonly now?: () => Date
  /** How long a suspicious loss must last before it is used. */
  readonly confirmMs: number
}

/**
 * The sources of VRPs in the order given: `rtr://host:port` and `rtrs://host:port?ca=/path` are RTR caches, `file:/path` and
 * `https://host/path` VRP exports in JSON. Throws TypeError with what is wrong with a URL, and connects to nothing yet.
 */
export function createVrpSources(urls: readonly string[], options: VrpSourceOptions): VrpSource[] {
  const repeated = urls.find((url, i) => urls.indexOf(url) !== i)
  if (repeated !== undefined) throw new TypeError(`RPKI source ${repeated} is listed twice`)
  return urls.map((url) => createVrpSource(url, options))
}

function createVrpSource(
  text: string,
  { log, confirmMs, now = () => new Date() }: VrpSourceOptions,
): VrpSource {
  const url = parseUrl(text)
  switch (url.protocol) {
    case 'rtr:':
    case 'rtrs:':
      return createRtrSource({ ...parseRtrUrl(url), log, now, confirmMs })
    case 'file:':
    case 'http:':
    case 'https:':
      return createVrpJsonSource({ ...parseVrpJsonUrl(url), log, now, confirmMs })
    default:
      throw new TypeError(
        `RPKI source ${url.protocol}//...: write rtr://host:port, rtrs://host:port, file:/path or https://host/path`,
      )
  }
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new TypeError('an RPKI source is a URL such as rtr://cache.example.net:3323')
  return new URL(text)
}
