import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changePasswordRoute } from '@pharos/contract/session/account'
import { updateTeamRoute } from '@pharos/contract/team/team'
import { createTokenRoute, updateTokenRoute } from '@pharos/contract/team/token'
import { createWebhookRoute } from '@pharos/contract/messages/webhook'
import { findBreach, rulesOf } from './form-rules.ts'

describe('rules of a form', () => {
  it('are read from the body of the operation', () => {
    const rules = rulesOf(createTokenRoute)
    assert.equal(rules['name']!.maxLength, 200)
    assert.ok(rules['scopes']!.options!.includes('ipam:read'))
    assert.deepEqual(
      { min: rules['max_unused_days']!.minimum, max: rules['max_unused_days']!.maximum },
      { min: 1, max: 3650 },
    )
  })

  it('require what the body needs and does not accept empty', () => {
    const requiredOf = (rules: ReturnType<typeof rulesOf>) =>
      Object.keys(rules).filter((name) => rules[name]!.required)
    assert.deepEqual(requiredOf(rulesOf(createTokenRoute)), ['name', 'scopes'])
    assert.deepEqual(requiredOf(rulesOf(createWebhookRoute)), ['url', 'events'])
    assert.deepEqual(requiredOf(rulesOf(updateTokenRoute)), ['name'])
    assert.deepEqual(requiredOf(rulesOf(updateTeamRoute)), ['name', 'timezone', 'default_roles'])
  })

  it('find the same mistakes as the server, in its words', () => {
    const team = rulesOf(updateTeamRoute)
    assert.deepEqual(findBreach(team['name']!, ' '), { type: 'required', msg: 'is required' })
    assert.equal(
      findBreach(team['noc_phone']!, 'call me')!.msg,
      'must be an international telephone number such as +31 20 123 4567, or empty',
    )
    assert.equal(findBreach(team['noc_phone']!, ''), undefined)
    const { new_password } = rulesOf(changePasswordRoute)
    assert.match(findBreach(new_password!, 'short')!.msg, /^has 5 characters and needs 12 to 128/)
    const { max_unused_days } = rulesOf(createTokenRoute)
    assert.equal(findBreach(max_unused_days!, 0)!.msg, 'must be a whole number from 1 to 3650')
    assert.equal(findBreach(max_unused_days!, 1.5)!.msg, 'must be a whole number')
    assert.equal(findBreach(max_unused_days!, ''), undefined)
    assert.equal(findBreach({ required: true }, 80.5), undefined)
  })

  it('count characters, not UTF-16 units', () => {
    assert.equal(findBreach({ required: true, maxLength: 2 }, '🗼🗼'), undefined)
    assert.match(findBreach({ required: true, maxLength: 2 }, '🗼🗼🗼')!.msg, /this has 3$/)
  })
})
