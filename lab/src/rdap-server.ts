// A real HTTP server that answers like the RDAP service of an address registry (RFC 9082, 9083), with its bootstrap files (RFC 9224).
// Tests set the registrations.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Registration = {
  readonly prefix: string
  readonly handle: string
  readonly remarks: readonly string[]
  /** Lines in the remarks of a contact. */
  readonly contactRemarks?: readonly string[]
}

/** Answers a path itself; returns true if it did. */
export type Interception = (request: IncomingMessage, response: ServerResponse) => boolean

export class RdapServer {
  readonly #server: Server
  readonly #port: number
  #registrations: readonly Registration[] = []
  /** For answers that no correct registry returns. */
  intercept: Interception = () => false
  /** The paths of all requests, in their order. */
  readonly asked: string[] = []

  constructor(server: Server) {
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.asked.push(request.url!)
      if (!this.intercept(request, response)) this.#answer(request.url!, response)
    })
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Its address for Pharos' settings. */
  get bootstrap(): string {
    return `${this.origin}/bootstrap/`
  }

  setRegistrations(registrations: readonly Registration[]): void {
    this.#registrations = registrations
  }

  async hide(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  show(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.hide()
  }

  #answer(path: string, response: ServerResponse): void {
    const prefix = /^\/rdap\/ip\/(.+)$/.exec(path)?.[1]
    if (path.startsWith('/bootstrap/')) return send(response, 200, this.#bootstrapOf(path))
    if (prefix === undefined) return send(response, 404, { errorCode: 404 })
    const asked = rangeOf(prefix)
    const [found] = this.#registrations
      .map((one) => ({ one, range: rangeOf(one.prefix) }))
      .filter(({ range }) => contains(range, asked))
      .toSorted((a, b) => (a.range.last - a.range.first < b.range.last - b.range.first ? -1 : 1))
    if (!found) return send(response, 404, { errorCode: 404, title: 'Not Found' })
    send(response, 200, objectOf(found.one))
  }

  #bootstrapOf(path: string): object {
    const all = path.endsWith('ipv6.json') ? ['2000::/3'] : ['0.0.0.0/0', '192.0.0.0/8', '203.0.0.0/8']
    return { version: '1.0', services: [[all, [`${this.origin}/rdap/`]]] }
  }
}

export async function startRdapServer(): Promise<RdapServer> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return new RdapServer(server)
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/rdap+json' }).end(JSON.stringify(body))
}

function objectOf({ prefix, handle, remarks, contactRemarks = [] }: Registration): object {
  const { first, last, isIpv6 } = rangeOf(prefix)
  const described = (lines: readonly string[]) => [{ title: 'remarks', description: lines }]
  return {
    rdapConformance: ['rdap_level_0'],
    objectClassName: 'ip network',
    ...(handle === '' ? {} : { handle }),
    startAddress: textOf(first, isIpv6),
    endAddress: textOf(last, isIpv6),
    ipVersion: isIpv6 ? 'v6' : 'v4',
    ...(remarks.length > 0 ? { remarks: described(remarks) } : {}),
    notices: [{ title: 'Terms of Use', description: ['See the registry.'] }],
    entities: [
      {
        objectClassName: 'entity',
        handle: 'CONTACT-1',
        roles: ['technical'],
        remarks: described(contactRemarks),
      },
    ],
  }
}

type Range = { readonly first: bigint; readonly last: bigint; readonly isIpv6: boolean }

const contains = (outer: Range, inner: Range): boolean =>
  outer.isIpv6 === inner.isIpv6 && outer.first <= inner.first && outer.last >= inner.last

function rangeOf(prefix: string): Range {
  const [address, length] = prefix.split('/') as [string, string]
  const isIpv6 = address.includes(':')
  const size = 1n << BigInt((isIpv6 ? 128 : 32) - Number(length))
  const first = numberOf(address, isIpv6)
  return { first, last: first + size - 1n, isIpv6 }
}

function numberOf(address: string, isIpv6: boolean): bigint {
  if (!isIpv6) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n)
  const [head = '', tail = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const [before, after] = [groups(head), groups(tail)]
  const zeros = address.includes('::') ? Array<string>(8 - before.length - after.length).fill('0') : []
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n)
}

function textOf(value: bigint, isIpv6: boolean): string {
  const [count, bits, radix, separator] = isIpv6 ? [8, 16, 16, ':'] : [4, 8, 10, '.']
  const mask = (1n << BigInt(bits)) - 1n
  return Array.from({ length: count }, (_, at) =>
    ((value >> BigInt((count - 1 - at) * bits)) & mask).toString(radix),
  ).join(separator)
}
