// The table of roles against an independent copy of it, and everything that is derived from it.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  describeRoles,
  grants,
  grantsOf,
  hasGrant,
  isForReading,
  neededRole,
  phraseOf,
  roles,
  type Grant,
} from './role.ts'
import { grantsNeeded, isOfTeamInPath } from './route.ts'
import { routes } from './document/routes.ts'

/** Columns: reader, editor, network, dns, billing, admin. */
const table: Readonly<Record<Grant, string>> = {
  'ipam.see': 'xxxx-x',
  'dns.see': 'xxxx-x',
  'inventory.see': 'xxxxxx',
  'report.see': 'xxx-xx',
  'lighthouse.see': 'xxx--x',
  'shield.see': 'xxx--x',
  'alerts.see': 'xxx--x',
  'team.see': 'xxxxxx',
  'webhooks.see': 'xxxxxx',
  'ipam.operate': '-xx--x',
  'dns.edit': '-xxx-x',
  'events.review': '-xx--x',
  'alerts.manage': '-xx--x',
  'inventory.order': '-xx--x',
  'ipam.manage': '--x--x',
  'shield.apply': '--x--x',
  'dns.manage': '---x-x',
  'billing.manage': '----xx',
  'views.share': '-xxxxx',
  'team.manage': '-----x',
  'webhooks.manage': '-----x',
  'tokens.manage': '-----x',
  'audit.see': '-----x',
}

const isTeamRoute = ({ permission }: (typeof routes)[number]) =>
  (permission.credential === 'web' || permission.credential === 'any') && permission.role !== 'staff'

describe('a role', () => {
  it('has exactly the grants of the table', () => {
    const found = grants.map((grant) => [
      grant,
      roles.map((role) => (hasGrant([role], grant) ? 'x' : '-')).join(''),
    ])
    assert.deepEqual(Object.fromEntries(found), table)
  })

  it('adds its grants to those of other roles', () => {
    for (const a of roles)
      for (const b of roles)
        assert.deepEqual(
          new Set(grantsOf([a, b])),
          new Set([...grantsOf([a]), ...grantsOf([b])]),
          `${a} and ${b}`,
        )
    assert.deepEqual(grantsOf([]), [])
  })

  it('has a text that names each of its grants and no other', () => {
    for (const role of roles.filter((one) => one !== 'admin')) {
      const text = describeRoles([role])
      for (const grant of grants) {
        const phrase = phraseOf(grant).replace(/^sees /, '')
        assert.equal(
          text.toLowerCase().includes(phrase.toLowerCase()),
          hasGrant([role], grant),
          `${role} ${grant}`,
        )
      }
      assert.equal(text.startsWith('Changes nothing. '), grantsOf([role]).every(isForReading), role)
    }
  })

  it('admin has every grant, and a text with those that no other role has', () => {
    assert.deepEqual(grantsOf(['admin']), grants)
    const alone = grants.filter((grant) => !roles.some((role) => role !== 'admin' && hasGrant([role], grant)))
    for (const grant of alone) assert.ok(describeRoles(['admin']).includes(phraseOf(grant)), grant)
    assert.match(describeRoles(['admin']), /^Has the rights of all other roles, and /)
  })

  it('is named in a refusal if it would do', () => {
    assert.equal(neededRole('ipam.manage'), 'the role Network or Admin')
    assert.equal(neededRole('dns.edit'), 'the role Editor, Network, DNS or Admin')
    assert.equal(neededRole('tokens.manage'), 'the role Admin')
  })
})

describe('the grant of an operation', () => {
  it('is declared by every operation of a team, except the personal ones and those that ask for the grant of each kind', () => {
    const without = routes.filter((one) => isTeamRoute(one) && grantsNeeded(one.permission, []).length === 0)
    assert.deepEqual(without.map(({ name }) => name).toSorted(), [
      'changeEmail',
      'changePassword',
      'closeStaffAccess',
      'confirmTotp',
      'createPasskey',
      'createPasskeyOptions',
      'createRecoveryCodes',
      'createTotp',
      'createView',
      'deleteAccount',
      'deleteIdentity',
      'deletePasskey',
      'deleteSession',
      'deleteTotp',
      'deleteView',
      'exportAccount',
      'followStream',
      'getNotificationSettings',
      'getPasskey',
      'getSecondFactor',
      'getSessionToken',
      'getView',
      'listIdentities',
      'listNotifications',
      'listPasskeys',
      'listSessions',
      'listTeams',
      'listViews',
      'readNotifications',
      'recoverSession',
      'search',
      'startSignOut',
      'updateNotificationSettings',
      'updatePasskey',
      'updateUser',
      'updateView',
    ])
  })

  it('is used by an operation, whatever the grant', () => {
    const used = routes.flatMap(({ permission }) => [
      ...grantsNeeded(permission, []),
      ...('fields' in permission ? Object.values(permission.fields ?? {}) : []),
    ])
    assert.deepEqual(new Set(used), new Set(grants))
  })

  it('is one for reading if and only if the operation changes nothing; a member may always leave', () => {
    const wrong = routes.filter((one) => {
      const [grant] = grantsNeeded(one.permission, [])
      if (!isTeamRoute(one) || grant === undefined) return false
      return isForReading(grant) !== (one.method === 'GET' || one.keyless === 'read')
    })
    assert.deepEqual(
      wrong.map(({ name, method, permission }) => [name, method, grantsNeeded(permission, [])]),
      [
        ['removeMember', 'DELETE', ['team.see']],
        ['listTeamAccess', 'GET', ['team.manage']],
        ['exportTeamAccess', 'GET', ['team.manage']],
        ['listProviders', 'GET', ['team.manage']],
        ['getProvider', 'GET', ['team.manage']],
        ['listSignInAttempts', 'GET', ['team.manage']],
        ['getTeamSignIn', 'GET', ['team.manage']],
        ['listTokens', 'GET', ['tokens.manage']],
        ['getToken', 'GET', ['tokens.manage']],
        ['listServiceAccounts', 'GET', ['tokens.manage']],
        ['getServiceAccount', 'GET', ['tokens.manage']],
      ],
    )
  })

  it('is that of the fields if a request has only these', () => {
    const { permission } = routes.find(({ name }) => name === 'updateTeam')!
    assert.deepEqual(grantsNeeded(permission, ['billing_email']), ['billing.manage'])
    assert.deepEqual(grantsNeeded(permission, ['name']), ['team.manage'])
    assert.deepEqual(grantsNeeded(permission, ['billing_email', 'name']), ['billing.manage', 'team.manage'])
    assert.deepEqual(grantsNeeded(permission, []), ['team.manage'])
    // Only use cases know the fields of a request: those whose path names the team check the grant.
    const withFields = routes.filter((one) => 'fields' in one.permission)
    assert.ok(withFields.every(isOfTeamInPath))
  })
})
