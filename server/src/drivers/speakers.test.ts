import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { speakerDrivers, createSpeaker } from './speakers.ts'

const ownerOf = (settings: Readonly<Record<string, unknown>>) =>
  speakerDrivers.find(settings['kind'])?.ownerOf(settings)

const gobgp = { kind: 'gobgp', address: 'localhost:50051', owner: '64500:1:1' }

const messagesOf = (settings: Readonly<Record<string, unknown>>) =>
  speakerDrivers.check(settings).map(({ path, message }) => `${path.join('.')}: ${message}`)

test('settings are checked by the driver of their kind, each problem with its place', () => {
  assert.deepEqual(messagesOf({ kind: 'sandbox' }), [])
  assert.deepEqual(messagesOf(gobgp), [])
  const cases: readonly (readonly [settings: Readonly<Record<string, unknown>>, expected: RegExp])[] = [
    [{}, /^kind: the kind of a speaker is sandbox or gobgp$/],
    [{ kind: 'frr' }, /^kind: the kind of a speaker is sandbox or gobgp$/],
    [
      { kind: 'sandbox', latency_ms: -1 },
      /^latency_ms: latency_ms must be a whole number from 0 to 10000, not -1$/,
    ],
    [
      { kind: 'sandbox', owner: 'x' },
      /^owner: owner is not a known field; known fields are kind, latency_ms$/,
    ],
    [{ ...gobgp, next_hop: { ipv4: '::1' } }, /^next_hop\.ipv4: ipv4 must be an IPv4 address$/],
    [{ ...gobgp, tls: { ca_file: '/a', cert_file: '/b' } }, /^tls: cert_file needs key_file/],
    [
      { ...gobgp, address: '192.0.2.1:50051' },
      /^address: this port controls the router without authentication/,
    ],
  ]
  for (const [settings, expected] of cases) {
    const messages = messagesOf(settings)
    assert.equal(messages.length, 1, messages.join('\n'))
    assert.match(messages[0]!, expected)
  }
})

test('an address that is accepted can be connected to: settings and connection decide alike what is of this machine', async () => {
  const expected: Readonly<Record<string, RegExp | undefined>> = {
    'localhost:1': undefined,
    '127.0.0.1:1': undefined,
    '127.255.1.2:1': undefined,
    '[::1]:1': undefined,
    'unix:/no/gobgpd.sock': undefined,
    '127.0121.111.1:50051': /^address: address must be host:port/,
    '127.0.0.999:50051': /^address: address must be host:port/,
    '127.1:50051': /^address: address must be host:port/,
    '127.0.0.1:65536': /^address: address must be host:port/,
    '[::g]:50051': /^address: address must be host:port/,
    '127.0.0.1': /^address: address must be host:port/,
    'localhost.net.example:50051': /^address: this port controls the router/,
    '127.0.0.1.net.example:50051': /^address: this port controls the router/,
    '[::2]:50051': /^address: this port controls the router/,
  }
  for (const [address, problem] of Object.entries(expected)) {
    const settings = { ...gobgp, address, timeout_ms: 1_000 }
    if (problem) assert.match(messagesOf(settings)[0] ?? '', problem, address)
    else {
      assert.deepEqual(messagesOf(settings), [], address)
      const { speaker } = createSpeaker(settings, 'ams')
      // The credentials are made for the first call.
      await assert.rejects(speaker.list(), { kind: 'unreachable', message: /^(?!.*plaintext)/ }, address)
      await speaker.close()
    }
  }
})

test('two speakers exclude each other if router and owner are the same', () => {
  assert.equal(ownerOf(gobgp), ownerOf({ ...gobgp, timeout_ms: 100 }))
  assert.notEqual(ownerOf(gobgp), ownerOf({ ...gobgp, owner: '64500:1:2' }))
  assert.equal(ownerOf({ kind: 'sandbox' }), undefined)
})

test('a speaker has the next hops of its settings', async () => {
  const next_hop = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' }
  const { speaker, nextHops } = createSpeaker({ ...gobgp, next_hop }, 'ams')
  assert.deepEqual(nextHops, { nextHop4: '192.0.2.1', nextHop6: '2001:db8::1' })
  await speaker.close()
  const sandbox = createSpeaker({ kind: 'sandbox' }, 'ams/r1')
  assert.deepEqual([sandbox.nextHops, (await sandbox.speaker.probe()).name], [{}, 'sandbox'])
  await sandbox.speaker.close()
})

test('a speaker is not created from wrong settings, or without its key files', (t) => {
  assert.throws(() => createSpeaker({ kind: 'frr' }, 'ams'), /^Error: speaker ams: the kind of a speaker/)
  const folder = mkdtempSync(join(tmpdir(), 'speaker-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const tls = { ca_file: join(folder, 'none.pem') }
  assert.deepEqual(messagesOf({ ...gobgp, tls }), [])
  assert.throws(() => createSpeaker({ ...gobgp, tls }, 'ams'), /ENOENT/)
})
