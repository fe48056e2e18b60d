// The list of roles with their grants.
import { Type, type Static } from 'typebox'
import { grants, RoleName } from '../role.ts'
import { route } from '../route.ts'
import { Component, Enumeration, Page } from '../scalar.ts'

export const RoleDescription = Component('RoleDescription', {
  name: { ...RoleName, description: 'name of the role' },
  grants: Type.Array(Enumeration('Grant', grants), { description: 'the grants of the role' }),
})
export type RoleDescription = Static<typeof RoleDescription>

export const listRolesRoute = route({
  name: 'listRoles',
  group: 'Team',
  method: 'GET',
  path: '/v3/roles',
  summary: 'List roles',
  description:
    'The roles of a member, the same in every team, with their grants. An operation states the grant that it needs ' +
    '(`x-required-grant`). A member with several roles has the grants of each.',
  permission: { credential: 'any', scope: 'team:read', grant: 'team.see' },
  response: Page(RoleDescription),
  success: 200,
})

export const roleRoutes = [listRolesRoute]
