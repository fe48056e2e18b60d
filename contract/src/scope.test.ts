import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isForAdminTokens } from './role.ts'
import { routes } from './document/routes.ts'
import { adminNeeds, scopes, type AdminNeed, type Scope } from './scope.ts'

it('says of each scope how many of its operations need a token with is_admin', () => {
  const needOf = (scope: Scope): AdminNeed => {
    const needs = routes.flatMap(({ permission }) => {
      if (!('scope' in permission) || permission.scope !== scope) return []
      return [permission.grant !== undefined && isForAdminTokens(permission.grant)]
    })
    assert.ok(needs.length > 0, scope)
    if (needs.every(Boolean)) return 'all'
    return needs.some(Boolean) ? 'some' : 'none'
  }
  assert.deepEqual(adminNeeds, Object.fromEntries(scopes.map((scope) => [scope, needOf(scope)])))
})
