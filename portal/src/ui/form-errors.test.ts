import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProblemError } from '@pharos/contract/client'
import { placeErrors } from './form-errors.ts'

const problem = (...locs: (string | number)[][]) =>
  new ProblemError({
    type: 'https://portal.example.net/docs/problems/invalid',
    title: 'The request is not valid',
    status: 422,
    detail: '',
    code: 'invalid',
    request_id: 'none',
    errors: locs.map((loc) => ({ loc, msg: `wrong: ${loc.at(-1)}`, type: 'invalid' })),
  })

describe('errors of a form', () => {
  it('belong to the field in their `loc`, at any depth', () => {
    const error = problem(['body', 'email'], ['body', 'scopes', 0], ['query', 'signatory'])
    assert.deepEqual(placeErrors(error, ['email', 'scopes', 'signatory']), {
      fields: { email: 'wrong: email', scopes: 'wrong: 0', signatory: 'wrong: signatory' },
      rest: undefined,
    })
  })

  it('of one field are joined', () => {
    const { fields } = placeErrors(problem(['body', 'scopes', 0], ['body', 'scopes', 1]), ['scopes'])
    assert.deepEqual(fields, { scopes: 'wrong: 0; wrong: 1' })
  })

  it('without a field remain errors of the whole form', () => {
    const { fields, rest } = placeErrors(problem(['body', 'email'], ['body', 'team']), ['email'])
    assert.deepEqual(fields, { email: 'wrong: email' })
    assert.ok(rest instanceof ProblemError)
    assert.deepEqual(
      rest.problem.errors?.map(({ loc }) => loc),
      [['body', 'team']],
    )
  })

  it('are the whole error if no error has a `loc`', () => {
    const error = problem()
    assert.equal(placeErrors(error, ['email']).rest, error)
    const lost = new TypeError('fetch failed')
    assert.deepEqual(placeErrors(lost, ['email']), { fields: {}, rest: lost })
  })
})
