// The sign-in policy of a team: what opens it for its members, and its recovery codes for the time when the identity provider does not answer.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import { Component, Enumeration, NullableTime, Nullable, Strict } from '../scalar.ts'
import { ProviderKey } from '../session/sso.ts'
import { TeamInPath } from './team.ts'

export const signInPolicies = ['optional', 'required_domain', 'required'] as const
export type SignInPolicy = (typeof signInPolicies)[number]

/** What a stricter policy needs first. */
export const signInSteps = ['provider', 'recovery_codes', 'recent_sign_in'] as const
export type SignInStep = (typeof signInSteps)[number]

/** How old the sign-in of an admin who sets a stricter policy may be. */
export const recentSignInMinutes = 15
export const teamRecoveryCodes = 10

const policy = {
  ...Enumeration('SignInPolicy', signInPolicies),
  description:
    '`optional`: a password, a passkey or the identity provider; `required_domain`: the identity provider for members with an address in one of its ' +
    'domains, a password or passkey with a second factor for others; `required`: the identity provider only',
}

export const TeamSignIn = Component('TeamSignIn', {
  policy,
  provider: Nullable({
    ...ProviderKey,
    description: 'key of the active identity provider; null without one',
  }),
  recovery_codes_left: Type.Integer({ minimum: 0, description: 'number of unused recovery codes' }),
  recovery_codes_created: {
    ...NullableTime,
    description: 'when the recovery codes were created; null if there are none',
  },
  missing: Type.Array(
    Type.Unsafe<SignInStep>({
      ...Enumeration('SignInStep', signInSteps),
      description:
        `\`provider\`: activate an identity provider; \`recovery_codes\`: create ${teamRecoveryCodes} recovery codes; \`recent_sign_in\`: sign in with the ` +
        `identity provider, at most ${recentSignInMinutes} minutes before`,
    }),
    { description: 'what a policy other than `optional` needs first' },
  ),
})
export type TeamSignIn = Static<typeof TeamSignIn>

const permission = { credential: 'web', grant: 'team.manage' } as const
const params = Strict({ team_id: TeamInPath })
const path = '/v3/teams/{team_id}/sign-in' as const

export const getTeamSignInRoute = route({
  name: 'getTeamSignIn',
  group: 'Team',
  method: 'GET',
  path,
  summary: 'Get sign-in policy',
  description: 'Returns what opens the team for its members. `missing` refers to the caller.',
  permission,
  params,
  response: TeamSignIn,
  success: 200,
  conditional: true,
})

export const updateTeamSignInRoute = route({
  name: 'updateTeamSignIn',
  group: 'Team',
  method: 'PUT',
  path,
  summary: 'Update sign-in policy',
  description:
    'Sets what opens the team for its members; sessions that do not meet it answer `sign_in_required`. API tokens, TSIG keys and service accounts work as ' +
    'before. 409 for a policy other than `optional` while `missing` names a step.',
  permission,
  params,
  body: Strict({ policy }),
  response: TeamSignIn,
  success: 200,
  errors: ['conflict'],
  conditional: true,
})

export const createTeamRecoveryCodesRoute = route({
  name: 'createTeamRecoveryCodes',
  group: 'Team',
  method: 'POST',
  path: '/v3/teams/{team_id}/recovery-codes',
  summary: 'Create recovery codes of the team',
  description:
    `${teamRecoveryCodes} codes for admins while the identity provider does not answer: \`POST /v3/session/recover\`. They are shown only once, and none of the ` +
    'former codes works any more.',
  permission,
  params,
  response: Strict({
    recovery_codes: Type.Array(Type.String(), { description: 'codes, each usable once' }),
  }),
  success: 200,
  secret: true,
})

export const teamSignInRoutes = [getTeamSignInRoute, updateTeamSignInRoute, createTeamRecoveryCodesRoute]
