// The conformance suite of DatagramSource: the behaviour that the collector relies on.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { DatagramBatch, DatagramSource, DatagramSourceOptions } from './datagram-source.ts'
import { until } from '../../../lab/src/wait.ts'

type Received = { readonly text: string; readonly sender: number[]; readonly port: number }

const receivedOf = ({ octets, count, offsets, lengths, senders, ports }: DatagramBatch): Received[] =>
  Array.from({ length: count }, (_, i) => ({
    text: Buffer.from(octets.subarray(offsets[i]!, offsets[i]! + lengths[i]!)).toString('latin1'),
    sender: [...senders.subarray(i * 4, i * 4 + 4)],
    port: ports[i]!,
  }))

const fail = (error: Error) => assert.fail(error)

/** Returns the port from which they were sent. */
async function send(datagrams: readonly Buffer[], port: number, address: string): Promise<number> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  for (const octets of datagrams) {
    await new Promise<void>((resolve, reject) => {
      socket.send(octets, port, address, (error) => (error ? reject(error) : resolve()))
    })
  }
  const { port: from } = socket.address()
  socket.close()
  await once(socket, 'close')
  return from
}

/** Runs the suite against a way to receive. */
export function datagramSourceConformance(
  name: string,
  create: (options: DatagramSourceOptions) => DatagramSource | Promise<DatagramSource>,
): void {
  const loopback = { address: '127.0.0.1', port: 0 }
  const open = (...addresses: string[]) =>
    create({
      listen: addresses.map((address) => ({ address, port: 0 })),
      receiveBufferBytes: 2 ** 20,
      idleMs: 5,
    })

  describe(`datagrams by ${name}`, () => {
    it(
      'arrive whole and in order, from 0 to 65,507 octets, with their sender',
      { timeout: 60_000 },
      async () => {
        const source = await open('127.0.0.1')
        const received: Received[] = []
        source.start((batch) => received.push(...receivedOf(batch)), fail)
        const sent = [0, 1, 1400, 9000, 65_507].map((length, i) => Buffer.alloc(length, `${i}abc`))
        for (let i = 0; i < 200; i++) sent.push(Buffer.from(`datagram ${i}`))
        const port = await send(sent, source.addresses[0]!.port, '127.0.0.1')
        await until(() => received.length === sent.length)
        assert.deepEqual(
          received.map(({ text }) => text),
          sent.map((octets) => octets.toString('latin1')),
        )
        assert.ok(received.every((one) => one.port === port))
        assert.ok(received.every(({ sender }) => sender.join() === [0, 0, 0xff_ff, 0x7f_00_00_01].join()))
        source.stop()
      },
    )

    it(
      'arrive on every address, from IPv6 and from IPv4 on the same socket',
      { timeout: 60_000 },
      async () => {
        const source = await open('::1', '127.0.0.1', '::')
        const received: Received[] = []
        source.start((batch) => received.push(...receivedOf(batch)), fail)
        const [six, four, any] = source.addresses.map(({ port }) => port)
        const port = await send([Buffer.from('six')], six!, '::1')
        await send([Buffer.from('four')], four!, '127.0.0.1')
        await send([Buffer.from('any six')], any!, '::1')
        await send([Buffer.from('any four')], any!, '127.0.0.1')
        await until(() => received.length === 4)
        assert.equal(received.find(({ text }) => text === 'six')!.port, port)
        assert.deepEqual(Object.fromEntries(received.map(({ text, sender }) => [text, sender])), {
          six: [0, 0, 0, 1],
          four: [0, 0, 0xff_ff, 0x7f_00_00_01],
          'any six': [0, 0, 0, 1],
          'any four': [0, 0, 0xff_ff, 0x7f_00_00_01],
        })
        source.stop()
      },
    )

    it('that do not fit into the buffer are counted', { timeout: 60_000 }, async () => {
      const source = await create({ listen: [loopback], receiveBufferBytes: 4096, idleMs: 5 })
      assert.ok(source.receiveBufferBytes < 65_536)
      assert.equal(source.drops(), 0)
      // No datagram is received before `start`.
      await send(
        Array.from({ length: 300 }, () => Buffer.alloc(1400)),
        source.addresses[0]!.port,
        '127.0.0.1',
      )
      let count = 0
      source.start((batch) => (count += batch.count), fail)
      await until(() => count + (source.drops() ?? 0) === 300)
      assert.ok(source.drops()! > 200, `${source.drops()} dropped`)
      source.stop()
    })

    it('leave time for other work of the thread, and end at once', { timeout: 60_000 }, async () => {
      const source = await open('127.0.0.1')
      let batches = 0
      source.start(() => {
        batches++
        source.stop()
      }, fail)
      const { port } = source.addresses[0]!
      await send([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')], port, '127.0.0.1')
      await until(() => batches > 0)
      for (let i = 0; i < 20; i++) await setImmediate()
      assert.equal(batches, 1)
      source.stop()
      const again = await create({ listen: [{ address: '127.0.0.1', port }], receiveBufferBytes: 65_536 })
      again.stop()
    })

    it('cannot be received on an address that is in use, and the error names it', async () => {
      const source = await open('127.0.0.1')
      const { port } = source.addresses[0]!
      await assert.rejects(
        async () =>
          create({ listen: [loopback, { address: '127.0.0.1', port }], receiveBufferBytes: 65_536 }),
        { name: 'DriverError', kind: 'refused', message: `bind 127.0.0.1 port ${port}: EADDRINUSE` },
      )
      source.stop()
    })

    it('may be shared by several sockets of one address', async () => {
      const first = await create({ listen: [loopback], receiveBufferBytes: 65_536, reusePort: true })
      const { port } = first.addresses[0]!
      const second = await create({
        listen: [{ address: '127.0.0.1', port }],
        receiveBufferBytes: 65_536,
        reusePort: true,
      })
      assert.equal(second.addresses[0]!.port, port)
      first.stop()
      second.stop()
    })
  })
}
