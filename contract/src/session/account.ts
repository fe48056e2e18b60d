// The user's own account: password, e-mail address, profile and active sessions.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { passwordLength, passwordLengthText, passwordRules } from './password.ts'
import { route } from '../route.ts'
import {
  CountryOrEmpty,
  EmailAddress,
  Limit,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
  Component,
} from '../scalar.ts'
import { SessionTokens, User } from './session.ts'
import { Line } from '../text.ts'

export const CurrentPassword = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'the current password',
})

/** The server checks everything but the length. */
const NewPassword = Type.String({
  minLength: passwordLength.min,
  maxLength: passwordLength.max,
  description: passwordRules,
  lengthText: passwordLengthText,
})

const MailToken = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'the token in the link of the mail',
})

export const changePasswordRoute = route({
  name: 'changePassword',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/change-password',
  summary: 'Change password',
  description:
    'Revokes all sessions of the user, including that of the caller, and every link sent by mail before. The ' +
    'caller continues with the tokens of the response, which belong to a new session. At most five wrong ' +
    'passwords in 15 minutes.',
  permission: { credential: 'web', personal: true, local: true },
  body: Strict({ current_password: CurrentPassword, new_password: NewPassword }),
  response: SessionTokens,
  success: 200,
  keyless: 'password',
  secret: true,
  errors: ['wrong_password', 'unavailable'],
})

export const confirmEmailRoute = route({
  name: 'confirmEmail',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/confirm-email',
  summary: 'Confirm email',
  description:
    'Confirms an e-mail address with the token of a mail, which is valid for 24 hours. The address becomes ' +
    'that of the account. A change of the address revokes all sessions of the user. Repeating the call with ' +
    'the same valid token returns the same answer. Unknown, expired and used tokens, and tokens older than a ' +
    'change of the address or password, return the same error.',
  permission: { credential: 'none' },
  body: Strict({ token: MailToken }),
  response: Strict({
    email: Type.String({ description: 'the confirmed address' }),
    confirmed: { ...Time, description: 'when the address was confirmed' },
  }),
  success: 200,
  keyless: 'no_caller',
  errors: ['invalid_token'],
})

export const changeEmailRoute = route({
  name: 'changeEmail',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/change-email',
  summary: 'Change email',
  description:
    'Sends a link to the new address and a notification to the old one. The address changes when the link is ' +
    'followed. The answer is the same if another account has the address; in that case no link is sent.',
  permission: { credential: 'web', personal: true, local: true },
  body: Strict({ email: EmailAddress, current_password: CurrentPassword }),
  success: 202,
  keyless: 'password',
  errors: ['wrong_password', 'unavailable'],
})

export const requestPasswordResetRoute = route({
  name: 'requestPasswordReset',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/password-reset',
  summary: 'Request password reset',
  description:
    'Sends a link, valid for 60 minutes, if an account with the address exists. The answer does not reveal ' +
    'whether it does.',
  permission: { credential: 'none' },
  body: Strict({ email: EmailAddress }),
  success: 202,
  keyless: 'no_caller',
  errors: ['unavailable'],
})

export const resetPasswordRoute = route({
  name: 'resetPassword',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/password-reset/confirm',
  summary: 'Reset password',
  description:
    'Sets a new password with the token of a mail. Ends all sessions of the user and confirms the address. ' +
    'No session is opened, and the second factor stays enabled.',
  permission: { credential: 'none' },
  body: Strict({ token: MailToken, new_password: NewPassword }),
  response: Strict({ email: Type.String() }),
  success: 200,
  keyless: 'no_caller',
  errors: ['invalid_token', 'unavailable'],
})

export const OpenSession = Component('Session', {
  id: Type.String({ description: 'UUID' }),
  current: Type.Boolean({ description: 'the session of the caller' }),
  team_id: Type.Integer({ description: 'the current team of the session' }),
  created: { ...Time, description: 'when it was created' },
  last_used: { ...Time, description: 'when it was last refreshed' },
  expires: { ...Time, description: 'when the session ends' },
  address: Type.String({ description: 'IP address of the sign-in; empty if unknown' }),
  user_agent: Type.String({ description: 'user agent of the sign-in; empty if unknown' }),
})
export type OpenSession = Static<typeof OpenSession>

export const listSessionsRoute = route({
  name: 'listSessions',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/sessions',
  summary: 'List sessions',
  description: "The caller's active sessions, most recently used first by default.",
  permission: { credential: 'web', personal: true, local: true },
  query: Strict({
    ordering: Ordering(['last_used', 'created', 'expires'], '-last_used'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(OpenSession),
  success: 200,
})

export const deleteSessionRoute = route({
  name: 'deleteSession',
  group: 'Session',
  method: 'DELETE',
  path: '/v3/session/sessions/{session_id}',
  summary: 'End session',
  description:
    'Ends a session and its access tokens at once. Returns 404 for an ended session and for sessions of ' +
    'other users.',
  permission: { credential: 'web', personal: true, local: true },
  params: Strict({
    session_id: Type.String({
      pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
      expects: 'the id of a session, a UUID in lower case',
    }),
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
  description:
    "Changes the given fields of the caller's profile. `If-Match` takes the ETag of getSessionToken, which is `user_etag` with quotes.",
  permission: { credential: 'web', personal: true, local: true },
  body: Strict({
    first_name: Optional({ ...Name, description: 'first name' }),
    last_name: Optional({ ...Name, description: 'last name' }),
    display_name: Optional({ ...Name, description: 'name to show' }),
    country: Optional({ ...CountryOrEmpty, description: 'ISO 3166-1 alpha-2, or empty' }),
  }),
  response: User,
  success: 200,
  conditional: true,
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
