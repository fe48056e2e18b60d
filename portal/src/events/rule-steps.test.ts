import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stepsOfChanges, stepsOfRules } from './rule-steps.ts'

const at = '2026-01-01T12:00:00.000Z'
const entry = (action: string, before: unknown = null, after: unknown = null, actor = 'user:1') => ({
  at,
  action,
  actor,
  actor_name: actor === 'user:1' ? 'dana@demo.example' : null,
  before,
  after,
})
const rules = (...comments: string[]) => ({ rules: comments.map((comment) => ({ comment })) })

describe('the steps of shield rules', () => {
  it('name what was done and by whom', () => {
    const steps = stepsOfChanges(
      [
        entry('shield.update', rules(), rules('Event a')),
        entry('shield.confirm'),
        entry('shield.update', rules('Event a'), rules('Event a', 'mine')),
        entry('shield.revert', null, { rules: 1 }, 'pharos'),
        entry('shield.update', rules('mine'), rules(), 'staff'),
        entry('announcement.update'),
      ],
      ['a', 'b'],
    )
    assert.deepEqual(
      steps.map(({ text, note }) => `${text} ${note}`),
      [
        'Suggested rules applied by dana@demo.example',
        'Rules kept by dana@demo.example',
        'Rules changed by dana@demo.example',
        'Rules reverted, not confirmed in time by Pharos',
        'Rules removed by the provider',
      ],
    )
  })

  it('of rules are one for each change, without a person', () => {
    const rule = (comment: string) => ({ created: at, comment, action: 'deny' as const })
    assert.deepEqual(
      stepsOfRules([rule('Event b'), rule('Event b'), { ...rule(''), action: 'allow' }], ['b']),
      [{ at, kind: 'rules', text: 'Suggested rules applied' }],
    )
  })
})
