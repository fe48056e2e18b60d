// /.well-known/security.txt of an operator (RFC 9116).
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTestApi, type TestApi } from './api.ts'

const path = '/.well-known/security.txt'

async function read(api: TestApi, accept = '*/*') {
  const { statusCode, headers, body } = await api.server.inject({ url: path, headers: { accept } })
  return { statusCode, type: headers['content-type'], body }
}

it('has the contact, the address of the file and a time in less than a year', async () => {
  const PHAROS_PUBLIC_URL = 'https://portal.net.example'
  await using api = await createTestApi({
    PHAROS_PUBLIC_URL,
    PHAROS_SECURITY_CONTACT: 'mailto:security@net.example',
  })
  const { statusCode, type, body } = await read(api)
  assert.deepEqual([statusCode, type], [200, 'text/plain; charset=utf-8'])
  const lines = body.split('\n')
  assert.equal(lines.pop(), '')
  const fields = new Map(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]))
  assert.deepEqual([...fields.keys()], ['Contact', 'Expires', 'Canonical'])
  assert.equal(fields.get('Contact'), 'mailto:security@net.example')
  assert.equal(fields.get('Canonical'), `${PHAROS_PUBLIC_URL}${path}`)
  const expires = fields.get('Expires')!
  assert.match(expires, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const days = (Date.parse(expires) - Date.now()) / 86_400_000
  assert.ok(days > 80 && days < 365, expires)
})

it('has no address without TLS, which RFC 9116 forbids', async () => {
  await using api = await createTestApi({
    PHAROS_PUBLIC_URL: 'http://portal.net.example',
    PHAROS_SECURITY_CONTACT: 'https://net.example/report',
  })
  assert.match((await read(api)).body, /^Contact: https:\/\/net\.example\/report\nExpires: .*\n$/)
})

it('does not exist without a contact, for browsers either', async () => {
  await using api = await createTestApi()
  for (const accept of ['*/*', 'text/html'])
    assert.deepEqual(await read(api, accept).then(({ statusCode, type }) => [statusCode, type]), [
      404,
      'application/problem+json; charset=utf-8',
    ])
})
