import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it } from 'node:test'
import { requestDifferencesOf, requestHashOf } from './request-hash.ts'

const of = (method: string, url: string, body: string) =>
  requestHashOf('token:a', method, url, Buffer.from(body))
const kept = of('POST', '/v3/webhooks', '{}')

it('names the parts of another request', () => {
  assert.equal(requestDifferencesOf(kept, of('POST', '/v3/webhooks', '{}')), undefined)
  assert.deepEqual(requestDifferencesOf(kept, of('POST', '/v3/webhooks', '{ }')), ['the body'])
  assert.deepEqual(requestDifferencesOf(kept, of('POST', '/v3/webhooks?dry_run=true', '{}')), [
    'the path or query',
  ])
  assert.deepEqual(requestDifferencesOf(kept, of('PUT', '/v3/members', '')), [
    'the method',
    'the path or query',
  ])
})

it('compares with a hash of an older version, which has no parts', () => {
  const old = createHash('sha256').update('token:a\nPOST /v3/webhooks\n{}').digest()
  assert.equal(requestDifferencesOf(old, kept), undefined)
  assert.deepEqual(requestDifferencesOf(old, of('PUT', '/v3/webhooks', '{}')), [])
})
