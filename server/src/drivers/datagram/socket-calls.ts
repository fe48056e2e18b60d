// UDP sockets with recvmmsg(2) and sendmmsg(2), up to 64 datagrams per call, through node:ffi (decision 078). The structures are for Linux on
// 64-bit little-endian processors; `worksHere` verifies them at start before they are used.
import { dlopen, getInt32, getRawPointer } from 'node:ffi'
import { endianness } from 'node:os'
import { DriverError } from '../../runtime/driver-error.ts'
import { formatWords, parseWords, type Words } from './address-words.ts'

export type SocketAddress = { readonly address: string; readonly port: number }

export type SocketOptions = {
  /** The receive buffer to ask for; a process without CAP_NET_ADMIN gets at most `net.core.rmem_max`. */
  readonly receiveBufferBytes: number
  readonly reusePort?: boolean
}

/** Datagrams of one call: views of one reused buffer. */
export type ReceivedBatch = {
  readonly octets: Uint8Array
  count: number
  /** Offset of each datagram in `octets`, and its length. */
  readonly offsets: Uint32Array
  readonly lengths: Uint32Array
  /** The sender's address, four words each, and its port. */
  readonly senders: Uint32Array
  readonly ports: Uint16Array
}

export const datagramsMax = 64
/** One datagram has at most 65,507 octets. The odd number of cache lines keeps the beginnings out of the same cache set. */
const datagramOctets = 67_136
/** Longer answers than this are not sent in a batch. */
const repliedOctets = 4_096

const headerOctets = 64
const ioOctets = 16
/** sockaddr_in6 has 28. */
const nameOctets = 32

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
  sendmmsg: { arguments: ['i32', 'pointer', 'u32', 'i32'], return: 'i32' },
  poll: { arguments: ['pointer', 'u64', 'i32'], return: 'i32' },
  close: { arguments: ['i32'], return: 'i32' },
  __errno_location: { arguments: [], return: 'pointer' },
})

/** The error of the last call. It must be read before any other call. */
const errno = (): number => getInt32(libc['__errno_location']())

function failure(call: string, code: number, { address, port }: SocketAddress): DriverError {
  return new DriverError('refused', `${call} ${address} port ${port}: ${errorNames[code] ?? `error ${code}`}`)
}

export type BoundSocket = SocketAddress & { readonly fd: number; readonly receiveBufferBytes: number }

