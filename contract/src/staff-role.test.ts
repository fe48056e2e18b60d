// The table of staff roles against an independent copy of it, and the operations that each role opens.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { routes } from './document/routes.ts'
import { grants, hasGrant, type Grant } from './role.ts'
import {
  hasStaffGrant,
  neededStaffRole,
  neededStaffRoleInTeam,
  staffGrants,
  staffHasGrant,
  staffRoles,
  type StaffGrant,
} from './staff-role.ts'

/** Columns: reader, billing, noc, admin. */
const table: Readonly<Record<StaffGrant, string>> = {
  'customers.see': 'xxxx',
  'operator.see': 'x-xx',
  'requests.decide': '--xx',
  'network.operate': '--xx',
  'platform.manage': '---x',
  'staff.see': '---x',
}

const isOfStaff = (path: string) => path.startsWith('/v3/admin/')

describe('a staff role', () => {
  it('has exactly the grants of the table', () => {
    const found = staffGrants.map((grant) => [
      grant,
      staffRoles.map((role) => (hasStaffGrant([role], grant) ? 'x' : '-')).join(''),
    ])
    assert.deepEqual(Object.fromEntries(found), table)
  })

  it('has grants in the team of a customer that follow from it', () => {
    const inTeam = (role: (typeof staffRoles)[number]) =>
      grants.filter((grant) => staffHasGrant([role], grant))
    const of = (...roles: Parameters<typeof hasGrant>[0]) => grants.filter((grant) => hasGrant(roles, grant))
    assert.deepEqual(
      inTeam('reader'),
      grants.filter((grant) => grant.endsWith('.see')),
    )
    assert.deepEqual(inTeam('billing'), of('billing'))
    assert.deepEqual(inTeam('noc'), of('network', 'dns'))
    assert.deepEqual(inTeam('admin'), grants)
    assert.equal(staffHasGrant([], 'team.see'), false)
  })

  it('is named in a refusal if it would do', () => {
    assert.equal(neededStaffRole('requests.decide'), 'the staff role NOC or Admin')
    assert.equal(neededStaffRole('platform.manage'), 'the staff role Admin')
    assert.equal(neededStaffRoleInTeam('ipam.operate' satisfies Grant), 'the staff role NOC or Admin')
  })
})

describe('the permission of an operation of staff', () => {
  it('is that of every operation of /v3/admin, and of no other', () => {
    const wrong = routes.filter(({ path, permission }) => {
      const isDeclared = 'role' in permission && permission.role === 'staff'
      return isDeclared !== isOfStaff(path)
    })
    assert.deepEqual(
      wrong.map(({ name }) => name),
      [],
    )
  })

  it('has a grant for reading if and only if the operation changes nothing, and every grant is used', () => {
    const used = routes.flatMap(({ name, method, permission }) =>
      'staffGrant' in permission && permission.staffGrant
        ? [{ name, method, grant: permission.staffGrant, scope: permission.scope }]
        : [],
    )
    for (const { name, method, grant, scope } of used) {
      assert.equal(grant.endsWith('.see'), method === 'GET', name)
      assert.equal(scope, method === 'GET' ? 'admin:read' : 'admin:write', name)
    }
    assert.deepEqual(new Set(used.map(({ grant }) => grant)), new Set(staffGrants))
  })

  it('opens to billing what concerns money, and to the reader everything but who entered which customer', () => {
    const opened = (role: (typeof staffRoles)[number]) =>
      routes.flatMap(({ name, permission }) =>
        'staffGrant' in permission && permission.staffGrant && hasStaffGrant([role], permission.staffGrant)
          ? [name]
          : [],
      )
    assert.deepEqual(opened('billing').toSorted(), [
      'exportBillsOfAll',
      'getCustomer',
      'listBillsOfAll',
      'listCrossConnectsOfAll',
      'listCustomers',
    ])
    const reads = routes.filter(({ path, method }) => isOfStaff(path) && method === 'GET')
    assert.deepEqual(
      reads.map(({ name }) => name).filter((name) => !opened('reader').includes(name)),
      ['listAccess', 'exportAccess', 'listStaffAccesses'],
    )
    const refused = routes.filter(({ path, name }) => isOfStaff(path) && !opened('noc').includes(name))
    assert.deepEqual(refused.map(({ name }) => name).toSorted(), [
      'applyPlatform',
      'changePlatform',
      'closeRestore',
      'decideRestore',
      'exportAccess',
      'inviteFirstAdmin',
      'listAccess',
      'listStaffAccesses',
      'updateSetupProgress',
    ])
    assert.equal(opened('admin').length, routes.filter(({ path }) => isOfStaff(path)).length)
  })
})
