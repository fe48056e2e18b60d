import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../runtime/error.ts'
import { clearRefreshCookies, moveRefreshToCookie, readRefresh } from './refresh-cookie.ts'

const plain = { secure: false, lifetimeSeconds: 600 }
const secure = { secure: true, lifetimeSeconds: 600 }
const mode = { 'pharos-refresh': 'cookie' }
const reply = { body: { access: 'a', refresh: 'phr_secret', user: null }, headers: { etag: '"1"' } }

describe('the refresh token', () => {
  it('stays in the body unless the client requests a cookie', () => {
    assert.equal(moveRefreshToCookie(secure, {}, reply), reply)
    assert.equal(moveRefreshToCookie(secure, { 'pharos-refresh': 'Cookie, cookie' }, reply), reply)
    assert.deepEqual(clearRefreshCookies(secure, {}), {})
    assert.equal(readRefresh(secure, { cookie: '__Host-pharos-refresh=phr_other' }, 'cookie'), 'cookie')
  })

  it('is moved into a cookie that no script can read and no other site can send', () => {
    const { body, headers } = moveRefreshToCookie(secure, mode, reply)
    assert.deepEqual(body, { access: 'a', refresh: 'cookie', user: null })
    assert.equal(headers.etag, '"1"')
    const cookies = (headers as Record<string, unknown>)['set-cookie']
    assert.deepEqual(cookies, [
      '__Host-pharos-refresh=phr_secret; HttpOnly; Path=/; Max-Age=600; SameSite=Strict; Secure',
      'pharos-signed-in=yes; Path=/; Max-Age=600; SameSite=Strict; Secure',
    ])
  })

  it('is a cookie for http if users connect by http', () => {
    const { headers } = moveRefreshToCookie(plain, mode, reply) as { headers: Record<string, unknown> }
    assert.deepEqual(headers['set-cookie'], [
      'pharos-refresh=phr_secret; HttpOnly; Path=/; Max-Age=600; SameSite=Strict',
      'pharos-signed-in=yes; Path=/; Max-Age=600; SameSite=Strict',
    ])
  })

  it('is read from the cookie of that name only, if the body requests it', () => {
    const cookie = 'a=b; x-pharos-refresh=no; pharos-refresh=phr_mine; pharos-refresh2=no'
    assert.equal(readRefresh(plain, { ...mode, cookie }, 'cookie'), 'phr_mine')
    assert.equal(readRefresh(plain, { ...mode, cookie }, 'phr_given'), 'phr_given')
    assert.equal(readRefresh(secure, { ...mode, cookie }, 'cookie'), '')
    assert.equal(readRefresh(plain, mode, 'cookie'), '')
  })

  it('is removed with the session', () => {
    assert.deepEqual(clearRefreshCookies(plain, mode), {
      'set-cookie': [
        'pharos-refresh=; HttpOnly; Path=/; Max-Age=0; SameSite=Strict',
        'pharos-signed-in=; Path=/; Max-Age=0; SameSite=Strict',
      ],
    })
  })

  it('is refused to pages of other sites, including sibling subdomains', () => {
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { ...mode, 'sec-fetch-site': site, cookie: 'pharos-refresh=phr_mine' }
      const isForbidden = (error: unknown) => error instanceof Failure && error.code === 'forbidden'
      assert.throws(() => readRefresh(plain, headers, 'cookie'), isForbidden)
      assert.throws(() => moveRefreshToCookie(plain, headers, reply), isForbidden)
      assert.throws(() => clearRefreshCookies(plain, headers), isForbidden)
    }
    const own = { ...mode, 'sec-fetch-site': 'same-origin', cookie: 'pharos-refresh=phr_mine' }
    assert.equal(readRefresh(plain, own, 'cookie'), 'phr_mine')
  })
})
