import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createReceivingSocket } from './receiving-socket.ts'

/** A message of the protocol: a code, the length, and content that depends on `seed`. */
function messageOf(length: number, seed: number): Buffer {
  const message = Buffer.alloc(5 + length, seed)
  message[0] = 'D'.charCodeAt(0)
  message.writeUInt32BE(4 + length, 1)
  return message
}

/** Sends the pieces to a socket; returns copies of the emitted data. */
async function receive(pieces: readonly Buffer[]): Promise<Buffer[]> {
  await using server = createServer((connection) => {
    const send = (at: number): void => {
      if (at === pieces.length) return void connection.end()
      connection.write(pieces[at]!, () => setImmediate(send, at + 1))
    }
    send(0)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = createReceivingSocket()
  const received: Buffer[] = []
  socket.on('data', (bytes: Buffer) => received.push(Buffer.from(bytes)))
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'close')
  return received
}

/** The lengths of the messages in these bytes; throws if they end within one. */
function lengthsIn(bytes: Buffer): number[] {
  const lengths: number[] = []
  for (let at = 0; at < bytes.length;) {
    const length = 1 + bytes.readUInt32BE(at + 1)
    assert.ok(at + length <= bytes.length, 'a message is incomplete')
    lengths.push(length - 5)
    at += length
  }
  return lengths
}

const length = fc.oneof(fc.nat(40), fc.nat(3_000), fc.integer({ min: 60_000, max: 300_000 }))

describe('the socket of a connection', () => {
  it('emits complete messages only, in order and unchanged, however they arrive', async () => {
    const lists = fc.array(length, { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(lists, fc.array(fc.nat(1_000_000), { maxLength: 8 }), async (lengths, cuts) => {
        const sent = Buffer.concat(lengths.map((one, at) => messageOf(one, at + 1)))
        const places = [0, ...cuts.map((cut) => cut % sent.length).toSorted((a, b) => a - b), sent.length]
        const received = await receive(places.slice(1).map((end, at) => sent.subarray(places[at], end)))
        assert.ok(Buffer.concat(received).equals(sent))
        assert.deepEqual(received.flatMap(lengthsIn), lengths)
      }),
      { numRuns: 60 },
    )
  })

  it('receives a message of several megabytes, and small ones after it', async () => {
    const lengths = [3_500_000, 5, 70_000, 0, 1_200_000, 9]
    const sent = Buffer.concat(lengths.map((one, at) => messageOf(one, at + 1)))
    const received = await receive([sent])
    assert.ok(Buffer.concat(received).equals(sent))
    assert.deepEqual(received.flatMap(lengthsIn), lengths)
  })
})
