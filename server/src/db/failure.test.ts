import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../runtime/error.ts'
import { asFailure } from './failure.ts'

const withCode = (code: string, more: object = {}) => Object.assign(new Error('x'), { code }, more)

describe('an error of PostgreSQL', () => {
  const unavailable = [
    withCode('08006'),
    withCode('57P01'),
    withCode('57P03'),
    withCode('57014'),
    withCode('53300'),
    withCode('53100'),
    withCode('ECONNREFUSED'),
    withCode('ECONNRESET'),
    withCode('ENOENT', { syscall: 'connect' }),
    new AggregateError([withCode('ECONNREFUSED')]),
    new Error('Connection terminated unexpectedly'),
    new Error('Connection terminated due to connection timeout'),
    new Error('timeout exceeded when trying to connect'),
    new Error('Client has encountered a connection error and is not queryable'),
  ]
  for (const error of unavailable) {
    it(`is unavailable: ${(error as { code?: string }).code ?? error.message}`, () => {
      const failure = asFailure(error)
      assert.ok(failure instanceof Failure)
      assert.equal(failure.code, 'unavailable')
      assert.deepEqual(failure.degraded, ['postgresql'])
      assert.equal(failure.retryAfterSeconds, 2)
      assert.equal(failure.cause, error)
      assert.equal(failure.message.includes('x'), false)
    })
  }

  const others = [
    withCode('23505'),
    withCode('42P01'),
    withCode('ENOENT', { syscall: 'open' }),
    new TypeError('y'),
    'z',
  ]
  for (const error of others) {
    it(`passes through otherwise: ${String((error as { code?: string }).code ?? error)}`, () => {
      assert.equal(asFailure(error), error)
    })
  }

  it('is returned unchanged if it already is a Failure', () => {
    const failure = new Failure('conflict', 'no')
    assert.equal(asFailure(failure), failure)
  })
})
