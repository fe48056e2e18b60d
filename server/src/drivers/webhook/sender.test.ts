// Sends to real endpoints on loopback, with every kind of response and failure.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createHostResolver } from '../outgoing/resolve-host.ts'
import { createWebhookSender, type SenderOptions } from './sender.ts'
import { loopback, resolverOf, startEndpoint, startTcp } from './testing.ts'

const never = new AbortController().signal
const message = { headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' }, body: '{"a":"ü"}' }

const senderWith = (options: Partial<SenderOptions> = {}) =>
  createWebhookSender({ resolver: createHostResolver(), allowed: loopback, ...options })

const send = (url: string, options: Partial<SenderOptions> = {}) =>
  senderWith(options).send({ url, ...message }, never)

async function errorOf(url: string, options: Partial<SenderOptions> = {}): Promise<string> {
  const result = await send(url, options)
  assert.equal(result.kind, 'unanswered', JSON.stringify(result))
  return result.kind === 'unanswered' ? result.error : ''
}

describe('a message', () => {
  test('arrives unchanged, with its headers and without those of a proxy', async () => {
    await using endpoint = await startEndpoint((_received, response) =>
      response.writeHead(200).end('fine\n\u0007!'),
    )
    const result = await send(`${endpoint.url}?a=1`)
    assert.ok(result.kind === 'answered')
    assert.deepEqual([result.status, result.text, result.retryAfterSeconds], [200, 'fine !', null])
    const [received] = endpoint.received
    assert.equal(received!.method, 'POST')
    assert.equal(received!.path, '/hook?a=1')
    assert.equal(received!.body, message.body)
    assert.equal(received!.headers['host'], `127.0.0.1:${endpoint.port}`)
    assert.equal(received!.headers['webhook-id'], 'msg_1')
    assert.equal(received!.headers['content-length'], '10')
  })

  test('is sent directly, even if the environment configures a proxy', async () => {
    await using endpoint = await startEndpoint()
    await using proxy = await startTcp((socket) => socket.destroy())
    const before = { ...process.env }
    Object.assign(process.env, {
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
      http_proxy: `http://127.0.0.1:${proxy.port}`,
      NODE_USE_ENV_PROXY: '1',
    })
    try {
      assert.equal((await send(endpoint.url)).kind, 'answered')
    } finally {
      process.env = before
    }
  })

  test('is not redirected', async () => {
    await using other = await startEndpoint()
    await using endpoint = await startEndpoint((_received, response) =>
      response.writeHead(302, { location: other.url }).end(),
    )
    const result = await send(endpoint.url)
    assert.ok(result.kind === 'answered')
    assert.equal(result.status, 302)
    assert.equal(other.received.length, 0)
  })

  test('returns when to retry', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
    for (const [header, least, most] of [
      ['7', 7, 7],
      [inAnHour, 3_500, 3_600],
      ['Wed, 21 Oct 2015 07:28:00 GMT', 0, 0],
    ] as const) {
      await using endpoint = await startEndpoint((_received, response) =>
        response.writeHead(503, { 'retry-after': header }).end(),
      )
      const result = await send(endpoint.url)
      assert.ok(result.kind === 'answered' && result.retryAfterSeconds !== null)
      assert.ok(result.retryAfterSeconds >= least && result.retryAfterSeconds <= most, header)
    }
  })
})

describe('an endpoint', () => {
  test('that responds endlessly is read up to 64 KiB', async () => {
    let sent = 0
    await using endpoint = await startEndpoint((_received, response) => {
      response.writeHead(200)
      const chunk = Buffer.alloc(65_536, 'x')
      const more = () => {
        if (sent >= 100 * 1024 * 1024) return void response.end()
        sent += chunk.length
        if (response.write(chunk)) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    })
    const result = await send(endpoint.url)
    assert.ok(result.kind === 'answered')
    assert.equal(result.status, 200)
    assert.equal(result.text.length, 1024)
    assert.ok(sent < 100 * 1024 * 1024, 'it was not read to the end')
  })

  test('that sends a decompression bomb is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024))
    await using endpoint = await startEndpoint((received, response) => {
      assert.equal(received.headers['accept-encoding'], undefined)
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    const result = await send(endpoint.url)
    assert.ok(result.kind === 'answered')
    assert.equal(result.text, '')
  })

  test('times out if it does not answer', async () => {
    await using endpoint = await startEndpoint(() => {})
    assert.equal(await errorOf(endpoint.url, { timeoutMs: 200 }), 'no answer within 0.2 s')
  })

  test('has answered if it hangs after the status', async () => {
    await using endpoint = await startEndpoint((_received, response) => {
      response.writeHead(200)
      response.write('one')
    })
    // Long enough for an answer on a slow machine; the test lasts as long.
    const result = await send(endpoint.url, { timeoutMs: 5_000 })
    assert.ok(result.kind === 'answered')
    assert.deepEqual([result.status, result.text], [200, 'one'])
  })

  test('is reported by cause if it closes, does not exist, or uses another protocol', async () => {
    await using closing = await startTcp((socket) => socket.once('data', () => socket.destroy()))
    await using smtp = await startTcp((socket) => socket.end('220 mail.example ESMTP\r\n'))
    await using headers = await startEndpoint((_received, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(40_000) }).end()
    })
    const gone = await startTcp(() => {})
    await gone[Symbol.asyncDispose]()
    const at = (port: number) => `http://127.0.0.1:${port}/`
    assert.equal(await errorOf(at(closing.port)), 'the connection was closed before a response was received')
    assert.equal(await errorOf(at(smtp.port)), 'the response is not HTTP')
    assert.equal(await errorOf(headers.url), 'the response headers are too long')
    assert.equal(await errorOf(at(gone.port)), 'the connection was refused')
  })

  test('is abandoned when the sender stops', async () => {
    await using endpoint = await startEndpoint(() => {})
    const stop = new AbortController()
    const sending = senderWith().send({ url: endpoint.url, ...message }, stop.signal)
    await endpoint.arrived(1)
    stop.abort(new Error('stopping'))
    await assert.rejects(sending, /stopping/)
  })
})

