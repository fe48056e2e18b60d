import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { startNameServer } from '@pharos/lab/name-server'
import { skipWithout } from '@pharos/lab/program'
import { DriverError } from '../../runtime/driver-error.ts'
import { createTxtResolver } from './txt-resolver.ts'

const never = new AbortController().signal
const name = '_pharos-asn.113.0.203.in-addr.arpa'

const isKind = (kind: string) => (error: unknown) => error instanceof DriverError && error.kind === kind

describe('the TXT resolver', { skip: skipWithout('nsd') }, () => {
  let server: Awaited<ReturnType<typeof startNameServer>>
  before(async () => {
    server = await startNameServer({ failing: ['broken.in-addr.arpa'] })
  })
  after(() => server[Symbol.asyncDispose]())

  const resolve = (wanted: string) =>
    createTxtResolver({ servers: [server.server], timeoutMs: 1_000 }).resolveTxt(wanted, never)

  it('returns every record of a name, with its strings joined', async () => {
    const long = 'x'.repeat(300)
    await server.setRecords([
      { name, text: 'a "quoted" text; with more' },
      { name, text: long },
    ])
    assert.deepEqual((await resolve(name)).toSorted(), ['a "quoted" text; with more', long])
  })

  it('returns records that do not fit into a datagram', async () => {
    const texts = Array.from({ length: 40 }, (_, at) => `${String(at).padStart(2, '0')} ${'y'.repeat(200)}`)
    await server.setRecords(texts.map((text) => ({ name, text })))
    assert.deepEqual((await resolve(name)).toSorted(), texts)
  })

  it('returns no records if the name, or its TXT record, does not exist', async () => {
    await server.setRecords([{ name: `below.${name}`, text: 'something' }])
    assert.deepEqual(await resolve('_pharos-asn.0.0.10.in-addr.arpa'), [])
    assert.deepEqual(await resolve(name), [])
    assert.deepEqual(await resolve('ns.arpa'), [])
  })

  it('distinguishes a negative answer from no answer', async () => {
    await assert.rejects(resolve('_pharos-asn.broken.in-addr.arpa'), isKind('refused'))
    await assert.rejects(resolve('elsewhere.example'), isKind('refused'))
    const closed = createTxtResolver({ servers: ['127.0.0.1:1'], timeoutMs: 200, tries: 1 })
    await assert.rejects(closed.resolveTxt(name, never), isKind('unreachable'))
  })
})

describe('a name server that does not answer', () => {
  it('times out after the configured time, and is cancelled at once by the signal', async (t) => {
    const silent = createSocket('udp4').bind(0, '127.0.0.1')
    t.after(() => silent.close())
    await once(silent, 'listening')
    const servers = [`127.0.0.1:${silent.address().port}`]
    const began = performance.now()
    const patient = createTxtResolver({ servers, timeoutMs: 300, tries: 1 })
    await assert.rejects(patient.resolveTxt(name, never), isKind('unreachable'))
    const waitedMs = performance.now() - began
    assert.ok(waitedMs >= 250 && waitedMs < 20_000, `${waitedMs} ms`)
    const abort = new AbortController()
    const question = createTxtResolver({ servers, timeoutMs: 30_000 }).resolveTxt(name, abort.signal)
    abort.abort(new Error('cancelled'))
    await assert.rejects(question, /cancelled/)
  })
})

describe('the servers', () => {
  it('are addresses, with a port or without', () => {
    const accepted = ['192.0.2.1', '192.0.2.1:5353', '[2001:db8::1]:53', '[2001:db8::1]', '2001:db8::1']
    for (const server of accepted) createTxtResolver({ servers: [server] })
    for (const server of ['', 'ns.example.net', '192.0.2.1:0', '192.0.2.1:99999', '192.0.2.1:', '[ns]:53'])
      assert.throws(() => createTxtResolver({ servers: [server] }), TypeError, server)
  })
})
