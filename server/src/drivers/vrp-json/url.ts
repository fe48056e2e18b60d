// Where a VRP export is, as the configuration writes it: `file:/path` or `https://host/path`.
import { fileURLToPath } from 'node:url'

export type VrpJsonAddress = {
  /** The URL without credentials, for people. */
  readonly name: string
  readonly location:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'http'; readonly url: URL }
}

/** Throws TypeError with what is wrong. */
export function parseVrpJsonUrl(url: URL): VrpJsonAddress {
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
