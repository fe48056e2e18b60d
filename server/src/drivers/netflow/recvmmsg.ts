// Receives datagrams with recvmmsg(2), 64 per call, through node:ffi (decision 078). The thread is blocked while it
// waits, so it must have no other urgent work. The structures are for Linux on 64-bit processors; `receivesItself`
// verifies them at start before they are used.
import { dlopen, getInt32, getRawPointer } from 'node:ffi'
import { endianness } from 'node:os'
import type {
  DatagramBatch,
  DatagramSource,
  DatagramSourceOptions,
  ListenAddress,
} from '../../flow/datagram-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { formatWords, parseWords } from './address-words.ts'

const batchSize = 64
/** One datagram has at most 65,507 octets. The odd number of cache lines keeps the beginnings out of the same cache set. */
const datagramOctets = 67_136

// <sys/socket.h>, <netinet/in.h>, <poll.h> of Linux
const AF_INET = 2
const AF_INET6 = 10
const SOCK_DGRAM_CLOEXEC = 2 | 0o2_000_000
const SOL_SOCKET = 1
const SO_RCVBUF = 8
const SO_REUSEPORT = 15
const SO_RCVBUFFORCE = 33
const SO_MEMINFO = 55
const IPPROTO_IPV6 = 41
const IPV6_V6ONLY = 26
const MSG_DONTWAIT = 0x40
const POLLIN = 1
const EINTR = 4
const EAGAIN = 11

const errorNames: Readonly<Record<number, string>> = {
  1: 'EPERM',
  13: 'EACCES',
  24: 'EMFILE',
  97: 'EAFNOSUPPORT',
  98: 'EADDRINUSE',
  99: 'EADDRNOTAVAIL',
}

const { functions: libc } = dlopen(null, {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  getsockname: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
  setsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'u32'], return: 'i32' },
  getsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'buffer'], return: 'i32' },
  sendto: { arguments: ['i32', 'buffer', 'u64', 'i32', 'buffer', 'u32'], return: 'i64' },
  recvmmsg: { arguments: ['i32', 'pointer', 'u32', 'i32', 'pointer'], return: 'i32' },
  poll: { arguments: ['pointer', 'u64', 'i32'], return: 'i32' },
  close: { arguments: ['i32'], return: 'i32' },
  __errno_location: { arguments: [], return: 'pointer' },
})

/** The error of the last call. It must be read before any other call. */
const errno = (): number => getInt32(libc['__errno_location']())

function failure(call: string, code: number, { address, port }: ListenAddress): DriverError {
  return new DriverError('refused', `${call} ${address} port ${port}: ${errorNames[code] ?? `error ${code}`}`)
}

type Socket = ListenAddress & { readonly fd: number; readonly receiveBufferBytes: number }

function openSocket(listen: ListenAddress, { receiveBufferBytes, reusePort }: DatagramSourceOptions): Socket {
  const isV6 = listen.address.includes(':')
  const fd = libc.socket(isV6 ? AF_INET6 : AF_INET, SOCK_DGRAM_CLOEXEC, 0)
  if (fd < 0) throw failure('socket', errno(), listen)
  const set = (level: number, option: number, value: number) =>
    libc.setsockopt(fd, level, option, Buffer.from(Int32Array.of(value).buffer), 4)
  // One socket for both families; IPv4 senders are mapped.
  if (isV6) set(IPPROTO_IPV6, IPV6_V6ONLY, 0)
  if (reusePort) set(SOL_SOCKET, SO_REUSEPORT, 1)
  if (set(SOL_SOCKET, SO_RCVBUFFORCE, receiveBufferBytes) < 0) set(SOL_SOCKET, SO_RCVBUF, receiveBufferBytes)
  const name = encodeName(listen)
  if (libc.bind(fd, name, name.length) < 0) {
    const code = errno()
    libc.close(fd)
    throw failure('bind', code, listen)
  }
  libc.getsockname(fd, name, Buffer.from(Int32Array.of(name.length).buffer))
  // The kernel doubles the size for its own use, and returns the doubled one.
  const [granted] = readOption(fd, SO_RCVBUF, 1)
  return { fd, address: listen.address, port: name.readUInt16BE(2), receiveBufferBytes: granted! / 2 }
}

