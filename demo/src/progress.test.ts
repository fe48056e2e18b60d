import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createProgress } from './progress.ts'

it('each quarter of the mean share is reported once, and the end', () => {
  const reported: number[] = []
  const [first, second] = createProgress(2, (percent) => reported.push(percent))
  for (const share of [0.1, 0.5, 0.5, 1]) first!(share)
  for (const share of [0.2, 1]) second!(share)
  assert.deepEqual(reported, [25, 50, 100])
})
