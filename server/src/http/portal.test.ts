import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { addPortal } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-portal-'))
let server: FastifyInstance
before(async () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<html nonce="">the portal</html>')
  writeFileSync(join(folder, 'favicon.svg'), '<svg/>')
  writeFileSync(join(folder, 'assets/app-12345678.js'), 'run()')
  writeFileSync(
    join(folder, 'pages.json'),
    JSON.stringify(['/', '/events', '/events/$id', '/team/webhooks/$id', '/sign-in']),
  )
  server = Fastify()
  server.setNotFoundHandler((_request, reply) =>
    reply.status(404).type('application/problem+json').send('{}'),
  )
  addPortal(server, `${folder}/`)
  await server.ready()
})
after(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const open = (url: string, headers: Record<string, string> = browser) => server.inject({ url, headers })

describe('an address that a browser opens', () => {
  for (const url of [
    '/',
    '/events',
    '/events?flag=IPV6',
    '/events/7',
    '/events/a%2Fb',
    '/team/webhooks/3/',
    '/sign-in',
  ]) {
    it(`returns the portal: ${url}`, async () => {
      const { statusCode, body } = await open(url)
      assert.equal(statusCode, 200)
      assert.match(body, /the portal/)
    })
  }

  for (const url of [
    '/event',
    '/events/7/8',
    '/team/webhooks',
    '/wp-login.php',
    '/docs/nothing',
    '/sign-in/x',
  ]) {
    it(`returns the portal, which shows "not found", with the status 404: ${url}`, async () => {
      const { statusCode, body, headers } = await open(url)
      assert.equal(statusCode, 404)
      assert.match(body, /the portal/)
      assert.match(String(headers['content-type']), /^text\/html/)
    })
  }

  for (const url of ['/v3/nothing', '/v4', '/assets/nothing.js', '/.well-known/nothing']) {
    it(`returns the problem document below the API and for files: ${url}`, async () => {
      const { statusCode, headers } = await open(url)
      assert.equal(statusCode, 404)
      assert.match(String(headers['content-type']), /^application\/problem\+json/)
    })
  }
})

it('an API client gets the problem document for any unknown path', async () => {
  for (const accept of ['*/*', 'application/json'])
    for (const url of ['/events', '/nothing', '/v3/nothing']) {
      const { statusCode, headers } = await open(url, { accept })
      assert.equal(statusCode, 404)
      assert.match(String(headers['content-type']), /^application\/problem\+json/)
    }
})

it('files with a hash in their name are served', async () => {
  const { statusCode, body } = await open('/assets/app-12345678.js', {})
  assert.deepEqual([statusCode, body], [200, 'run()'])
})
