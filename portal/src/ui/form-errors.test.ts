import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProblemError } from '@pharos/contract/client'
import { errorSentence, placeErrors } from './form-errors.ts'

const problem = (...locs: (string | number)[][]) =>
  new ProblemError({
    type: 'https://portal.example.net/docs/problems/invalid',
    title: 'The request is not valid',
    status: 422,
    detail: '',
    code: 'invalid',
    request_id: 'none',
    errors: locs.map((loc) => ({ loc, msg: `is wrong at ${loc.at(-1)}`, type: 'invalid' })),
  })

describe('errors of a form', () => {
  it('belong to the field in their `loc`, at any depth', () => {
    const error = problem(['body', 'email'], ['body', 'scopes', 0], ['query', 'signatory'])
    assert.deepEqual(placeErrors(error, ['email', 'scopes', 'signatory']), {
      fields: {
        email: 'The value is wrong at email.',
        scopes: 'The value is wrong at 0.',
        signatory: 'The value is wrong at signatory.',
      },
      rest: undefined,
    })
  })

  it('of one field are joined', () => {
    const { fields } = placeErrors(problem(['body', 'scopes', 0], ['body', 'scopes', 1]), ['scopes'])
    assert.deepEqual(fields, { scopes: 'The value is wrong at 0. The value is wrong at 1.' })
  })

  it('without a field remain errors of the whole form', () => {
    const { fields, rest } = placeErrors(problem(['body', 'email'], ['body', 'team']), ['email'])
    assert.deepEqual(fields, { email: 'The value is wrong at email.' })
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

  it('have the label of the field as their subject', () => {
    const { fields } = placeErrors(problem(['body', 'email']), ['email'], { email: 'E-mail' })
    assert.deepEqual(fields, { email: 'E-mail is wrong at email.' })
    assert.equal(errorSentence('Name', { type: 'minLength', msg: 'must not be empty' }), 'Name is required.')
    assert.equal(
      errorSentence('Expiry', {
        type: 'too_far',
        msg: 'must be at most 5 years from now; null never expires',
      }),
      'Expiry must be at most 5 years from now.',
    )
    assert.equal(
      errorSentence('Scopes', { type: 'x', msg: 'is not accepted with `is_admin`' }),
      'Scopes is not valid.',
    )
  })
})
