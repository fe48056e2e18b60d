// The URL of a VRP export, as the configuration writes it: `file:/path` or `https://host/path`.
import { fileURLToPath } from 'node:url'
import { parseVrpUrl } from '../vrps/url.ts'

export type VrpJsonAddress = {
  /** The URL without credentials, for operators. */
  readonly name: string
  readonly location:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'http'; readonly url: URL }
}

/** Throws a TypeError with the problem. */
export function parseVrpJsonUrl(text: string): VrpJsonAddress {
  const url = parseVrpUrl(text)
  return url.protocol === 'file:' ? fileAddress(url) : httpAddress(url)
}

function fileAddress(url: URL): VrpJsonAddress {
  try {
    return { name: url.href, location: { kind: 'file', path: fileURLToPath(url) } }
  } catch (error) {
    throw new TypeError('RPKI source file:...: write file:/absolute/path', { cause: error })
  }
}

function httpAddress(url: URL): VrpJsonAddress {
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  shown.search = ''
  return { name: shown.href, location: { kind: 'http', url } }
}
