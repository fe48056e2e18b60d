// Receives datagrams with node:dgram: one callback for each, on every system. A third as fast as `recvmmsg.ts`, and used where that does not work.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type {
  DatagramBatch,
  DatagramSource,
  DatagramSourceOptions,
  ListenAddress,
} from '../../flow/datagram-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { parseWords, type Words } from '../datagram/address-words.ts'

/** Binds the sockets. Rejects with DriverError if an address cannot be used. */
export async function createDgramSource(options: DatagramSourceOptions): Promise<DatagramSource> {
  const sockets: Socket[] = []
  try {
    for (const listen of options.listen) sockets.push(await openSocket(listen, options))
  } catch (error) {
    for (const socket of sockets) socket.close()
    throw error
  }
  const addresses = sockets.map((socket, i) => ({
    address: options.listen[i]!.address,
    port: socket.address().port,
  }))
  const before = dropsOf(addresses)
  let isStopped = false

  function stop(): void {
    if (isStopped) return
    isStopped = true
    for (const socket of sockets) socket.close()
  }

  return {
    kind: 'dgram',
    addresses,
    receiveBufferBytes: Math.min(...sockets.map((socket) => socket.getRecvBufferSize() / 2)),
    start(onBatch, onError) {
      const batch: DatagramBatch = {
        octets: new Uint8Array(0),
        count: 1,
        offsets: new Uint32Array(1),
        lengths: new Uint32Array(1),
        senders: new Uint32Array(4),
        ports: new Uint16Array(1),
      }
      const wordsOf = createWordsCache()
      for (const socket of sockets) {
        socket.on('message', (octets, { address, port }) => {
          if (isStopped) return
          batch.octets = octets
          batch.lengths[0] = octets.length
          batch.senders.set(wordsOf(address))
          batch.ports[0] = port
          onBatch(batch)
        })
        socket.on('error', (error) => {
          stop()
          onError(error)
        })
      }
    },
    drops: () => {
      const now = isStopped ? undefined : dropsOf(addresses)
      return now === undefined || before === undefined ? undefined : now - before
    },
    stop,
  }
}

async function openSocket(
  { address, port }: ListenAddress,
  { receiveBufferBytes, reusePort = false }: DatagramSourceOptions,
): Promise<Socket> {
  const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', reusePort })
  socket.bind(port, address)
  try {
    await once(socket, 'listening')
  } catch (error) {
    throw new DriverError(
      'refused',
      `bind ${address} port ${port}: ${(error as NodeJS.ErrnoException).code}`,
      {
        cause: error,
      },
    )
  }
  // The kernel cuts the size to net.core.rmem_max.
  socket.setRecvBufferSize(receiveBufferBytes)
  return socket
}

/** Addresses as words, without parsing the text of every datagram. Forged senders cannot fill it: it begins again at its limit. */
function createWordsCache(): (address: string) => Words {
  const known = new Map<string, Words>()
  return (address) => {
    const found = known.get(address)
    if (found) return found
    if (known.size >= 4096) known.clear()
    const words = parseWords(address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/, ''))
    known.set(address, words)
    return words
  }
}

/** The drops of the sockets in /proc/net/udp and udp6; undefined on other systems. */
function dropsOf(addresses: readonly ListenAddress[]): number | undefined {
  try {
    const lines = ['/proc/net/udp', '/proc/net/udp6'].flatMap((file) =>
      readFileSync(file, 'utf8').split('\n'),
    )
    const names = new Set(addresses.map(procName))
    return lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local]) => local !== undefined && names.has(local))
      .reduce((sum, columns) => sum + Number(columns.at(-1)), 0)
  } catch {
    return undefined
  }
}

/** `0100007F:1F90`: each word of the address in the order of the processor. */
function procName({ address, port }: ListenAddress): string {
  const words = parseWords(address)
  const swapped = (address.includes(':') ? words : words.slice(3)).map((word) => {
    const octets = Buffer.alloc(4)
    octets.writeUInt32LE(word)
    return octets.toString('hex')
  })
  return `${swapped.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}
