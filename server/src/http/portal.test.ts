import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Brand } from '../brand/brand.ts'
import { addPortal } from './portal.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-portal-'))
let server: FastifyInstance
const plain: Brand = { name: 'Pharos', accent: null, support: null, logo: null, asn: null }
let brand = plain
let isSetupOpen = false
before(async () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(
    join(folder, 'index.html'),
    '<html nonce=""><head><meta name="pharos:provider" content="" /><meta name="pharos:support" content="" />' +
      '<meta name="pharos:logo" content="" /></head>the portal</html>',
  )
  writeFileSync(join(folder, 'favicon.svg'), '<svg/>')
  writeFileSync(join(folder, 'assets/app-12345678.js'), 'run()')
  writeFileSync(
    join(folder, 'pages.json'),
    JSON.stringify(['/', '/events', '/events/$id', '/team/webhooks/$id', '/sign-in', '/setup']),
  )
  server = Fastify()
  server.setNotFoundHandler((_request, reply) =>
    reply.status(404).type('application/problem+json').send('{}'),
  )
  addPortal(server, { readBrand: async () => brand, isSetupOpen: async () => isSetupOpen }, `${folder}/`)
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

it('leads every page to the setup while it is open', async () => {
  isSetupOpen = true
  for (const url of ['/', '/events', '/sign-in?to=/staff']) {
    const { statusCode, headers } = await open(url)
    assert.deepEqual([statusCode, headers['location']], [302, '/setup'], url)
  }
  assert.equal((await open('/setup')).statusCode, 200)
  assert.equal((await open('/nowhere')).statusCode, 404)
  isSetupOpen = false
  assert.equal((await open('/')).statusCode, 200)
})

describe('the provider', () => {
  it('is named in the page, with its support and logo, as text', async () => {
    brand = {
      name: 'A "B" & <C>$&',
      accent: '#0f766e',
      support: 'mailto:noc@example.net',
      logo: '<svg></svg>',
      asn: null,
    }
    const { body } = await open('/')
    assert.ok(body.includes('name="pharos:provider" content="A &quot;B&quot; &amp; &lt;C&gt;$&amp;"'), body)
    assert.ok(body.includes('name="pharos:support" content="mailto:noc@example.net"'))
    assert.ok(body.includes('name="pharos:logo" content="/brand/logo"'))
    assert.ok(body.includes('<link rel="stylesheet" href="/brand.css" />'))
    brand = plain
    const { body: without } = await open('/')
    assert.ok(without.includes('name="pharos:provider" content="Pharos"'))
    assert.ok(without.includes('name="pharos:logo" content=""') && !without.includes('brand.css'))
  })

  it('has a style sheet and a logo with an ETag, and the logo can run nothing', async () => {
    brand = { ...plain, accent: '#0f766e', logo: '<svg></svg>' }
    const style = await open('/brand.css', {})
    assert.match(style.body, /--accent-fill: #[0-9a-f]{6};/)
    const logo = await open('/brand/logo', {})
    assert.deepEqual([logo.statusCode, logo.body], [200, '<svg></svg>'])
    assert.equal(logo.headers['content-security-policy'], "default-src 'none'; sandbox")
    for (const [url, { headers }] of Object.entries({ '/brand.css': style, '/brand/logo': logo })) {
      const again = await open(url, { 'if-none-match': String(headers.etag) })
      assert.deepEqual([again.statusCode, again.body], [304, ''])
    }
    brand = plain
    assert.equal((await open('/brand/logo', {})).statusCode, 404)
    assert.deepEqual(
      [(await open('/brand.css', {})).statusCode, (await open('/brand.css', {})).body],
      [200, ''],
    )
  })
})
