import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeDigest, type DigestInput, type DigestNotifications } from './digest.ts'

const at = new Date('2026-04-01T10:32:00Z')
const attack = (id: string): DigestNotifications => ({
  kind: 'attack',
  at,
  attrs: { event_id: id, network: '203.0.113.0/24', class: 'udp.flood', bps: 2e9, pps: 3e5, end: null },
})
const input = (shown: readonly DigestNotifications[], counts: DigestInput['counts']): DigestInput => ({
  team: 'Blue',
  shown,
  counts,
  since: at,
  publicUrl: 'https://portal.example',
  unsubscribe: 'https://portal.example/unsubscribe/x',
})

test('a single notification is the subject, with a link to its page', () => {
  const { subject, link, lines } = composeDigest(input([attack('e1')], [{ kind: 'attack', count: 1 }]))
  assert.equal(subject, 'Attack on 203.0.113.0/24: UDP flood, peak 2 Gbps, 300 kpps')
  assert.equal(link, 'https://portal.example/events/e1')
  assert.deepEqual(lines, [`2026-04-01 10:32 UTC  ${subject}`])
})

test('several attacks are counted', () => {
  const shown = ['e1', 'e2', 'e3'].map(attack)
  const { subject, link, count } = composeDigest(input(shown, [{ kind: 'attack', count: 7 }]))
  assert.equal(subject, '7 attacks since 10:32 UTC')
  assert.equal(link, 'https://portal.example/events')
  assert.equal(count, 7)
})

test('several kinds are counted together', () => {
  const decided: DigestNotifications = {
    kind: 'letter_decided',
    at,
    attrs: { filename: 'a.pdf', status: 'accepted' },
  }
  const some = composeDigest(
    input(
      [attack('e1'), decided],
      [
        { kind: 'attack', count: 1 },
        { kind: 'letter_decided', count: 2 },
      ],
    ),
  )
  assert.equal(some.subject, '2 letters decided and 1 other since 10:32 UTC')
  assert.equal(some.link, 'https://portal.example/')
  const letters = composeDigest(input([decided, decided], [{ kind: 'letter_decided', count: 2 }]))
  assert.equal(letters.subject, '2 letters decided since 10:32 UTC')
})

test('text of other users contains no link, and is in no subject', () => {
  const attrs = { filename: 'https://evil.example/a.pdf', status: 'rejected', reason: 'see http://x.example' }
  const { lines, subject } = composeDigest(
    input([{ kind: 'letter_decided', at, attrs }], [{ kind: 'letter_decided', count: 1 }]),
  )
  assert.doesNotMatch(lines[0]!, /:\/\//)
  assert.equal(subject, '1 letter decided')
})
