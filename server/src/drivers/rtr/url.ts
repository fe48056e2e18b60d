// Where an RTR cache is, as the configuration writes it: `rtr://host:port` or `rtrs://host:port?ca=/path`.
import { readFileSync } from 'node:fs'

export type RtrAddress = {
  /** The URL, for people. */
  readonly name: string
  readonly host: string
  readonly port: number
  readonly tls?: RtrTls
}

/** PEM texts: `ca` verifies the cache (without it the well-known authorities do), `cert` and `key` show who we are. */
export type RtrTls = { readonly ca?: string; readonly cert?: string; readonly key?: string }

/** IANA: rpki-rtr and rpki-rtr-tls. */
const defaultPorts = { 'rtr:': 323, 'rtrs:': 324 } as const

/** Throws TypeError with what is wrong. Reads the files that it names. */
export function parseRtrUrl(url: URL): RtrAddress {
  const name = `${url.protocol}//${url.host}`
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host === '')
    throw new TypeError(`RPKI source ${name}: the host is missing, as in rtr://cache.example.net:3323`)
  if (url.username || url.password)
    throw new TypeError(`RPKI source ${name}: RTR knows no user and no password`)
  if (url.pathname !== '' && url.pathname !== '/')
    throw new TypeError(`RPKI source ${name}: leave out the path`)
  const isTls = url.protocol === 'rtrs:'
  const port = url.port === '' ? defaultPorts[isTls ? 'rtrs:' : 'rtr:'] : Number(url.port)
  const tls = readTls(name, url.searchParams, isTls)
  return { name, host, port, ...(isTls ? { tls } : {}) }
}

function readTls(name: string, parameters: URLSearchParams, isTls: boolean): RtrTls {
  const known = isTls ? ['ca', 'cert', 'key'] : []
  const unknown = [...parameters.keys()].find((key) => !known.includes(key))
  if (unknown !== undefined) {
    const list = isTls ? known.join(', ') : 'none; for TLS write rtrs://'
    throw new TypeError(`RPKI source ${name}: unknown parameter ${unknown} (known: ${list})`)
  }
  const read = (key: string): Record<string, string> => {
    const path = parameters.get(key)
    return path === null ? {} : { [key]: readFile(name, key, path) }
  }
  const tls: RtrTls = { ...read('ca'), ...read('cert'), ...read('key') }
  if ((tls.cert === undefined) !== (tls.key === undefined))
    throw new TypeError(`RPKI source ${name}: cert and key come together`)
  return tls
}

function readFile(name: string, key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new TypeError(`RPKI source ${name}: ${key}=${path} cannot be read (${code})`, { cause: error })
  }
}