/** Binds a socket. Throws DriverError if the address cannot be used. */
export function openSocket(
  listen: SocketAddress,
  { receiveBufferBytes, reusePort }: SocketOptions,
): BoundSocket {
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
function encodeName({ address, port }: SocketAddress): Buffer {
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

export type DatagramExchange = {
  /** The datagrams of the last `receive`. */
  readonly batch: ReceivedBatch
  /** Receives the available datagrams, up to 64. Returns their number; 0 if there is none. Throws the errno as DriverError. */
  receive(socket: BoundSocket): number
  /** Adds an answer to the sender of datagram `i` of the batch. Returns false if it is too long for a batch. */
  reply(i: number, octets: Uint8Array): boolean
  /** Sends the answers. One that the kernel does not take is lost, as on the way. */
  send(socket: BoundSocket): void
}

/** Headers, names and payloads of both directions in one buffer, with pointers that are written once. */
export function createExchange(): DatagramExchange {
  const receiving = layOut(0, datagramOctets)
  const sending = layOut(receiving.end, repliedOctets)
  const buffer = new ArrayBuffer(sending.end)
  const memory: Memory = {
    base: getRawPointer(buffer),
    view: new DataView(buffer),
    octets: new Uint8Array(buffer),
  }
  return { ...createReceive(memory, receiving), ...createReplies(memory, sending, receiving) }
}

type Memory = { readonly base: bigint; readonly view: DataView; readonly octets: Uint8Array }

/** Where the parts begin, one element for each datagram. */
type Layout = {
  readonly headers: number
  readonly ios: number
  readonly names: number
  readonly payloads: number
  readonly payloadOctets: number
  readonly end: number
}

function layOut(headers: number, payloadOctets: number): Layout {
  const ios = headers + datagramsMax * headerOctets
  const names = ios + datagramsMax * ioOctets
  const payloads = names + datagramsMax * nameOctets
  return { headers, ios, names, payloads, payloadOctets, end: payloads + datagramsMax * payloadOctets }
}

/** struct mmsghdr: name, its length, iovec, their number, control data, its length, flags; then the length of the datagram. */
function writePointers({ base, view }: Memory, layout: Layout): void {
  for (let i = 0; i < datagramsMax; i++) {
    const header = layout.headers + i * headerOctets
    const io = layout.ios + i * ioOctets
    view.setBigUint64(header, base + BigInt(layout.names + i * nameOctets), true)
    view.setUint32(header + 8, nameOctets, true)
    view.setBigUint64(header + 16, base + BigInt(io), true)
    view.setBigUint64(header + 24, 1n, true)
    view.setBigUint64(io, base + BigInt(layout.payloads + i * layout.payloadOctets), true)
    view.setBigUint64(io + 8, BigInt(layout.payloadOctets), true)
  }
}

function createReceive(memory: Memory, layout: Layout): Pick<DatagramExchange, 'batch' | 'receive'> {
  const { base, view, octets } = memory
  writePointers(memory, layout)
  const batch: ReceivedBatch = {
    octets,
    count: 0,
    offsets: Uint32Array.from({ length: datagramsMax }, (_, i) => layout.payloads + i * datagramOctets),
    lengths: new Uint32Array(datagramsMax),
    senders: new Uint32Array(datagramsMax * 4),
    ports: new Uint16Array(datagramsMax),
  }
  const readSender = (name: number, word: number): void => {
    const { senders } = batch
    if (view.getUint16(name, true) === AF_INET) {
      senders[word] = senders[word + 1] = 0
      senders[word + 2] = 0xff_ff
      senders[word + 3] = view.getUint32(name + 4)
      return
    }
    for (let i = 0; i < 4; i++) senders[word + i] = view.getUint32(name + 8 + i * 4)
  }
  return {
    batch,
    receive(socket) {
      const found = libc.recvmmsg(socket.fd, base, datagramsMax, MSG_DONTWAIT, 0n)
      const code = found < 0 ? errno() : 0
      if (code !== 0 && code !== EAGAIN && code !== EINTR) throw failure('recvmmsg', code, socket)
      batch.count = Math.max(0, found)
      for (let i = 0; i < batch.count; i++) {
        const [header, name] = [layout.headers + i * headerOctets, layout.names + i * nameOctets]
        batch.lengths[i] = view.getUint32(header + 56, true)
        // The kernel has written the real length of the name.
        view.setUint32(header + 8, nameOctets, true)
        readSender(name, i * 4)
        batch.ports[i] = view.getUint16(name + 2)
      }
      return batch.count
    },
  }
}

function createReplies(
  memory: Memory,
  layout: Layout,
  received: Layout,
): Pick<DatagramExchange, 'reply' | 'send'> {
  const { base, view, octets } = memory
  writePointers(memory, layout)
  let replies = 0
  return {
    reply(i, answer) {
      if (answer.length > repliedOctets) return false
      const slot = replies++
      // The name of the sender, where it was received.
      const name = received.names + i * nameOctets
      const header = layout.headers + slot * headerOctets
      view.setBigUint64(header, base + BigInt(name), true)
      view.setUint32(header + 8, view.getUint16(name, true) === AF_INET ? 16 : 28, true)
      view.setUint32(layout.ios + slot * ioOctets + 8, answer.length, true)
      octets.set(answer, layout.payloads + slot * repliedOctets)
      return true
    },
    send(socket) {
      for (let sent = 0; sent < replies;) {
        const at = base + BigInt(layout.headers + sent * headerOctets)
        const taken = libc.sendmmsg(socket.fd, at, replies - sent, MSG_DONTWAIT)
        sent += Math.max(1, taken)
      }
      replies = 0
    },
  }
}

export type SocketWait = {
  /** Blocks until a socket has a datagram, at most this time. Returns whether one has. */
  wait(timeoutMs: number): boolean
  /** Whether the socket with this number had a datagram then. */
  isReady(index: number): boolean
}

export function createWait(sockets: readonly BoundSocket[]): SocketWait {
  const polled = new ArrayBuffer(sockets.length * 8)
  const view = new DataView(polled)
  const at = getRawPointer(polled)
  // struct pollfd: descriptor, events, returned events.
  sockets.forEach(({ fd }, i) => {
    view.setInt32(i * 8, fd, true)
    view.setInt16(i * 8 + 4, POLLIN, true)
  })
  return {
    wait: (timeoutMs) => libc.poll(at, BigInt(sockets.length), timeoutMs) > 0,
    isReady: (index) => view.getInt16(index * 8 + 6, true) !== 0,
  }
}

export const closeSocket = ({ fd }: BoundSocket): void => void libc.close(fd)

/** Datagrams that the kernel dropped because the receive buffer was full. SK_MEMINFO_DROPS is the ninth of the socket's memory figures. */
export const dropsOf = ({ fd }: BoundSocket): number => readOption(fd, SO_MEMINFO, 9)[8]!

/** Verifies the structures on this system: sends two datagrams to itself over loopback, compares every field, and answers them. */
export function worksHere(): boolean {
  if (process.platform !== 'linux' || endianness() !== 'LE') return false
  const socket = openSocket({ address: '127.0.0.1', port: 0 }, { receiveBufferBytes: 65_536 })
  try {
    const { batch, receive, reply, send } = createExchange()
    const received = (): string[] => {
      receive(socket)
      return Array.from({ length: batch.count }, (_, i) => {
        const words = batch.senders.subarray(i * 4, i * 4 + 4) as unknown as Words
        const octets = batch.octets.subarray(batch.offsets[i], batch.offsets[i]! + batch.lengths[i]!)
        return `${formatWords(words)} ${batch.ports[i]} ${Buffer.from(octets).toString('latin1')}`
      })
    }
    const texts = ['first', 'second'.repeat(200)]
    const expected = texts.map((text) => `127.0.0.1 ${socket.port} ${text}`).join()
    const name = encodeName(socket)
    for (const text of texts)
      libc.sendto(socket.fd, Buffer.from(text), BigInt(text.length), 0, name, name.length)
    const isReceived = received().join() === expected
    for (const [i, text] of texts.entries()) reply(i, Buffer.from(text))
    send(socket)
    return isReceived && received().join() === expected
  } finally {
    closeSocket(socket)
  }
}