describe('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-webhook-'))
  const file = (name: string) => join(folder, name)
  const openssl = (words: string) =>
    execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' })
  openssl(
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout key.pem -out cert.pem ' +
      '-subj /CN=hooks.example.net -addext subjectAltName=DNS:hooks.example.net,IP:127.0.0.1',
  )
  const [key, cert] = [readFileSync(file('key.pem'), 'utf8'), readFileSync(file('cert.pem'), 'utf8')]
  rmSync(folder, { recursive: true })
  const resolver = resolverOf({ 'hooks.example.net': [['127.0.0.1']], 'other.example.net': [['127.0.0.1']] })

  test('the certificate must be one that is trusted, for the name or the address', async () => {
    await using endpoint = await startEndpoint(undefined, { key, cert })
    const named = `https://hooks.example.net:${endpoint.port}/`
    assert.equal((await send(named, { resolver, ca: cert })).kind, 'answered')
    assert.equal((await send(endpoint.url, { resolver, ca: cert })).kind, 'answered')
    assert.equal(await errorOf(named, { resolver }), 'TLS: the certificate is self-signed')
    assert.equal(
      await errorOf(`https://other.example.net:${endpoint.port}/`, { resolver, ca: cert }),
      'TLS: the certificate is for another name',
    )
    assert.equal(endpoint.received.length, 2)
  })

  test('a server without it is reported', async () => {
    await using endpoint = await startEndpoint()
    const error = await errorOf(endpoint.url.replace('http:', 'https:'))
    assert.equal(error, 'TLS: the server does not support a common version or cipher')
  })
})

describe('the target', () => {
  const notPublic = 'the URL resolves to an address that is not public; ask your provider to allow it'

  test('is rejected if one of its addresses is not public', async () => {
    await using endpoint = await startEndpoint()
    const resolver = resolverOf({
      'mixed.example.net': [['127.0.0.1', '10.0.0.1']],
      'mapped.example.net': [['::ffff:127.0.0.1']],
    })
    for (const name of ['mixed.example.net', 'mapped.example.net'])
      assert.equal(await errorOf(`http://${name}:${endpoint.port}/`, { resolver }), notPublic)
    assert.equal(endpoint.received.length, 0)
  })

  test('is checked each time if its addresses change', async () => {
    await using endpoint = await startEndpoint()
    const resolver = resolverOf({
      'turning.example.net': [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']],
    })
    const url = `http://turning.example.net:${endpoint.port}/`
    const sender = senderWith({ resolver })
    const kinds = []
    for (let i = 0; i < 3; i++) kinds.push((await sender.send({ url, ...message }, never)).kind)
    assert.deepEqual(kinds, ['answered', 'unanswered', 'answered'])
  })

  test('loopback is rejected in any spelling, unless the operator allows its network', async () => {
    await using endpoint = await startEndpoint()
    const hosts = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0',
    ]
    for (const host of hosts)
      assert.equal(await errorOf(`http://${host}:${endpoint.port}/`, { allowed: [] }), notPublic, host)
    assert.equal(endpoint.received.length, 0)
  })

  test('requires TLS on the public internet', async () => {
    const resolver = resolverOf({ 'plain.example.net': [['93.184.215.14']] })
    assert.equal(
      await errorOf('http://plain.example.net/', { resolver }),
      'nothing is sent to the public internet without TLS',
    )
  })
})
