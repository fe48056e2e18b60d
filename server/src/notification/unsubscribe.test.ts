import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createKeyRing } from '../runtime/secrets.ts'
import { parseUnsubscribeToken, unsubscribeUrl, type MailSubscription } from './unsubscribe.ts'

const ring = createKeyRing(['a-secret-of-at-least-thirty-two-bytes'])
const now = new Date('2026-04-01T10:00:00Z')
const tokenOf = ({ from = 'notifications', ...target }: Partial<MailSubscription>, keys = ring) =>
  unsubscribeUrl(keys, 'https://portal.example', { userId: 7, teamId: 3, ...target, from }, now).replace(
    /.*\//,
    '',
  )

test('a link names the user and the team, for a year', () => {
  for (const subscription of [
    { userId: 7, teamId: 3, from: 'notifications' },
    { userId: 7, teamId: null, from: 'notifications' },
    { userId: 7, teamId: 3, from: 'report' },
  ] as const)
    assert.deepEqual(parseUnsubscribeToken(ring, tokenOf(subscription), now), subscription)
  const [token, day] = [tokenOf({ userId: 7, teamId: 3 }), 86_400_000]
  assert.ok(parseUnsubscribeToken(ring, token, new Date(now.getTime() + 364 * day)))
  assert.equal(parseUnsubscribeToken(ring, token, new Date(now.getTime() + 366 * day)), undefined)
})

test('a link works after the key was replaced, as long as the ring has it', () => {
  const replaced = createKeyRing([
    'another-secret-of-at-least-thirty-two',
    'a-secret-of-at-least-thirty-two-bytes',
  ])
  assert.ok(parseUnsubscribeToken(replaced, tokenOf({ userId: 7, teamId: 3 }), now))
})

test('any changed link is rejected', () => {
  const token = tokenOf({ userId: 7, teamId: 3 })
  const foreign = tokenOf({ userId: 7, teamId: 3 }, createKeyRing(['another-secret-of-at-least-thirty-two']))
  for (const text of [
    '',
    foreign,
    token.replace('7.3', '8.3'),
    token.replace('7.3', '7.4'),
    token.replace('7.3', '7.3r'),
    tokenOf({ userId: 7, teamId: 3, from: 'report' }).replace('7.3r', '7.3'),
    `${token}A`,
    `0${token}`,
  ])
    assert.equal(parseUnsubscribeToken(ring, text, now), undefined, text)
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(...'0123456789AZaz-_.'), (place, letter) => {
      const changed = token.slice(0, place) + letter + token.slice(place + 1)
      // The last character of base64url carries four bits of the signature only.
      const isSame = changed === token || place === token.length - 1
      assert.ok(isSame || parseUnsubscribeToken(ring, changed, now) === undefined, changed)
    }),
  )
})
