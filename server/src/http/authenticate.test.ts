import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { staffChanging, staffReading } from '@pharos/contract/route'
import fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { Failure } from '../runtime/error.ts'
import type { TokenActor, UserActor } from '../operation/operation.ts'
import { authorize, parseAuthorization } from './authenticate.ts'
import { scaled } from '../runtime/testing-scale.ts'

const user: UserActor = {
  kind: 'user',
  userId: 1,
  sessionId: 's',
  teamId: 1,
  roles: ['editor'],
  isStaff: false,
  staffRoles: [],
  access: null,
  isLocal: true,
  blockedBy: null,
  modules: ['ipam'],
  limits: null,
}
const token: TokenActor = {
  kind: 'token',
  tokenId: 't',
  teamId: 1,
  roles: ['editor'],
  isStaff: false,
  staffRoles: [],
  modules: ['ipam'],
  limits: null,
  scopes: ['ipam:read'],
}

describe('an Authorization header', () => {
  it('consists of a scheme, case-insensitive, and a credential', () => {
    assert.deepEqual(parseAuthorization('Bearer abc'), { scheme: 'bearer', value: 'abc' })
    assert.deepEqual(parseAuthorization('TOKEN  phs_x'), { scheme: 'token', value: 'phs_x' })
    assert.equal(parseAuthorization(undefined), undefined)
  })

  for (const header of [
    '',
    'Bearer',
    'Bearer ',
    'Basic abc',
    'Bearer a b',
    'Bearer\tabc',
    'Bearer ä',
    ` Bearer abc`,
    `Bearer ${'x'.repeat(5000)}`,
  ]) {
    it(`is rejected:  ${JSON.stringify(header).slice(0, 40)}`, () => {
      assert.throws(() => parseAuthorization(header), { code: 'unauthenticated' })
    })
  }

  it('is parsed or rejected for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: codePoint }),
          fc.string().map((text) => `Token ${text}`),
        ),
        (header) => {
          try {
            assert.ok(parseAuthorization(header)?.value)
          } catch (error) {
            assert.ok(error instanceof Failure, String(error))
          }
        },
      ),
      { numRuns: scaled(100_000) },
    )
  })
})