/** sockaddr_in (16 octets) or sockaddr_in6 (28). */
function encodeName({ address, port }: ListenAddress): Buffer {
  const isV6 = address.includes(':')
  const name = Buffer.alloc(isV6 ? 28 : 16)
  name.writeUInt16LE(isV6 ? AF_INET6 : AF_INET, 0)
  name.writeUInt16BE(port, 2)
  const words = parseWords(address)
  if (isV6) words.forEach((word, i) => name.writeUInt32BE(word, 8 + i * 4))
  else name.writeUInt32BE(words[3], 4)
  return name
}

function readOption(fd: number, option: number, words: number): Uint32Array {
  const value = new Uint32Array(words)
  const length = Buffer.from(Int32Array.of(words * 4).buffer)
  if (libc.getsockopt(fd, SOL_SOCKET, option, Buffer.from(value.buffer), length) < 0) value.fill(0)
  return value
}

/** Header vectors, addresses and payloads of a batch in one buffer, with pointers that are written once. */
function createVector() {
  const headerOctets = batchSize * 64
  const ioOctets = batchSize * 16
  const nameOctets = batchSize * 32
  const payloadAt = headerOctets + ioOctets + nameOctets
  const buffer = new ArrayBuffer(payloadAt + batchSize * datagramOctets)
  const base = getRawPointer(buffer)
  const view = new DataView(buffer)
  const offsets = new Uint32Array(batchSize)
  for (let i = 0; i < batchSize; i++) {
    const header = i * 64
    const io = headerOctets + i * 16
    const name = headerOctets + ioOctets + i * 32
    offsets[i] = payloadAt + i * datagramOctets
    // struct mmsghdr: name, its length, iovec, their number, control data, its length, flags; then the length of the datagram.
    view.setBigUint64(header, base + BigInt(name), true)
    view.setUint32(header + 8, 32, true)
    view.setBigUint64(header + 16, base + BigInt(io), true)
    view.setBigUint64(header + 24, 1n, true)
    view.setBigUint64(io, base + BigInt(offsets[i]!), true)
    view.setBigUint64(io + 8, BigInt(datagramOctets), true)
  }
  const batch: DatagramBatch = {
    octets: new Uint8Array(buffer),
    count: 0,
    offsets,
    lengths: new Uint32Array(batchSize),
    senders: new Uint32Array(batchSize * 4),
    ports: new Uint16Array(batchSize),
  }

  /** Receives the available datagrams, up to 64. Returns their number, or the negative errno. */
  function receive(fd: number): number {
    const count = libc.recvmmsg(fd, base, batchSize, MSG_DONTWAIT, 0n)
    if (count <= 0) return count === 0 ? 0 : -errno()
    batch.count = count
    for (let i = 0; i < count; i++) {
      const header = i * 64
      batch.lengths[i] = view.getUint32(header + 56, true)
      // The kernel has written the real length of the name.
      view.setUint32(header + 8, 32, true)
      const name = headerOctets + ioOctets + i * 32
      readSender(name, i * 4)
      batch.ports[i] = view.getUint16(name + 2)
    }
    return count
  }

  function readSender(name: number, word: number): void {
    const { senders } = batch
    if (view.getUint16(name, true) === AF_INET) {
      senders[word] = senders[word + 1] = 0
      senders[word + 2] = 0xff_ff
      senders[word + 3] = view.getUint32(name + 4)
      return
    }
    for (let i = 0; i < 4; i++) senders[word + i] = view.getUint32(name + 8 + i * 4)
  }

  return { batch, receive }
}

/** Rounds of receiving before other work of the thread runs. */
const roundsMax = 16

