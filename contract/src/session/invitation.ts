// Invitations from the invitee's side: the token in the link is the credential.
import { Type, type Static } from 'typebox'
import { passwordRules } from './password.ts'
import { RoleNames } from '../role.ts'
import { route } from '../route.ts'
import { Id, Nullable, Optional, Strict, Time, Component } from '../scalar.ts'
import { SignInMethod } from './sso.ts'
import { Line } from '../text.ts'

const Token = Type.String({ minLength: 1, maxLength: 1024, description: 'the token in the link of the mail' })
const Name = Line({ maxLength: 100 })

export const Invitation = Component('Invitation', {
  email: Type.String({ description: 'the invited address' }),
  team_name: Type.String({ description: 'name of the team' }),
  invited_by: Type.String({ description: 'the inviter, as named in the mail' }),
  is_admin: Type.Boolean({ description: 'whether the invitation gives the role admin' }),
  roles: RoleNames,
  expires: { ...Time, description: 'when the link expires' },
  has_account: Type.Boolean({ description: 'whether an account with the address exists' }),
  sso: Nullable({
    ...SignInMethod,
    description:
      'the identity provider of the team for the domain of the address: signing in with it accepts the invitation; null without one',
  }),
})
export type Invitation = Static<typeof Invitation>

export const showInvitationRoute = route({
  name: 'showInvitation',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/invitation',
  summary: 'Show an invitation',
  description:
    'Returns the invitation of a link. Unknown, expired, revoked and used tokens return the same error.',
  permission: { credential: 'none' },
  body: Strict({ token: Token }),
  response: Invitation,
  success: 200,
  keyless: 'no_caller',
  errors: ['invalid_token'],
})

export const AcceptedInvitation = Component('AcceptedInvitation', {
  email: Type.String({ description: 'the invited address' }),
  team_id: { ...Id, description: 'id of the team' },
  team_name: Type.String({ description: 'name of the team' }),
  account_created: Type.Boolean({ description: 'whether an account was created' }),
})
export type AcceptedInvitation = Static<typeof AcceptedInvitation>

export const acceptInvitationRoute = route({
  name: 'acceptInvitation',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/invitation/accept',
  summary: 'Accept an invitation',
  description:
    'Adds the account with the invited address to the team and confirms the address: the link proves access ' +
    'to the mailbox. If no account exists, one is created, which requires `password`; for an existing ' +
    'account `password` and the names are ignored. No session is opened: sign in afterwards. Repeating the ' +
    'call until the link expires returns the same answer and changes nothing.',
  permission: { credential: 'none' },
  body: Strict({
    token: Token,
    password: Optional(Type.String({ minLength: 1, maxLength: 1024, description: passwordRules })),
    first_name: Optional({ ...Name, description: 'first name' }),
    last_name: Optional({ ...Name, description: 'last name' }),
  }),
  response: AcceptedInvitation,
  success: 200,
  keyless: 'no_caller',
  errors: ['invalid_token', 'unavailable'],
})

export const invitationRoutes = [showInvitationRoute, acceptInvitationRoute]
