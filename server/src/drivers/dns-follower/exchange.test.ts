import assert from 'node:assert/strict'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { decodeMessage, type Message } from '../../net/dns/message.ts'
import { parseZoneName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { createFollower } from './name-server.ts'

const zone = parseZoneName('asked.example')

/** A server that answers as `reply` says, from its own and from another port. */
async function startForger(reply: (query: Message) => { own: Message[]; other: Message[] }) {
  const [server, stranger] = [createSocket('udp4'), createSocket('udp4')]
  server.on('message', (octets: Buffer, { port }: RemoteInfo) => {
    const { own, other } = reply(decodeMessage(new Uint8Array(octets)))
    for (const message of other) stranger.send(encodeMessage(message), port, '127.0.0.1')
    for (const message of own) server.send(encodeMessage(message), port, '127.0.0.1')
  })
  server.bind(0, '127.0.0.1')
  stranger.bind(0, '127.0.0.1')
  await Promise.all([once(server, 'listening'), once(stranger, 'listening')])
  return {
    port: server.address().port,
    [Symbol.dispose]() {
      server.close()
      stranger.close()
    },
  }
}

const soaAnswer = (query: Message, serial: number): Message => {
  const rdata = Buffer.alloc(22)
  rdata.writeUInt32BE(serial, 2)
  const record = { name: zone, type: recordType.SOA, class: 1, ttl: 60, rdata: new Uint8Array(rdata) }
  return { ...query, qr: true, aa: true, answers: [record] }
}

describe('a question to a name server', () => {
  it('drops answers with another id, source or question', async () => {
    using forger = await startForger((query) => {
      const { type, class: recordClass } = query.questions[0]!
      const otherName = { type, class: recordClass, name: parseZoneName('other.example') }
      return {
        other: [soaAnswer(query, 666)],
        own: [
          { ...soaAnswer(query, 667), id: query.id ^ 1 },
          { ...soaAnswer(query, 668), questions: [otherName] },
          { ...soaAnswer(query, 669), qr: false },
          soaAnswer(query, 42),
        ],
      }
    })
    const server = createFollower({ address: '127.0.0.1', port: forger.port, timeoutMs: 2_000 })
    assert.equal((await server.serials([zone])).get(zone), 42)
    const { answers } = await server.ask({ name: zone, type: recordType.SOA, class: 1 })
    assert.equal(Buffer.from(answers[0]!.rdata).readUInt32BE(2), 42)
    await server.close()
  })

  it('fails as a whole if one zone of many gets no answer', async () => {
    const silent = parseZoneName('silent.example')
    using forger = await startForger((query) => ({
      other: [],
      own: query.questions[0]!.name === silent ? [] : [{ ...query, qr: true, rcode: 5 }],
    }))
    const server = createFollower({ address: '127.0.0.1', port: forger.port, timeoutMs: 600 })
    assert.equal((await server.serials([zone])).get(zone), 'absent')
    await assert.rejects(server.serials([zone, silent]), { kind: 'unreachable' })
  })
})
