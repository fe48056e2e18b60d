import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMailUrl } from './smtp-url.ts'

test('STARTTLS is used with a server on another machine, and not on this one', () => {
  const login = { user: 'pharos', password: 'a/b@c' }
  assert.deepEqual(parseMailUrl('smtp://pharos:a%2Fb%40c@mail.net.example'), {
    host: 'mail.net.example',
    port: 587,
    tls: 'starttls',
    caFile: null,
    login,
  })
  assert.deepEqual(parseMailUrl('smtps://pharos:a%2Fb%40c@mail.net.example?ca=/etc/ca.pem'), {
    host: 'mail.net.example',
    port: 465,
    tls: 'implicit',
    caFile: '/etc/ca.pem',
    login,
  })
  for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
    assert.equal(parseMailUrl(`smtp://a:b@${host}:25`).tls, 'none', host)
    assert.equal(parseMailUrl(`smtp://${host}?starttls=required`).tls, 'starttls', host)
  }
  assert.deepEqual(parseMailUrl('smtp://192.0.2.25:25/?starttls=off'), {
    host: '192.0.2.25',
    port: 25,
    tls: 'none',
    caFile: null,
    login: null,
  })
  assert.equal(parseMailUrl('smtp://[2001:db8::25]').host, '2001:db8::25')
})

const refused: readonly (readonly [string, RegExp])[] = [
  ['mail.net.example', /must be like smtp:/],
  ['http://mail.net.example', /must be like smtp:/],
  ['smtp://', /must be like|needs a host/],
  ['smtp://mail.net.example/inbox', /after host and port/],
  ['smtp://mail.net.example#x', /after host and port/],
  ['smtp://mail.net.example?tls=off', /no parameter tls, only starttls and ca/],
  ['smtps://mail.net.example?starttls=off', /no parameter starttls, only ca/],
  ['smtp://mail.net.example?starttls=maybe', /starttls=required or starttls=off/],
  ['smtp://mail.net.example?ca=', /empty parameter ca/],
  ['smtp://a%20b.example', /invalid host/],
  ['smtp://user@mail.net.example', /a user without a password/],
  ['smtp://:s3cret@mail.net.example', /a user without a password/],
  ['smtp://user:s3cret%zz@mail.net.example', /%25/],
  ['smtp://user:s3cret@mail.net.example?starttls=off', /a password in the clear/],
]
for (const [text, message] of refused) {
  test(`is rejected as mail_url, without its password in the message: ${text}`, () => {
    assert.throws(
      () => parseMailUrl(text),
      (error: Error) => message.test(error.message) && !error.message.includes('s3cret'),
    )
  })
}
