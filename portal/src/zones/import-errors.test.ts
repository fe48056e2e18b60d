import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ProblemError } from '@pharos/contract/client'
import type { Problem } from '@pharos/contract/problem'
import { lineErrors } from './import-errors.ts'

it('lists the errors of a zone file by line', () => {
  const errors = [
    {
      loc: ['body', 'zonefile', 9],
      msg: 'line 9: The TTL is missing.',
      type: 'ttl',
      ctx: { line: 9, text: 'www A' },
    },
    { loc: ['body', 'zonefile', 2], msg: 'line 2: see `ttl_floor`', type: 'x', ctx: { line: 2, text: '' } },
    { loc: ['body', 'name'], msg: 'must be a name', type: 'name' },
  ]
  const error = new ProblemError({
    code: 'invalid',
    status: 422,
    title: '',
    detail: '',
    errors,
  } as unknown as Problem)
  assert.deepEqual(lineErrors(error), [
    { line: 2, text: '', message: 'This line is not a valid record.' },
    { line: 9, text: 'www A', message: 'The TTL is missing.' },
  ])
  assert.deepEqual(lineErrors(new Error('x')), [])
})
