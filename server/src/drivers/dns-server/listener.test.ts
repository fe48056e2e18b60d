// The name server against a hostile network, at its sockets: amplification, strangers, floods of octets, slow and many connections.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertTestZone } from '../../dns/publish/testing.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { decodeMessage, emptyMessage, rcode, type Message } from '../../net/dns/message.ts'
import { parseName, type DomainName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { connectionSourceOf, startListener, type DnsListener, type ListenerOptions } from './listener.ts'
import { ResponseRateLimit } from './response-rate-limit.ts'
import { startTestPrimary, type TestPrimary } from './testing.ts'

type Asked = { readonly name: DomainName; readonly type: number; readonly class: number }

const questionOf = (name: string, type: number): Asked => ({ name: parseName(name), type, class: 1 })
const queryOf = (question: Asked, parts: Partial<Message> = {}): Uint8Array =>
  encodeMessage({ ...emptyMessage, id: 4711, questions: [question], ...parts })

async function askUdp(port: number, wire: Uint8Array, host = '127.0.0.1'): Promise<Uint8Array> {
  const socket = createSocket('udp4')
  try {
    socket.send(wire, port, host)
    const [octets] = (await once(socket, 'message', { signal: AbortSignal.timeout(10_000) })) as [Buffer]
    return new Uint8Array(octets)
  } finally {
    socket.close()
  }
}

const framed = (wire: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(wire.length >> 8, wire.length & 255), wire])

async function askTcp(port: number, wire: Uint8Array): Promise<Message> {
  const socket = connect(port, '127.0.0.1')
  socket.write(framed(wire))
  let received = Buffer.alloc(0)
  for await (const octets of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, octets])
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) break
  }
  socket.destroy()
  return decodeMessage(new Uint8Array(received.subarray(2, 2 + received.readUInt16BE(0))))
}

const closed = async (socket: Socket): Promise<boolean> => {
  socket.on('error', () => {})
  socket.resume()
  if (!socket.closed) await once(socket, 'close', { signal: AbortSignal.timeout(5_000) })
  return true
}

describe('a stranger', () => {
  let primary: TestPrimary
  before(async () => {
    primary = await startTestPrimary()
    const lines = Array.from({ length: 40 }, (_, i) => `big 300 TXT ${'y'.repeat(80)}${i}`)
    const id = await insertTestZone(
      primary.deps.db,
      'hostile.example',
      `${lines.join('\n')}\nbig 300 A 192.0.2.1`,
    )
    await primary.publish(id)
  })
  after(() => primary[Symbol.asyncDispose]())

  it('gets no recursion, and nothing about names of others', async () => {
    const answer = decodeMessage(
      await askUdp(primary.port, queryOf(questionOf('www.example.com.', 1), { rd: true })),
    )
    assert.deepEqual(
      [answer.rcode, answer.ra, answer.aa, answer.answers, answer.authorities, answer.additionals],
      [rcode.REFUSED, false, false, [], [], []],
    )
  })

  for (const type of ['AXFR', 'IXFR'] as const)
    it(`gets no ${type} without TSIG`, async () => {
      const answer = await askTcp(primary.port, queryOf(questionOf('hostile.example.', recordType[type])))
      assert.deepEqual([answer.rcode, answer.answers], [rcode.REFUSED, []])
    })

  it('gets one set for ANY (RFC 8482), and at most 512 octets over UDP without EDNS', async () => {
    const answer = await askUdp(primary.port, queryOf(questionOf('big.hostile.example.', recordType.ANY)))
    assert.ok(answer.length <= 512)
    assert.equal(new Set(decodeMessage(answer).answers.map(({ type }) => type)).size <= 1, true)
  })

  it('gets at most 1232 octets over UDP, whatever EDNS asks for, and the rest over TCP', async () => {
    const question = questionOf('big.hostile.example.', recordType.TXT)
    for (const udpSize of [0, 512, 1_232, 4_096, 65_535]) {
      const edns = { udpSize, version: 0, do: true, options: [] }
      const octets = await askUdp(primary.port, queryOf(question, { edns }))
      const answer = decodeMessage(octets)
      assert.ok(octets.length <= Math.min(1_232, Math.max(512, udpSize)), `${octets.length} for ${udpSize}`)
      assert.deepEqual([answer.tc, answer.edns?.udpSize], [true, 1_232])
    }
    assert.equal((await askTcp(primary.port, queryOf(question))).answers.length, 40)
  })

  it('cannot stop it with any octets, over UDP and TCP', async () => {
    const good = queryOf(questionOf('big.hostile.example.', 1), {
      edns: { udpSize: 1_232, version: 0, do: true, options: [] },
    })
    let state = 12_345
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return (state >>> 8) % below
    }
    /** Half of them are a question with a few octets changed, cut or repeated. */
    const hostile = (): Uint8Array => {
      if (random(2) === 0) return Uint8Array.from({ length: random(600) }, () => random(256))
      const octets = Uint8Array.from([...good, ...(random(4) === 0 ? good : [])])
      for (let i = 0; i < 1 + random(6); i++) octets[random(octets.length)] = random(256)
      return octets.subarray(0, random(8) === 0 ? random(octets.length) : octets.length)
    }
    const socket = createSocket('udp4')
    for (let i = 0; i < 20_000; i++) {
      await new Promise((resolve) => socket.send(hostile(), primary.port, '127.0.0.1', resolve))
      if (i % 500 === 0) assert.equal(decodeMessage(await askUdp(primary.port, good)).rcode, rcode.NOERROR)
    }
    socket.close()
    for (let i = 0; i < 100; i++) {
      const stream = connect(primary.port, '127.0.0.1')
      stream.on('error', () => {})
      for (let j = 0; j < 20; j++) stream.write(random(3) === 0 ? hostile() : framed(hostile()))
      stream.resume()
      await sleep(2)
      stream.destroy()
    }
    assert.equal((await askTcp(primary.port, good)).rcode, rcode.NOERROR)
  })
})

