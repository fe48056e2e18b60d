import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DriverError, QueryTooExpensive } from '../runtime/driver-error.ts'
import { Failure } from '../runtime/error.ts'
import { asFlowFailure } from './flow-failure.ts'

test('a store that does not answer is a degraded dependency', () => {
  for (const kind of ['unreachable', 'postponed', 'protocol'] as const) {
    const failure = asFlowFailure(new DriverError(kind, 'a text for operators')) as Failure
    assert.deepEqual(
      [failure.code, failure.degraded, failure.retryAfterSeconds],
      ['unavailable', ['clickhouse'], 10],
    )
    assert.doesNotMatch(failure.message, /operators/)
  }
})

test('a query beyond its limits is query_too_expensive', () => {
  const failure = asFlowFailure(new QueryTooExpensive('memory')) as Failure
  assert.deepEqual([failure.code, failure.degraded], ['query_too_expensive', undefined])
})

test('a statement that the store refuses is a defect', () => {
  const error = new DriverError('refused', 'syntax')
  assert.equal(asFlowFailure(error), error)
})
