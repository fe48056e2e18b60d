// Sends packets with their IP header through raw sockets (raw(7), ipv6(7)). Each line of standard input is a count, a rate for
// an endless flood (0: no flood), the destination and the octets. `sent` is printed when the packets of the count are sent. A flood ends
// with the input; then the number of its packets is printed.
import { once } from 'node:events'
import { dlopen } from 'node:ffi'
import { createInterface } from 'node:readline'

const { functions: libc } = dlopen(null, {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  sendto: { arguments: ['i32', 'buffer', 'u64', 'i32', 'buffer', 'u32'], return: 'i64' },
})

const rawProtocol = 255
const sockets = { 4: libc.socket(2, 3, rawProtocol), 6: libc.socket(10, 3, rawProtocol) }

function send(octets: Buffer, family: 4 | 6): void {
  // struct sockaddr_in and sockaddr_in6: the family in the order of the host, the rest is zero but the address.
  const name = Buffer.alloc(family === 4 ? 16 : 28)
  name.writeUInt16LE(family === 4 ? 2 : 10)
  if (family === 4) octets.copy(name, 4, 16, 20)
  else octets.copy(name, 8, 24, 40)
  const sent = libc.sendto(sockets[family], octets, BigInt(octets.length), 0, name, name.length)
  if (Number(sent) !== octets.length) throw new Error(`sendto: ${sent} of ${octets.length} octets`)
}

const ending = new AbortController()
const ended = once(process.stdin, 'end').then(() => ending.abort())
let sent = 0
const startedMs = performance.now()

async function flood(octets: Buffer, family: 4 | 6, rate: number): Promise<void> {
  while (!ending.signal.aborted) {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * rate)
    for (; sent < due; sent++) send(octets, family)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [count = '', rate = '', destination = '', hex = ''] = line.split(' ')
  const octets = Buffer.from(hex, 'hex')
  const family = destination.includes(':') ? 6 : 4
  for (let left = Number(count); left > 0; left--) send(octets, family)
  if (Number(rate) > 0) void flood(octets, family, Number(rate))
  else process.stdout.write('sent\n')
}
await ended
process.stdout.write(JSON.stringify({ sent, seconds: (performance.now() - startedMs) / 1_000 }))
