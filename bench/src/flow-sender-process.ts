// Sends flow datagrams at a rate with sendmmsg, in a separate process: a sender in JavaScript that calls send for each
// datagram would be the limit. Arguments: port, datagrams a second, seconds, protocol (ipfix or v5). Prints the number
// of sent datagrams.
import { dlopen, getRawPointer } from 'node:ffi'
import {
  ipOctets,
  ipfix,
  pack,
  set,
  template,
  u16,
  u32,
  u8,
  v5,
} from '../../server/src/drivers/netflow/testing.ts'

const [port, rate, seconds, protocol] = process.argv.slice(2)
const { functions: libc } = dlopen(null, {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  connect: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  sendmmsg: { arguments: ['i32', 'pointer', 'u32', 'i32'], return: 'i32' },
})

const distinct = 2000
const batch = 20

/** 18 fields, 72 octets a record. */
const fields = [
  ...([
    [8, 4],
    [12, 4],
    [15, 4],
    [10, 4],
    [14, 4],
    [2, 8],
    [1, 8],
    [22, 4],
    [21, 4],
    [7, 2],
    [11, 2],
  ] as const),
  ...([
    [6, 1],
    [4, 1],
    [5, 1],
    [210, 1],
    [16, 4],
    [17, 4],
    [9, 4],
    [13, 4],
    [148, 8],
  ] as const),
] as const

const address = (i: number, network: string) => `${network}.${(i >> 8) & 255}.${i & 255}`

function record(i: number): Uint8Array {
  return pack(
    ipOctets(address(i * 7, '198.18')),
    ipOctets(address(i * 3, '203.0')),
    u32(0),
    u32(i % 8),
    u32(9),
    [1 + (i % 50), 8],
    [1500 * (1 + (i % 50)), 8],
    u32(1000),
    u32(1000 + (i % 5000)),
    u16(1024 + (i % 60_000)),
    u16(443),
    u8(0x18),
    u8(6),
    u8(0),
    u8(0),
    u32(64_500),
    u32(64_501),
    u32(24),
    u32(24),
    [i, 8],
  )
}

/** The template is repeated in every datagram of the first kind: it is the first that is sent. */
function datagram(i: number): Uint8Array {
  if (protocol === 'v5') {
    const flows = Array.from({ length: 30 }, (_, k) => ({
      src: address(i * 30 + k, '198.18'),
      dst: address(i * 30 + k, '203.0'),
      packets: 3,
      octets: 1500,
    }))
    return v5({ sequence: i * 30 }, ...flows)
  }
  const records = Array.from({ length: 20 }, (_, k) => record(i * 20 + k))
  return ipfix(
    { sequence: i * 20 },
    ...(i === 0 ? [set(2, template(256, ...fields))] : []),
    set(256, ...records),
  )
}

const datagrams = Array.from({ length: distinct }, (_, i) => datagram(i))
const fd = libc.socket(2, 2, 0)
const name = Buffer.alloc(16)
name.writeUInt16LE(2, 0)
name.writeUInt16BE(Number(port), 2)
name.set([127, 0, 0, 1], 4)
libc.connect(fd, name, 16)

// struct mmsghdr (64 octets) and struct iovec (16) for each, written once.
const payloads = Buffer.concat(datagrams)
const buffer = new ArrayBuffer(distinct * 80 + payloads.length)
new Uint8Array(buffer).set(payloads, distinct * 80)
const base = getRawPointer(buffer)
const view = new DataView(buffer)
let at = distinct * 80
datagrams.forEach((one, i) => {
  view.setBigUint64(i * 64 + 16, base + BigInt(distinct * 64 + i * 16), true)
  view.setBigUint64(i * 64 + 24, 1n, true)
  view.setBigUint64(distinct * 64 + i * 16, base + BigInt(at), true)
  view.setBigUint64(distinct * 64 + i * 16 + 8, BigInt(one.length), true)
  at += one.length
})

const total = Number(rate) * Number(seconds)
const begin = performance.now()
const pause = new Int32Array(new SharedArrayBuffer(4))
let sent = 0
while (sent < total) {
  const due = Math.min(total, ((performance.now() - begin) / 1000) * Number(rate))
  if (due - sent < batch) {
    Atomics.wait(pause, 0, 0, 0.2)
    continue
  }
  const first = (sent / batch) % (distinct / batch)
  const count = libc.sendmmsg(fd, base + BigInt(first * batch * 64), batch, 0)
  if (count !== batch) throw new Error(`sendmmsg sent ${count} of ${batch}`)
  sent += count
}
process.stdout.write(`${sent}\n`)
