// The URL of an RTR cache, as the configuration writes it: `rtr://host:port` or `rtrs://host:port?ca=/path`.
import { readFileSync } from 'node:fs'
import { parseVrpUrl } from '../vrps/url.ts'

export type RtrAddress = {
  /** The URL without its parameters, for operators. */
  readonly name: string
  readonly host: string
  readonly port: number
  readonly tls?: RtrTls
}

/** `ca` verifies the cache (the well-known authorities by default), `cert` and `key` identify this client. */
export type RtrTls = { readonly ca?: string; readonly cert?: string; readonly key?: string }

/** IANA: rpki-rtr and rpki-rtr-tls. */
const defaultPorts = { 'rtr:': 323, 'rtrs:': 324 } as const

/** Parses the URL, with the paths of its PEM files; throws a TypeError with the problem. */
export function parseRtrUrl(text: string): RtrAddress {
  const url = parseVrpUrl(text)
  const name = `${url.protocol}//${url.host}`
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host === '')
    throw new TypeError(`RPKI source ${name}: the host is missing, as in rtr://cache.example.net:3323`)
  if (url.username || url.password)
    throw new TypeError(`RPKI source ${name}: RTR has no user and no password`)
  if (url.pathname !== '' && url.pathname !== '/')
    throw new TypeError(`RPKI source ${name}: leave out the path`)
  const isTls = url.protocol === 'rtrs:'
  const port = url.port === '' ? defaultPorts[isTls ? 'rtrs:' : 'rtr:'] : Number(url.port)
  const tls = parseTls(name, url.searchParams, isTls)
  return { name, host, port, ...(isTls ? { tls } : {}) }
}

function parseTls(name: string, parameters: URLSearchParams, isTls: boolean): RtrTls {
  const known = isTls ? ['ca', 'cert', 'key'] : []
  const unknown = [...parameters.keys()].find((key) => !known.includes(key))
  if (unknown !== undefined) {
    const list = isTls ? known.join(', ') : 'none; for TLS write rtrs://'
    throw new TypeError(`RPKI source ${name}: unknown parameter ${unknown} (known: ${list})`)
  }
  if (parameters.has('cert') !== parameters.has('key'))
    throw new TypeError(`RPKI source ${name}: cert needs key, and key needs cert`)
  return Object.fromEntries(parameters)
}

/** Replaces the paths of the PEM files by their content; throws a TypeError if one cannot be read. */
export function readTlsFiles(address: RtrAddress): RtrAddress {
  const { name, tls = {} } = address
  const entries = Object.entries(tls).map(([key, path]) => [key, readFile(name, key, path)] as const)
  return address.tls ? { ...address, tls: Object.fromEntries(entries) } : address
}

function readFile(name: string, key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new TypeError(`RPKI source ${name}: ${key}=${path} cannot be read (${code})`, { cause: error })
  }
}