/** Binds the sockets. Throws DriverError if an address cannot be used. */
export function createRecvmmsgSource(options: DatagramSourceOptions): DatagramSource {
  const sockets: Socket[] = []
  try {
    for (const listen of options.listen) sockets.push(openSocket(listen, options))
  } catch (error) {
    for (const { fd } of sockets) libc.close(fd)
    throw error
  }
  const { batch, receive } = createVector()
  const polled = new ArrayBuffer(sockets.length * 8)
  const polledView = new DataView(polled)
  const polledAt = getRawPointer(polled)
  // struct pollfd: descriptor, events, returned events.
  sockets.forEach(({ fd }, i) => {
    polledView.setInt32(i * 8, fd, true)
    polledView.setInt16(i * 8 + 4, POLLIN, true)
  })
  const { idleMs = 50 } = options
  let isStopped = false
  let next: NodeJS.Immediate | undefined

  function stop(): void {
    if (isStopped) return
    isStopped = true
    clearImmediate(next)
    for (const { fd } of sockets) libc.close(fd)
  }

  return {
    kind: 'recvmmsg',
    addresses: sockets.map(({ address, port }) => ({ address, port })),
    receiveBufferBytes: Math.min(...sockets.map(({ receiveBufferBytes }) => receiveBufferBytes)),
    start(onBatch, onError) {
      /** Receives from one socket until it is empty or had its share. Returns whether more may be waiting. */
      const drain = (socket: Socket): boolean => {
        for (let round = 0; round < roundsMax; round++) {
          const count = receive(socket.fd)
          if (count < 0 && count !== -EAGAIN && count !== -EINTR) throw failure('recvmmsg', -count, socket)
          if (count <= 0) return false
          onBatch(batch)
          if (isStopped || count < batchSize) return false
        }
        return true
      }
      /** Every socket that has data gets its share. */
      const drainReady = (): boolean =>
        sockets.filter(
          (socket, i) => !isStopped && polledView.getInt16(i * 8 + 6, true) !== 0 && drain(socket),
        ).length > 0
      let isBusy = false
      const turn = (): void => {
        if (isStopped) return
        const ready = libc.poll(polledAt, BigInt(sockets.length), isBusy ? 0 : idleMs)
        isBusy = false
        try {
          if (ready > 0) isBusy = drainReady()
        } catch (error) {
          stop()
          onError(error as Error)
        }
        if (!isStopped) next = setImmediate(turn)
      }
      next = setImmediate(turn)
    },
    // SK_MEMINFO_DROPS is the ninth of the socket's memory figures.
    drops: () =>
      isStopped ? undefined : sockets.reduce((sum, { fd }) => sum + readOption(fd, SO_MEMINFO, 9)[8]!, 0),
    stop,
  }
}

/** Verifies the structures on this system: sends two datagrams to itself over loopback and compares every field. */
export function receivesItself(): boolean {
  if (process.platform !== 'linux' || endianness() !== 'LE') return false
  const listen = { address: '127.0.0.1', port: 0 }
  const socket = openSocket(listen, { listen: [listen], receiveBufferBytes: 65_536 })
  try {
    const { batch, receive } = createVector()
    const sent = [Buffer.from('first'), Buffer.alloc(1400, 'second')]
    const name = encodeName(socket)
    for (const octets of sent) libc.sendto(socket.fd, octets, BigInt(octets.length), 0, name, name.length)
    if (receive(socket.fd) !== sent.length) return false
    return sent.every((octets, i) => {
      const [offset, length] = [batch.offsets[i]!, batch.lengths[i]!]
      const [w0, w1, w2, w3] = batch.senders.subarray(i * 4, i * 4 + 4) as unknown as [
        number,
        number,
        number,
        number,
      ]
      return (
        octets.equals(batch.octets.subarray(offset, offset + length)) &&
        formatWords([w0, w1, w2, w3]) === '127.0.0.1'
      )
    })
  } finally {
    libc.close(socket.fd)
  }
}
