import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { skipWithout } from '@pharos/lab/program'
import { nameServerConformance } from '../../dns/publish/name-server.conformance.ts'
import { writeZoneVersion, insertTestZone } from '../../dns/publish/testing.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { decodeMessage, emptyMessage, opcode, rcode, type Message } from '../../net/dns/message.ts'
import { parseName, parseZoneName } from '../../net/dns/name.ts'
import { TsigVerifier, signRequest, type TsigKey } from '../../net/dns/tsig.ts'
import { recordType } from '../../net/dns/type.ts'
import { exchange, receiveMessages } from '../dns-follower/exchange.ts'
import { createFollower } from '../dns-follower/name-server.ts'
import { createPrimary } from '../dns-follower/zone-primary.ts'
import { createHandler } from './handler.ts'
import { dig, startTestPrimary, testKey, type TestPrimary } from './testing.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const zone = parseZoneName('served.example')
const soaQuestion = { name: zone, type: recordType.SOA, class: 1 }
const axfrQuestion = { name: zone, type: recordType.AXFR, class: 1 }

nameServerConformance(
  'built in',
  async () => {
    const primary = await startTestPrimary()
    const { address, port, key } = primary
    const timeoutMs = 500
    return {
      primary,
      server: createFollower({ address, port, key }),
      absent: createFollower({ address: '127.0.0.9', port: 9, key, timeoutMs }),
      restart: () => Promise.resolve(),
      stop: () => primary[Symbol.asyncDispose](),
    }
  },
  false,
  {
    failing: 'zones without data are not configured',
    restart: 'it is the primary',
    catalog: 'it is the primary',
    clock: 'it is the primary',
  },
)

