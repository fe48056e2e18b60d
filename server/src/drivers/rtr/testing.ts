// For tests: an RTR cache with configured answers, including invalid ones. It keeps no history by itself.
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { vrpBits } from '../../registry/objects/vrp.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { decodePdu } from './pdu.ts'
import type { RtrIntervals, RtrPdu } from './pdu.ts'

/** `192.0.2.0/24-26 AS64500`, or without a max length. */
function parseVrp(text: string) {
  const [, prefix, length, maxLength, asn] = /^(\S+\/(\d+))(?:-(\d+))? AS(\d+)$/.exec(text)!
  return vrpBits({ prefix: parsePrefix(prefix!), maxLength: Number(maxLength ?? length), asn: Number(asn) })
}

/** The PDUs of a cache. */
export const cachePdu = {
  notify: (session: number, serial: number, version = 1) => pdu(version, 0, session, [serial]),
  response: (session: number, version = 1) => pdu(version, 3, session, []),
  announce: (vrp: string, version = 1) => prefix(version, 1, vrp),
  withdraw: (vrp: string, version = 1) => prefix(version, 0, vrp),
  end: (session: number, serial: number, { refresh, retry, expire }: RtrIntervals = slow) =>
    pdu(1, 7, session, [serial, refresh, retry, expire]),
  end0: (session: number, serial: number) => pdu(0, 7, session, [serial]),
  reset: (version = 1) => pdu(version, 8, 0, []),
  routerKey: () =>
    Buffer.concat([pdu(1, 9, 0x0100, [], 24 + 4), Buffer.alloc(20), word(64_500), Buffer.alloc(4)]),
  error: (code: number, text = '', version = 1) =>
    Buffer.concat([
      pdu(version, 10, code, [0, Buffer.byteLength(text)], Buffer.byteLength(text)),
      Buffer.from(text),
    ]),
}

export const slow: RtrIntervals = { refresh: 3_600, retry: 600, expire: 7_200 }

function pdu(version: number, type: number, third: number, words: readonly number[], more = 0): Buffer {
  const head = Buffer.from([version, type, third >> 8, third & 255])
  return Buffer.concat([head, word(8 + 4 * words.length + more), ...words.map(word)])
}

function word(value: number): Buffer {
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(value)
  return octets
}

function prefix(version: number, flags: number, text: string): Buffer {
  const { family, length, maxLength, w0, w1, w2, w3, asn } = parseVrp(text)
  const address = (family === 4 ? [w0] : [w0, w1, w2, w3]).map((one) => one >>> 0)
  const flagged = Buffer.from([flags, length, maxLength, 0])
  const [type, octets] = family === 4 ? [4, 20] : [6, 32]
  return Buffer.concat([pdu(version, type, 0, [], octets - 8), flagged, ...address.map(word), word(asn)])
}

export type ReceivedPdu = { readonly pdu: RtrPdu; readonly version: number }

/** Returns the answer to each received PDU; undefined for no answer. `connection` counts from 0. */
export type Script = (
  received: ReceivedPdu,
  connection: number,
  socket: Socket,
) => readonly Buffer[] | undefined

export type FakeCache = AsyncDisposable & {
  readonly port: number
  readonly received: ReceivedPdu[]
  /** The number of accepted connections. */
  readonly connections: () => number
  /** Sends to all connected clients. */
  cachePdu(...octets: readonly Buffer[]): void
  /** Ends all connections, and accepts new ones. */
  drop(): void
  /** Ends all connections and refuses new ones until it is visible again. */
  hide(hidden: boolean): void
}

/** Listens on a free port of 127.0.0.1. */
export async function startFakeCache(script: Script, tls?: TlsOptions): Promise<FakeCache> {
  let isHidden = false
  const received: ReceivedPdu[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const take = (socket: Socket): void => {
    if (isHidden) return void socket.destroy()
    const connection = connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let rest: Buffer = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (let one = decodePdu(rest, 0); one; one = decodePdu(rest, 0)) {
        rest = rest.subarray(one.octets.length)
        received.push({ pdu: one.pdu, version: one.version })
        const answer = script({ pdu: one.pdu, version: one.version }, connection, socket)
        if (answer && !socket.destroyed) socket.write(Buffer.concat(answer))
      }
    })
  }
  const server: Server = tls ? createTlsServer(tls, take) : createServer(take)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const drop = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as { port: number }).port,
    received,
    connections: () => connections,
    cachePdu: (...octets) => {
      for (const socket of sockets) socket.write(Buffer.concat(octets))
    },
    drop,
    hide: (hidden) => {
      isHidden = hidden
      if (hidden) drop()
    },
    async [Symbol.asyncDispose]() {
      drop()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A cache that keeps its history: answers queries from it and notifies of each change. Texts as for `parseVrp`. */
export async function startVrpCache(tls?: TlsOptions) {
  const session = 4_711
  const history: (readonly string[])[] = [[]]
  const cache = await startFakeCache(({ pdu }) => {
    const last = history.length - 1
    if (pdu.type === 'reset_query')
      return [
        cachePdu.response(session),
        ...history[last]!.map((vrp) => cachePdu.announce(vrp)),
        cachePdu.end(session, last),
      ]
    if (pdu.type !== 'serial_query') return undefined
    const [before, after] = [history[pdu.serial], history[last]!]
    if (pdu.session !== session || !before) return [cachePdu.reset()]
    const gone = before.filter((vrp) => !after.includes(vrp)).map((vrp) => cachePdu.withdraw(vrp))
    const came = after.filter((vrp) => !before.includes(vrp)).map((vrp) => cachePdu.announce(vrp))
    return [cachePdu.response(session), ...gone, ...came, cachePdu.end(session, last)]
  }, tls)
  return {
    cache,
    set(vrps: readonly string[]): void {
      history.push(vrps)
      cache.cachePdu(cachePdu.notify(session, history.length - 1))
    },
  }
}
