import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ProblemError } from '@pharos/contract/client'
import { claimRecord } from './claim-record.ts'

const claimed = (ctx?: Record<string, unknown>) =>
  new ProblemError({
    type: 'about:blank',
    title: 'Conflict',
    status: 409,
    detail: '',
    code: 'zone_claimed',
    request_id: '00000000-0000-4000-8000-000000000000',
    errors: [{ loc: ['body', 'name'], msg: 'is held', type: 'zone_claimed', ...(ctx ? { ctx } : {}) }],
  })

it('has the record to create, and the domain that it verifies', () => {
  const ctx = { record_name: '_pharos-challenge.example.com', record_type: 'TXT', record_value: 'proof=1' }
  assert.deepEqual(claimRecord(claimed(ctx)), {
    domain: 'example.com',
    name: '_pharos-challenge.example.com',
    value: 'proof=1',
  })
  assert.equal(claimRecord(claimed()), undefined)
})