describe('a permission', () => {
  const any = { credential: 'any', module: 'ipam', scope: 'ipam:write' } as const

  it('requires the scope of an API token, but not of a user', () => {
    assert.throws(() => authorize(token, any), { code: 'scope_missing' })
    authorize({ ...token, scopes: ['ipam:write'] }, any)
    authorize(user, any)
  })

  it('requires the module of the team', () => {
    assert.throws(() => authorize({ ...user, modules: [] }, any), { code: 'module_disabled' })
  })

  it('requires the second factor first if the team does, unless the operation is personal', () => {
    const lacking = {
      ...user,
      roles: ['admin'] as const,
      isStaff: true,
      blockedBy: { reason: 'second_factor' } as const,
    }
    for (const permission of [any, { credential: 'web' }, staffReading('operator.see')] as const)
      assert.throws(() => authorize(lacking, permission), { code: 'second_factor_required' })
    authorize(lacking, { credential: 'web', personal: true })
    authorize(token, { credential: 'any' })
  })

  it('requires a session that opens the team, with the provider of the team in the answer', () => {
    const blocked = { ...user, blockedBy: { reason: 'sign_in', provider: 'k3j5mq2xw7ab' } as const }
    assert.throws(() => authorize(blocked, { credential: 'web' }), {
      code: 'sign_in_required',
      errors: [
        {
          loc: ['header', 'Authorization'],
          msg: 'must be of a session that the identity provider of the team has opened',
          type: 'sign_in_required',
          ctx: { provider: 'k3j5mq2xw7ab' },
        },
      ],
    })
    authorize(blocked, { credential: 'web', personal: true })
  })

  it('refuses a session of an identity provider for what the account owns', () => {
    const foreign = { ...user, isLocal: false }
    assert.throws(() => authorize(foreign, { credential: 'web', personal: true, local: true }), {
      code: 'local_sign_in_required',
    })
    authorize(foreign, { credential: 'web', personal: true })
  })

  it('requires a role with the grant, and names those that would do', () => {
    const operate = { credential: 'any', grant: 'ipam.operate' } as const
    authorize(user, operate)
    authorize({ ...user, roles: ['dns', 'network'] }, operate)
    assert.throws(() => authorize({ ...user, roles: ['dns', 'billing'] }, operate), {
      code: 'forbidden',
      message: 'Needs the role Editor, Network or Admin. Ask an admin of the team.',
    })
    assert.throws(() => authorize({ ...token, roles: [] }, operate), { code: 'forbidden' })
    // A team that the path names: the use case checks the roles there.
    authorize({ ...user, roles: [] }, operate, false)
  })

  it('requires the role; staff have the rights of their staff roles in a team that they have entered', () => {
    const admin = { credential: 'any', grant: 'tokens.manage' } as const
    assert.throws(() => authorize(user, admin), {
      code: 'forbidden',
      message: 'Needs the role Admin. Ask an admin of the team.',
    })
    assert.throws(() => authorize(token, { ...admin, scope: 'ipam:write' }), {
      code: 'forbidden',
      message:
        'This API token has no admin role: it was created without it, or the member who created it is no longer an admin. ' +
        'Let an admin create one with it, and with the scope ipam:write.',
    })
    assert.throws(() => authorize(token, admin), { message: /create one with it\.$/ })
    authorize({ ...user, roles: ['admin'] }, admin)
    const staff = { ...user, roles: [], isStaff: true, staffRoles: ['admin'] } as const
    assert.throws(() => authorize(staff, admin), { code: 'reason_required' })
    authorize(staff, admin, false)
    authorize(staff, { credential: 'web', personal: true })
    const entered = { ...staff, access: { id: 1, change: true } } as const
    authorize(entered, admin)
    authorize({ ...entered, staffRoles: ['noc'] }, { credential: 'any', grant: 'ipam.manage' })
    assert.throws(() => authorize({ ...entered, staffRoles: ['noc'] }, admin), {
      code: 'forbidden',
      message: 'Needs the staff role Admin.',
    })
    // A member has the rights of a member.
    assert.throws(() => authorize({ ...user, isStaff: true, staffRoles: ['admin'] }, admin), {
      message: 'Needs the role Admin. Ask an admin of the team.',
    })
    assert.throws(() => authorize({ ...user, roles: ['admin'] }, staffReading('operator.see')), {
      code: 'forbidden',
    })
    authorize(staff, staffReading('operator.see'))
    assert.throws(() => authorize({ ...staff, staffRoles: ['billing'] }, staffReading('operator.see')), {
      code: 'forbidden',
      message: 'Needs the staff role Reader, NOC or Admin.',
    })
  })

  it('of staff takes a staff token with the scope, and no other permission does', () => {
    const reader = { kind: 'staff_token', tokenId: 'abc', isStaff: true, scopes: ['admin:read'] } as const
    authorize(reader, staffReading('operator.see'))
    assert.throws(() => authorize(reader, staffChanging('network.operate')), { code: 'scope_missing' })
    authorize({ ...reader, scopes: ['admin:write'] }, staffChanging('network.operate'))
    assert.throws(() => authorize({ ...reader, scopes: ['admin:write'] }, staffReading('operator.see')), {
      code: 'scope_missing',
    })
    assert.throws(() => authorize({ ...token, scopes: ['admin:read'] }, staffReading('operator.see')), {
      code: 'forbidden',
    })
    const all = { ...reader, scopes: ['admin:read', 'admin:write', 'ipam:write'] }
    for (const permission of [any, { credential: 'any' }, { credential: 'web', personal: true }] as const)
      assert.throws(() => authorize(all, permission), { code: 'forbidden' })
  })
})
