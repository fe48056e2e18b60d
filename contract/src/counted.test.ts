import assert from 'node:assert/strict'
import { it } from 'node:test'
import { counted } from './counted.ts'

it('a count agrees with its noun', () => {
  const texts = [0, 1, 2].map((count) => counted(count, 'prefix', 'prefixes'))
  assert.deepEqual(texts, ['0 prefixes', '1 prefix', '2 prefixes'])
  assert.deepEqual([counted(1, 'route'), counted('3', 'route')], ['1 route', '3 routes'])
})
