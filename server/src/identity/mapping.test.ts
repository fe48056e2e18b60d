// From groups to roles, and what changes in the team.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planMembership, rolesOfGroups, type MappingRules, type MemberFacts } from './mapping.ts'

const rules: MappingRules = {
  mappings: [
    { group: 'net-ops', roles: ['network', 'dns'] },
    { group: 'admins', roles: ['admin'] },
  ],
  defaultRoles: [],
}
const stranger: MemberFacts = {
  roles: null,
  isManual: false,
  isScim: false,
  isInvited: false,
  isFormer: false,
  isLastAdmin: false,
  isProvisioned: false,
}
const provided = (roles: MemberFacts['roles']): MemberFacts => ({ ...stranger, roles })

test('roles are the union of those of all groups, and the defaults only without any', () => {
  assert.deepEqual(rolesOfGroups(rules, ['admins', 'net-ops', 'other']).roles, ['network', 'dns', 'admin'])
  assert.deepEqual(rolesOfGroups(rules, ['Net-Ops']), { roles: [], reason: 'not_assigned' })
  assert.deepEqual(rolesOfGroups({ ...rules, defaultRoles: ['reader'] }, ['other']).roles, ['reader'])
  assert.deepEqual(rolesOfGroups({ ...rules, defaultRoles: ['reader'] }, ['admins']).roles, ['admin'])
  assert.deepEqual(rolesOfGroups(rules, 'overflow'), { roles: [], reason: 'groups_overflow' })
  assert.deepEqual(rolesOfGroups({ mappings: [], defaultRoles: ['dns'] }, 'overflow').roles, ['dns'])
})

test('a person without a role is refused, and so is one whom an admin removed', () => {
  assert.deepEqual(planMembership(rules, [], stranger), { kind: 'refuse', reason: 'not_assigned' })
  assert.deepEqual(planMembership(rules, ['admins'], { ...stranger, isFormer: true }), {
    kind: 'refuse',
    reason: 'not_assigned',
  })
  assert.deepEqual(planMembership(rules, ['admins'], stranger), { kind: 'join', roles: ['admin'] })
})

test('roles follow the groups, unless an admin has set them or the team would have no admin', () => {
  assert.deepEqual(planMembership(rules, ['admins'], provided(['dns'])), { kind: 'update', roles: ['admin'] })
  assert.deepEqual(planMembership(rules, ['net-ops'], provided(['dns', 'network'])), { kind: 'keep' })
  assert.deepEqual(planMembership(rules, [], provided(['dns'])), { kind: 'refuse', reason: 'not_assigned' })
  assert.deepEqual(planMembership(rules, [], { ...provided(['dns']), isManual: true }), { kind: 'keep' })
  assert.deepEqual(planMembership(rules, ['net-ops'], { ...provided(['admin']), isLastAdmin: true }), {
    kind: 'keep',
  })
})
