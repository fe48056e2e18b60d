import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DriverError } from '../../runtime/driver-error.ts'
import { Failure } from '../../runtime/error.ts'
import { proofResult, runCheck } from './asn-proof-result.ts'

const never = new AbortController().signal
const noError = (error: unknown) => assert.fail(String(error))
const found = proofResult('valid', 'aut_num_found', { asn: 64500, source: 'RIPE' })

async function check(throws: unknown): Promise<[string, unknown[]]> {
  const errors: unknown[] = []
  const result = await runCheck(
    1_000,
    never,
    () => Promise.reject(throws as Error),
    (error) => errors.push(error),
  )
  return [result.state, errors]
}

describe('a check of a method', () => {
  it('returns its result', async () => {
    assert.deepEqual(await runCheck(1_000, never, async () => found, noError), found)
  })

  it('ends at its timeout even if the source never answers and ignores the signal', async () => {
    const result = await runCheck(50, never, () => new Promise(() => {}), noError)
    assert.equal(result.state, 'unavailable')
  })

  it('is unavailable without an answer, and an error after an error answer', async () => {
    assert.deepEqual(await check(new DriverError('unreachable', 'secret address')), ['unavailable', []])
    assert.deepEqual(await check(new Failure('unavailable', 'The registry is down.')), ['unavailable', []])
    assert.deepEqual(await check(new DriverError('refused', 'no')), ['error', []])
    assert.deepEqual(await check(new DriverError('protocol', 'what?')), ['error', []])
  })

  it('is an error, and reported to the operator, after an internal error', async () => {
    const bug = new TypeError('undefined is not a function')
    assert.deepEqual(await check(bug), ['error', [bug]])
  })

  it("does not show a driver's message to the team", async () => {
    const result = await runCheck(
      1_000,
      never,
      () => Promise.reject(new DriverError('refused', 'whois.internal:4343 refused')),
      noError,
    )
    assert.ok(!JSON.stringify(result).includes('internal'))
  })

  it('rejects when it is aborted', async () => {
    const abort = new AbortController()
    const running = runCheck(10_000, abort.signal, () => new Promise(() => {}), noError)
    abort.abort(new Error('the loop is stopping'))
    await assert.rejects(running, /stopping/)
  })
})
