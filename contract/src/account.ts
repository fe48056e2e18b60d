// The user's own account: password, e-mail address, profile, and the sessions that are open.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from './route.ts'
import { Limit, Offset, Optional, Page, Strict, Time } from './scalar.ts'
import { SessionTokens, User } from './session.ts'
import { Line } from './text.ts'

const CurrentPassword = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'the one that the user signs in with',
})

/** The policy asks for more than a schema can say. */
const NewPassword = Type.String({
  minLength: 12,
  maxLength: 128,
  description:
    '12 to 128 characters; not mostly the e-mail address, the name of the provider, a pattern, or a password that many ' +
    'people have',
})

const MailToken = Type.String({ minLength: 1, maxLength: 1024, description: 'of the link in the mail' })

export const changePasswordRoute = route({
  name: 'changePassword',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/change-password',
  summary: 'Change password',
  description:
    'Revokes all sessions of the user, the one of the caller included, and every link that was sent by mail before. The ' +
    'caller continues with the tokens of the response, which belong to a new session. At most five wrong passwords in ' +
    '15 minutes.',
  permission: { credential: 'web', personal: true },
  body: Strict({ current_password: CurrentPassword, new_password: NewPassword }),
  response: SessionTokens,
  success: 200,
  errors: ['wrong_password', 'unavailable'],
})

export const confirmEmailRoute = route({
  name: 'confirmEmail',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/confirm-email',
  summary: 'Confirm email',
  description:
    'With the token of a mail, good for 24 hours: confirms that its holder reads the address, which is that of the ' +
    'account from then on. A change of the address revokes all sessions of the user. The same token again, while it would be good, is answered the same. A token that is unknown, ' +
    'expired, used, or older than a change of the address or the password is one answer.',
  permission: { credential: 'none' },
  body: Strict({ token: MailToken }),
  response: Strict({ email: Type.String(), confirmed: Time }),
  success: 200,
  errors: ['invalid_token'],
})

export const changeEmailRoute = route({
  name: 'changeEmail',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/change-email',
  summary: 'Change email',
  description:
    'Sends a link to the new address, and word of it to the old one. The address changes when the link is followed. The ' +
    'answer is the same where another account has the address; the link is then not sent.',
  permission: { credential: 'web', personal: true },
  body: Strict({ email: Type.String({ minLength: 3, maxLength: 254 }), current_password: CurrentPassword }),
  success: 202,
  errors: ['wrong_password', 'unavailable'],
})

export const requestPasswordResetRoute = route({
  name: 'requestPasswordReset',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/password-reset',
  summary: 'Request password reset',
  description:
    'Sends a link, good for 60 minutes, to the address if there is such an account. The answer does not tell.',
  permission: { credential: 'none' },
  body: Strict({ email: Type.String({ minLength: 3, maxLength: 254 }) }),
  success: 202,
  errors: ['unavailable'],
})

export const resetPasswordRoute = route({
  name: 'resetPassword',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/password-reset/confirm',
  summary: 'Reset password',
  description:
    'With the token of a mail. Ends all sessions of the user, and confirms the address: whoever has the token reads it. ' +
    'It signs nobody in, and the second factor stays.',
  permission: { credential: 'none' },
  body: Strict({ token: MailToken, new_password: NewPassword }),
  response: Strict({ email: Type.String() }),
  success: 200,
  errors: ['invalid_token', 'unavailable'],
})

export const OpenSession = Strict({
  id: Type.String({ description: 'UUID' }),
  current: Type.Boolean({ description: 'the session of the caller' }),
  team_id: Type.Integer({ description: 'the team that it works in' }),
  created: Time,
  last_used: { ...Time, description: 'when it was last refreshed' },
  expires: Time,
  address: Type.String({ description: 'where the user signed in from; empty when unknown' }),
  user_agent: Type.String({ description: 'as the browser named itself; empty when it did not' }),
})
export type OpenSession = Static<typeof OpenSession>

export const listSessionsRoute = route({
  name: 'listSessions',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/sessions',
  summary: 'List sessions',
  description: "The user's own sessions that are not over, the one used last first.",
  permission: { credential: 'web', personal: true },
  query: Strict({ limit: Limit, offset: Offset }),
  response: Page(OpenSession),
  success: 200,
})

export const deleteSessionRoute = route({
  name: 'deleteSession',
  group: 'Session',
  method: 'DELETE',
  path: '/v3/session/sessions/{session_id}',
  summary: 'End session',
  description: 'At once, its access tokens too. A session that is over, or of somebody else, is not found.',
  permission: { credential: 'web', personal: true },
  params: Strict({
    session_id: Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }),
  }),
  success: 204,
  errors: ['not_found'],
})

const Name = Line({ maxLength: 100 })

export const updateUserRoute = route({
  name: 'updateUser',
  group: 'Session',
  method: 'PATCH',
  path: '/v3/session/user',
  summary: 'Update user',
  description: "The caller's own profile; what is not named stays.",
  permission: { credential: 'web', personal: true },
  body: Strict({
    first_name: Optional(Name),
    last_name: Optional(Name),
    display_name: Optional(Name),
    country: Optional(Type.String({ pattern: '^([A-Z]{2})?$', description: 'ISO 3166-1 alpha-2, or empty' })),
  }),
  response: User,
  success: 200,
})

export const accountRoutes = [
  changePasswordRoute,
  confirmEmailRoute,
  changeEmailRoute,
  requestPasswordResetRoute,
  resetPasswordRoute,
  listSessionsRoute,
  deleteSessionRoute,
  updateUserRoute,
]
