// The driver of visibility from JSON that the operator's own tools write: alerts of BGPalerter, and tables of routes in the format
// of RIPEstat.
import { fileURLToPath } from 'node:url'
import type { VisibilitySource } from '../../byoip/visibility/visibility-source.ts'
import type { CollectorContext } from '../collectors/context.ts'
import { urlDriver } from '../driver/url-driver.ts'
import { createCollectorFileSource, type CollectorFileAddress } from './source.ts'

const forms = ['file:/path/to/file/or/folder', 'https://host/path']

/** Throws a TypeError with the problem. */
function parseAddress(text: string): CollectorFileAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'file:' && url.host === '' && url.search === '')
    return { name: url.href, location: { kind: 'file', path: fileURLToPath(url) } }
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError(`visibility source: write ${forms.join(' or ')}`)
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  shown.search = ''
  return { name: shown.href, location: { kind: 'http', url } }
}

export const collectorFiles = urlDriver<CollectorFileAddress, CollectorContext, VisibilitySource>({
  kind: 'collector-files',
  schemes: ['file:', 'http:', 'https:'],
  forms,
  parse: parseAddress,
  create: (address, context) => createCollectorFileSource({ ...address, ...context }),
})