describe('the DNS server', () => {
  let primary: TestPrimary
  let id: number
  before(async () => {
    primary = await startTestPrimary()
    id = await insertTestZone(primary.deps.db, zone, 'www 300 A 192.0.2.1')
    await primary.publish(id)
  })
  after(() => primary[Symbol.asyncDispose]())

  const targetOf = (key?: TsigKey) => ({ address: '127.0.0.1', port: primary.port, key, timeoutMs: 2_000 })

  it('signs the answer to a signed question for the SOA over UDP', async () => {
    const socket = createSocket('udp4')
    const plain = encodeMessage({ ...emptyMessage, id: 77, questions: [soaQuestion] })
    const { wire, mac } = signRequest(plain, testKey, Date.now() / 1000)
    socket.send(wire, primary.port, '127.0.0.1')
    const [octets] = (await once(socket, 'message')) as [Buffer]
    socket.close()
    const answer = new Uint8Array(octets)
    const message = decodeMessage(answer)
    assert.ok(message.aa && message.tsig)
    new TsigVerifier({ key: testKey, mac }).verify(answer, message, Date.now() / 1000)
  })

  it('signs every message of a long transfer', async () => {
    const long = parseZoneName('long.example')
    const lines = Array.from({ length: 3_000 }, (_, i) => `n${i} 300 TXT ${'x'.repeat(100)}`)
    await primary.publish(await insertTestZone(primary.deps.db, long, lines.join('\n')))
    const query = { questions: [{ ...axfrQuestion, name: long }] }
    const messages: Message[] = []
    for await (const { message } of receiveMessages(targetOf(testKey), query)) {
      messages.push(message)
      if (message.answers.at(-1)?.type === recordType.SOA && messages.length > 1) break
    }
    assert.ok(messages.length > 5)
    for (const { tsig } of messages) assert.ok(tsig)
  })

  it('refuses transfers without a key, with another secret, an unknown key and a wrong time', async () => {
    const codeOf = async (key?: TsigKey): Promise<number> => {
      for await (const { message } of receiveMessages(targetOf(key), { questions: [axfrQuestion] }))
        return message.rcode
      return -1
    }
    assert.equal(await codeOf(), rcode.REFUSED)
    assert.equal(await codeOf(testKey), rcode.NOERROR)
    await assert.rejects(codeOf({ ...testKey, secret: Buffer.alloc(32) }), /BADSIG/)
    await assert.rejects(codeOf({ ...testKey, name: parseName('other.example.') }), /BADKEY/)
    const skewed = createHandler({
      zones: primary.zones,
      answer: () => assert.fail('it is not asked'),
      findKey: () => testKey,
      transferView: () => 'signed',
      notified: () => rcode.NOERROR,
      now: () => Date.now() / 1000 + 400,
    })
    const plain = encodeMessage({ ...emptyMessage, id: 5, questions: [soaQuestion] })
    const { wire } = signRequest(plain, testKey, Date.now() / 1000)
    const answer = decodeMessage(
      skewed.handleDatagram({ wire, address: '127.0.0.1', transport: 'udp' }) as Uint8Array,
    )
    assert.equal(answer.rcode, rcode.NOTAUTH)
    assert.ok(answer.tsig, 'BADTIME is signed, with the time of the server')
  })

  it('answers IXFR over UDP with the SOA, and AXFR over UDP with an error', async () => {
    const [soa] = (await exchange(targetOf(testKey), { questions: [soaQuestion] })).answers
    const ixfr = { questions: [{ ...soaQuestion, type: recordType.IXFR }], authorities: [soa!] }
    await writeZoneVersion(primary.deps.db, id, { added: 'www 300 A 192.0.2.7' })
    await primary.publish(id)
    const answer = await exchange(targetOf(testKey), ixfr)
    assert.deepEqual(
      answer.answers.map(({ type }) => type),
      [recordType.SOA],
    )
    const axfr = await exchange(targetOf(testKey), { questions: [axfrQuestion] })
    assert.equal(axfr.rcode, rcode.FORMERR)
    const client = createPrimary({ address: '127.0.0.1', port: primary.port, key: testKey })
    const steps = await client.transfer(zone, {
      from: soa!,
      recordsMax: 100,
      signal: new AbortController().signal,
    })
    assert.ok(steps.kind === 'steps' && steps.steps.length === 1)
    assert.deepEqual(
      steps.steps[0]!.added.map(({ type }) => type),
      [recordType.SOA, recordType.A],
    )
  })

  it('sends one version in a transfer while the zone changes', async () => {
    const name = parseZoneName('moving.example')
    const lines = Array.from({ length: 5_000 }, (_, i) => `n${i} 300 TXT ${'x'.repeat(60)}`)
    const moving = await insertTestZone(
      primary.deps.db,
      name,
      `a 300 A 192.0.2.0\nz 300 A 192.0.2.0\n${lines.join('\n')}`,
    )
    await primary.publish(moving)
    const server = createFollower({ address: '127.0.0.1', port: primary.port, key: testKey })
    const reading = new AbortController()
    const changing = (async () => {
      for (let i = 1; !reading.signal.aborted; i++) {
        await writeZoneVersion(primary.deps.db, moving, {
          added: `a 300 A 192.0.2.${i}\nz 300 A 192.0.2.${i}`,
        })
        await primary.publish(moving)
      }
    })()
    for (let i = 0; i < 5; i++) {
      const records = await Array.fromAsync(server.read(name))
      const [first, last] = ['a', 'z'].map((label) => records.find((one) => one.name === `${label}.${name}`))
      assert.deepEqual(first!.rdata, last!.rdata)
    }
    reading.abort()
    await changing
  })

  it('answers no response, and survives any octets', async () => {
    const handler = createHandler({
      zones: primary.zones,
      answer: (query) => encodeMessage({ ...emptyMessage, id: query.id, qr: true, rcode: rcode.REFUSED }),
      findKey: () => testKey,
      transferView: () => 'signed',
      notified: () => rcode.NOERROR,
      now: () => 0,
    })
    const ask = (wire: Uint8Array) => handler.handleDatagram({ wire, address: '192.0.2.1', transport: 'udp' })
    assert.equal(ask(encodeMessage({ ...emptyMessage, qr: true, questions: [soaQuestion] })), undefined)
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), async (octets) => {
        const answer = await ask(octets)
        assert.ok(answer === undefined || (answer[2]! & 0x80) !== 0)
      }),
      { numRuns: scaled(2_000) },
    )
    const notImplemented = encodeMessage({ ...emptyMessage, opcode: opcode.UPDATE, questions: [soaQuestion] })
    assert.equal(decodeMessage((await ask(notImplemented))!).rcode, rcode.NOTIMP)
  })

  it('answers pipelined questions of a connection in order, and ends one that stays silent', async () => {
    const socket = connect(primary.port, '127.0.0.1')
    const frames = [1, 2, 3].map((id) => {
      const wire = encodeMessage({ ...emptyMessage, id, questions: [soaQuestion] })
      return Buffer.concat([Buffer.of(0, wire.length), wire])
    })
    socket.write(Buffer.concat(frames).subarray(0, 40))
    socket.write(Buffer.concat(frames).subarray(40))
    let received = Buffer.alloc(0)
    const ids: number[] = []
    for await (const octets of socket as AsyncIterable<Buffer>) {
      received = Buffer.concat([received, octets])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        ids.push(decodeMessage(new Uint8Array(received.subarray(2, end))).id)
        received = received.subarray(end)
      }
      if (ids.length === 3) break
    }
    assert.deepEqual(ids, [1, 2, 3])
    socket.destroy()
  })

  it(
    'truncates what does not fit into UDP, and gives all of it over TCP',
    { skip: skipWithout('dig') },
    async () => {
      const big = parseZoneName('big.example')
      const lines = Array.from({ length: 40 }, (_, i) => `big 300 TXT ${'y'.repeat(80)}${i}`)
      await primary.publish(await insertTestZone(primary.deps.db, big, lines.join('\n')))
      assert.match(await dig(primary.port, '+ignore', 'big.big.example', 'TXT'), /flags: qr aa tc/)
      assert.match(await dig(primary.port, 'big.big.example', 'TXT'), /ANSWER: 40/)
    },
  )
})
