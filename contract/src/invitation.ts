// Invitations as the one who is invited sees them: the token in the link is the credential.
import { Type, type Static } from 'typebox'
import { route } from './route.ts'
import { Id, Optional, Strict, Time, Component } from './scalar.ts'
import { Line } from './text.ts'

const Token = Type.String({ minLength: 1, maxLength: 1024, description: 'of the link in the mail' })
const Name = Line({ maxLength: 100 })

export const Invitation = Component('Invitation', {
  email: Type.String(),
  team_name: Type.String(),
  invited_by: Type.String({ description: 'as the mail said it' }),
  is_admin: Type.Boolean(),
  expires: Time,
  has_account: Type.Boolean({ description: 'whether there is an account with the address already' }),
})
export type Invitation = Static<typeof Invitation>

export const showInvitationRoute = route({
  name: 'showInvitation',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/invitation',
  summary: 'Show an invitation',
  description:
    'What the holder of the link is invited to. A token that is unknown, expired, withdrawn or used is one answer.',
  permission: { credential: 'none' },
  body: Strict({ token: Token }),
  response: Invitation,
  success: 200,
  errors: ['invalid_token'],
})

export const AcceptedInvitation = Component('AcceptedInvitation', {
  email: Type.String(),
  team_id: Id,
  team_name: Type.String(),
  account_created: Type.Boolean(),
})
export type AcceptedInvitation = Static<typeof AcceptedInvitation>

export const acceptInvitationRoute = route({
  name: 'acceptInvitation',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/invitation/accept',
  summary: 'Accept an invitation',
  description:
    'Whoever holds the link reads the mailbox: the account with the address becomes a member of the team, and its ' +
    'address counts as confirmed. Where there is none, one is made, which needs `password`; for an account that there ' +
    'is, `password` and the names are not looked at. No session is opened: sign in afterwards. The same token again, ' +
    'until it would have expired, is answered the same and changes nothing.',
  permission: { credential: 'none' },
  body: Strict({
    token: Token,
    password: Optional(Type.String({ minLength: 1, maxLength: 1024, description: '12 to 128 characters' })),
    first_name: Optional(Name),
    last_name: Optional(Name),
  }),
  response: AcceptedInvitation,
  success: 200,
  errors: ['invalid_token', 'unavailable'],
})

export const invitationRoutes = [showInvitationRoute, acceptInvitationRoute]
