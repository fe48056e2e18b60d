// Resolves names with a real name server on loopback whose answers change between queries.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHostResolver } from '../outgoing/resolve-host.ts'
import { createWebhookSender } from './sender.ts'
import { loopback, startEndpoint, startNameServer } from './testing.ts'

const never = new AbortController().signal
const patient = { timeoutMs: 10_000, tries: 2 }

test('a name resolves to the addresses of both families, IPv4 first, and is queried each time', async () => {
  await using names = await startNameServer({
    'both.example.net': [['2001:db8::1', '192.0.2.1', '192.0.2.2']],
    'turning.example.net': [['192.0.2.1'], ['192.0.2.9']],
  })
  const resolver = createHostResolver({ servers: [names.server], ...patient })
  assert.deepEqual(await resolver.resolve('both.example.net', never), [
    '192.0.2.1',
    '192.0.2.2',
    '2001:db8::1',
  ])
  assert.deepEqual(await resolver.resolve('turning.example.net', never), ['192.0.2.1'])
  assert.deepEqual(await resolver.resolve('turning.example.net', never), ['192.0.2.9'])
  assert.deepEqual(await resolver.resolve('nothing.example.net', never), [])
  assert.deepEqual(await resolver.resolve('2001:db8::5', never), ['2001:db8::5'])
})

test('a name whose address changes between two messages keeps the first address', async () => {
  await using endpoint = await startEndpoint()
  await using names = await startNameServer({
    'rebound.example.net': [['127.0.0.1'], ['169.254.169.254']],
    'half.example.net': [['127.0.0.1', '::1']],
  })
  const resolver = createHostResolver({ servers: [names.server], ...patient })
  const sender = createWebhookSender({ resolver, allowed: loopback, timeoutMs: 60_000 })
  const send = (name: string) =>
    sender.send({ url: `http://${name}:${endpoint.port}/`, headers: {}, body: '{}' }, never)
  assert.equal((await send('rebound.example.net')).kind, 'answered')
  for (const name of ['rebound.example.net', 'half.example.net']) {
    const result = await send(name)
    assert.ok(result.kind === 'unanswered')
    assert.equal(result.isNotPublic, true)
    assert.match(result.error, /^the URL resolves to an address that is not public; ask your provider/)
  }
  const unknown = await send('nothing.example.net')
  assert.ok(unknown.kind === 'unanswered')
  assert.equal(unknown.error, 'the name has no address')
  assert.equal(endpoint.received.length, 1)
})

test('a name that no server resolves is an error, and the query ends with the signal', async () => {
  const gone = await startNameServer({})
  await gone[Symbol.asyncDispose]()
  const { server } = gone
  const resolver = createHostResolver({ servers: [server], timeoutMs: 100, tries: 1 })
  await assert.rejects(resolver.resolve('any.example.net', never))
  await assert.rejects(resolver.resolve('any.example.net', AbortSignal.abort(new Error('over'))), /over/)
})
