// IXFR from servers that divide the records among messages in their own ways.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { it } from 'node:test'
import { decodeMessage, emptyMessage } from '../../net/dns/message.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { parseZoneName } from '../../net/dns/name.ts'
import { recordsOf, type ResourceRecord } from '../../net/dns/record.ts'
import { rrsetsOf } from '../../dns/testing.ts'
import { createPrimary } from './zone-primary.ts'

const zone = parseZoneName('divided.example')
const record = (line: string): ResourceRecord =>
  rrsetsOf(zone, line).flatMap((set) => [...recordsOf(set)])[0]!
const soa = (serial: number) => record(`@ 60 SOA ns host ${serial} 60 60 600 60`)
const www = (last: number) => record(`www 60 A 192.0.2.${last}`)

/** Requests the changes since serial 1 from a server that answers with these messages. */
async function transferFrom(messages: readonly (readonly ResourceRecord[])[]) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (octets: Buffer) => {
      const { id, questions } = decodeMessage(new Uint8Array(octets.subarray(2)))
      for (const answers of messages) {
        const wire = encodeMessage({ ...emptyMessage, id, qr: true, aa: true, questions, answers })
        const length = Buffer.alloc(2)
        length.writeUInt16BE(wire.length)
        socket.write(Buffer.concat([length, wire]))
      }
      socket.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    return await createPrimary({ address: '127.0.0.1', port }).transfer(zone, {
      from: soa(1),
      recordsMax: 100,
      signal: new AbortController().signal,
    })
  } finally {
    server.close()
  }
}

const steps = { kind: 'steps', steps: [{ removed: [soa(1), www(1)], added: [soa(2), www(2)] }] }
const [first, ...others] = [soa(2), soa(1), www(1), soa(2), www(2), soa(2)]

it('IXFR is read to its end if the first message has the new SOA only', async () => {
  assert.deepEqual(await transferFrom([[first!, ...others]]), steps)
  assert.deepEqual(await transferFrom([[first!], others]), steps)
  assert.deepEqual(await transferFrom([[first!], [], others]), steps)
})

it('IXFR with one SOA that is not newer says that there is nothing newer', async () => {
  assert.deepEqual(await transferFrom([[soa(1)]]), { kind: 'steps', steps: [] })
})

it('IXFR that ends after a newer SOA has failed', async () => {
  await assert.rejects(transferFrom([[soa(2)]]), { kind: 'unreachable' })
})
