import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digests } from '@pharos/contract/messages/notification'
import { nextMailAt } from './schedule.ts'

const at = (text: string) => new Date(`2026-04-01T${text}Z`)

test('the first mail is sent at once, and the next one after a pause', () => {
  assert.deepEqual(nextMailAt('immediate', at('10:00:00'), null), at('10:00:00'))
  assert.deepEqual(nextMailAt('immediate', at('10:03:00'), at('10:00:00')), at('10:15:00'))
  assert.deepEqual(nextMailAt('immediate', at('10:20:00'), at('10:00:00')), at('10:20:00'))
})

test('an hourly digest is sent at the full hour, a daily one at 07:00 UTC', () => {
  assert.deepEqual(nextMailAt('hourly', at('10:59:59'), null), at('11:00:00'))
  assert.deepEqual(nextMailAt('daily', at('06:59:00'), null), at('07:00:00'))
  assert.deepEqual(nextMailAt('daily', at('07:00:00'), null), new Date('2026-04-02T07:00:00Z'))
})

test('no mail is scheduled in the past, or later than a day', () => {
  const times = fc.date({ min: at('00:00:00'), max: new Date('2027-04-01'), noInvalidDate: true })
  fc.assert(
    fc.property(fc.constantFrom(...digests), times, times, (digest, now, last) => {
      const delay = nextMailAt(digest, now, last <= now ? last : null).getTime() - now.getTime()
      assert.ok(delay >= 0 && delay <= 86_400_000, `${delay}`)
    }),
  )
})