describe('a listener', () => {
  const echo: ListenerOptions['handler'] = {
    handleDatagram: ({ address }) => Buffer.from(address),
    handleStream: ({ address }) => Buffer.from(address),
    truncated: () => undefined,
  }
  async function withListener(
    options: Partial<ListenerOptions>,
    work: (listener: DnsListener) => Promise<void>,
  ): Promise<void> {
    const listener = await startListener({ host: '127.0.0.1', port: 0, handler: echo, ...options })
    try {
      await work(listener)
    } finally {
      await listener.close()
    }
  }

  it('ends connections that are silent, slow, or too many of one address', async () => {
    await withListener(
      { limits: { idleMs: 1000, messageMs: 1000, connectionsPerAddress: 3 } },
      async ({ port }) => {
        const silent = connect(port, '127.0.0.1')
        const slow = connect(port, '127.0.0.1')
        slow.on('error', () => {})
        const drip = setInterval(() => slow.write(Buffer.of(9)), 50)
        const busy = connect(port, '127.0.0.1')
        await Promise.all([silent, slow, busy].map((socket) => once(socket, 'connect')))
        const fourth = connect(port, '127.0.0.1')
        assert.ok(await closed(fourth))
        const began = performance.now()
        const ask = setInterval(() => busy.write(framed(Buffer.from('question'))), 50)
        busy.resume()
        assert.ok((await closed(silent)) && (await closed(slow)))
        assert.ok(performance.now() - began < 3_000)
        assert.equal(busy.closed, false, 'a connection in use stays')
        clearInterval(drip)
        clearInterval(ask)
        busy.destroy()
      },
    )
  })

  it('leaves connections for others, however many addresses a network has', async () => {
    const limits = { connectionsPerAddress: 2, connectionsPerNetwork: 3, connections: 10 }
    await withListener({ host: '127.0.0.1', limits }, async ({ port }) => {
      // Each address of the loopback network counts as a separate client.
      const from = (host: string) => connect({ port, host: '127.0.0.1', localAddress: host })
      const sockets = Array.from({ length: 3 }, () => from('127.0.0.2'))
      const other = from('127.0.0.3')
      await Promise.all([...sockets, other].map((socket) => once(socket, 'connect')))
      assert.ok(await closed(sockets[2]!))
      other.write(framed(Buffer.from('question')))
      await once(other, 'data')
      for (const socket of [...sockets, other]) socket.destroy()
    })
    assert.deepEqual(connectionSourceOf('192.0.2.77'), { client: '192.0.2.77/32', network: '192.0.2.0/24' })
    assert.deepEqual(connectionSourceOf('2001:db8:1:2::3'), {
      client: '2001:db8:1:2::/64',
      network: '2001:db8:1::/48',
    })
    assert.deepEqual(connectionSourceOf('127.0.0.1'), { client: '127.0.0.1', network: '127.0.0.1' })
  })

  const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ family }) => family === 'IPv6'),
  )
  it(
    'knows IPv4 peers by their IPv4 address where it listens on both families',
    { skip: !hasIpv6 && 'no IPv6' },
    () =>
      withListener({ host: '::' }, async ({ port }) => {
        assert.equal(Buffer.from(await askUdp(port, Buffer.from('question'))).toString(), '127.0.0.1')
        const socket = connect(port, '127.0.0.1')
        socket.write(framed(Buffer.from('question')))
        const [octets] = (await once(socket, 'data')) as [Buffer]
        socket.destroy()
        assert.equal(octets.subarray(2).toString(), '127.0.0.1')
      }),
  )
})

describe('the response rate limit', () => {
  const rate = { perSecond: 10, burst: 20 }
  const answered = (limit: ResponseRateLimit, addresses: readonly string[]): number =>
    addresses.filter((address) => limit.take(address, 0) === 'answer').length

  it('counts a /24 of IPv4 and a /56 of IPv6 as one, however the address is written', () => {
    const many = Array.from({ length: 100 }, (_, i) => i)
    const limit = new ResponseRateLimit(rate)
    assert.equal(
      answered(
        limit,
        many.map((i) => `192.0.2.${i}`),
      ),
      20,
    )
    assert.equal(
      answered(
        limit,
        many.map((i) => `2001:db8::${(i + 1).toString(16)}`),
      ),
      20,
    )
    assert.equal(
      answered(
        limit,
        many.map((i) => `2001:db8:1:${i.toString(16)}::1`),
      ),
      20,
    )
    assert.equal(
      answered(
        limit,
        many.map((i) => `2001:db8:2:${i.toString(16)}00::1`),
      ),
      100,
    )
    assert.equal(
      answered(
        limit,
        many.map((i) => `198.51.${i}.1`),
      ),
      100,
    )
  })

  it('truncates every second answer that it limits, and recovers', () => {
    const limit = new ResponseRateLimit(rate)
    for (let i = 0; i < 20; i++) limit.take('192.0.2.1', 0)
    const verdicts = [1, 2, 3, 4].map(() => limit.take('192.0.2.9', 0))
    assert.deepEqual(verdicts, ['drop', 'truncate', 'drop', 'truncate'])
    assert.equal(limit.take('192.0.2.1', 1_000), 'answer')
    assert.equal(
      answered(
        limit,
        Array.from({ length: 1_000 }, () => '127.0.0.1'),
      ),
      1_000,
    )
  })
})
