// Sessions: sign in, refresh, sign out, current user.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from '../route.ts'
import { Resources } from '../resource-limit.ts'
import { RoleName } from '../role.ts'
import { ScopeName } from '../scope.ts'
import { StaffAccess, StaffRoleName, staffAccessLimits } from '../staff-role.ts'
import { Line, Paragraphs } from '../text.ts'
import { PasskeyAssertion } from './webauthn.ts'
import {
  EmailAddress,
  Id,
  Nullable,
  NullableTime,
  Optional,
  optionalFields,
  Strict,
  Time,
  Component,
  Enumeration,
} from '../scalar.ts'

export const TeamSummary = Component('TeamSummary', {
  id: { ...Id, description: 'id of the record' },
  name: Type.String({ description: 'name for people' }),
  is_admin: Type.Boolean({ description: 'whether the caller has the role admin in the team' }),
  enable_sdwan: Type.Boolean({ description: 'whether the team has SD-WAN' }),
  enable_dns: Type.Boolean({ description: 'whether the team has DNS' }),
})
export type TeamSummary = Static<typeof TeamSummary>

export const User = Component('User', {
  id: { ...Id, description: 'id of the record' },
  email: Type.String({ description: 'e-mail address' }),
  avatar_url: Type.String({ description: 'URL of a picture, or empty' }),
  username: Type.String({ description: 'name of the account' }),
  first_name: Type.String({ description: 'first name, or empty' }),
  last_name: Type.String({ description: 'last name, or empty' }),
  display_name: Type.String({ description: 'name to show' }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2, or empty' }),
  is_staff: Type.Boolean({ description: 'whether the user is an employee of the provider' }),
  billing_uuid: Type.String({ description: 'identifier in the billing system' }),
  current_team: TeamSummary,
  teams: Type.Array(TeamSummary, { description: 'the teams of the user' }),
  enabled_modules: Type.Array(Type.String(), { description: 'of the current team' }),
})
export type User = Static<typeof User>

export const SessionTokens = Component('SessionTokens', {
  access: Type.String({
    description: 'access token: a JWT for `Authorization: Bearer`, valid for 5 minutes',
  }),
  refresh: Type.String({ description: 'refresh token; can be used once' }),
  user_etag: Type.String({ description: 'changes when the user, the teams or the modules change' }),
  user: User,
})
export type SessionTokens = Static<typeof SessionTokens>

const Secret = Type.String({ minLength: 1, maxLength: 1024, description: 'the refresh token of the session' })
const Etag = Type.String({
  minLength: 1,
  maxLength: 200,
  description: '`user_etag` of the answer that the caller has',
})

export const refreshSessionRoute = route({
  name: 'refreshSession',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/refresh',
  summary: 'Refresh user token',
  description:
    'Exchanges a refresh token for a new access token and a new refresh token. The refresh token is the ' +
    'credential: no Authorization header is needed. `etag` may also be given as a query parameter; the body ' +
    'takes precedence. The same token presented again within 30 s returns the same successor. After that, ' +
    'for at most 10 minutes, only the parent of the newest token is accepted, from the network (/24 of IPv4, ' +
    '/48 of IPv6) or by the user agent of the last refresh; that is audited. Any other repeat revokes the ' +
    'session. With `Prefer: return=minimal` and a matching `etag`, `user` is null.',
  permission: { credential: 'none' },
  query: Strict({ etag: Optional(Etag) }),
  body: Strict({ refresh: Secret, etag: Optional(Etag) }),
  response: Strict({
    access: SessionTokens.properties.access,
    refresh: SessionTokens.properties.refresh,
    user_etag: SessionTokens.properties.user_etag,
    user: Nullable(User),
  }),
  success: 200,
  keyless: 'no_caller',
  secret: true,
  errors: ['token_not_valid', 'forbidden'],
})

/** Only with `reason`: opens a staff access to a team of which the employee is no member. */
export const staffAccessRequest = {
  reason: Paragraphs({
    minLength: staffAccessLimits.reasonMin,
    maxLength: staffAccessLimits.reasonMax,
    description: 'of staff: why they enter the team of a customer, who reads it',
  }),
  ticket: Line({ minLength: 1, maxLength: 100, description: 'of staff: number of a ticket' }),
  change: Type.Boolean({
    description: 'of staff: whether operations that change something are allowed; false by default',
  }),
  hours: Type.Integer({
    minimum: 1,
    maximum: staffAccessLimits.hoursMax,
    description: 'of staff: hours until the access ends by itself; 1 by default',
  }),
}

const TeamSwitch = Component('TeamSwitch', { team_id: Id, ...optionalFields(staffAccessRequest) })
export type TeamSwitch = Static<typeof TeamSwitch>

const PasswordSignIn = Component('SignIn', {
  email: { ...EmailAddress, description: 'e-mail address' },
  password: Type.String({ minLength: 1, maxLength: 1024, description: 'the password' }),
  otp: Optional(
    Type.String({
      minLength: 6,
      maxLength: 20,
      description: 'code of the second factor, or a recovery code',
    }),
  ),
  passkey: Optional({ ...PasskeyAssertion, description: 'a passkey as the second factor, instead of `otp`' }),
})
export type PasswordSignIn = Static<typeof PasswordSignIn>

export const createSessionTokenRoute = route({
  name: 'createSessionToken',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/token',
  summary: 'Sign in or switch the team',
  description:
    'With `email` and `password`: signs in. If the account has a second factor, the answer is 401 `otp_required`, and for an account with ' +
    'passkeys `ctx.public_key` of its error has options for `navigator.credentials.get`: repeat the request with `otp` or `passkey`. With ' +
    '`passkey` alone: signs in with a passkey that verifies the user. With `team_id` and a bearer token: switches the session to ' +
    'another team of the user. Staff of the provider enter the team of a customer with a `reason`, which opens a staff access: ' +
    'the team reads it in the audit log. While it is open they switch without a reason; it ends when it is closed or expires, ' +
    'or when another one replaces it.',
  permission: { credential: 'optional' },
  body: Type.Union([
    PasswordSignIn,
    Component('PasskeySignIn', {
      passkey: { ...PasskeyAssertion, description: 'for the options of `POST /v3/session/passkey/options`' },
    }),
    TeamSwitch,
  ]),
  response: SessionTokens,
  success: 200,
  keyless: 'password',
  secret: true,
  errors: [
    'unauthenticated',
    'invalid_credentials',
    'otp_required',
    'email_unconfirmed',
    'forbidden',
    'reason_required',
    'not_found',
    'unavailable',
  ],
})

export const closeStaffAccessRoute = route({
  name: 'closeStaffAccess',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/staff-access/close',
  summary: 'Close a staff access',
  description:
    'Ends the open staff access of the session to its current team, or to `team_id`. The session stays in the team, where every ' +
    'operation then answers `reason_required`: switch to another team. The body may be left out.',
  permission: { credential: 'web', personal: true },
  body: Strict({ team_id: Optional(Id) }),
  bodyOptional: true,
  response: StaffAccess,
  success: 200,
  errors: ['not_found'],
})

export const getSessionTokenRoute = route({
  name: 'getSessionToken',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/token',
  summary: 'Get current user token',
  description:
    'Returns the credential in use and its user, for both kinds of credential. Never contains a secret. ' +
    'Returns 304 for a matching `etag` or `If-None-Match`.',
  permission: { credential: 'any', personal: true, limitedBy: 'nothing' },
  query: Strict({ etag: Optional(Etag) }),
  response: Strict({
    token: Component('CurrentCredential', {
      type: {
        ...Enumeration('CredentialType', ['access', 'api']),
        description: '`access`: a session of the web application; `api`: an API token',
      },
      id: Type.String({ description: 'id of the record' }),
      name: Type.String({ description: 'name for people' }),
      scopes: Type.Array(ScopeName, { description: 'scopes of an API token; empty for a session' }),
      is_admin: Type.Boolean({ description: 'whether it has the role admin in the team' }),
      roles: Type.Array(RoleName, {
        description:
          'roles in the team: `["editor"]` or `["admin"]` for an API token, those of its service account if it has one; empty for staff who are no member',
      }),
      staff_roles: Type.Array(StaffRoleName, {
        description: 'roles of an employee of the provider; empty for others and for an API token',
      }),
      staff_access: Nullable({
        ...StaffAccess,
        description:
          'the open access of staff to the team; null for members, and for staff without one, for whom the team is closed',
      }),
      modules: Type.Array(Type.String(), { description: 'the modules that are enabled for the team' }),
      team_id: { ...Id, description: 'id of the team' },
      resources: Nullable(Resources),
      service_account_id: Nullable({ ...Id, description: 'the service account that has the API token' }),
      created: { ...Time, description: 'when it was created' },
      expires: { ...NullableTime, description: 'when it expires; null for never' },
      last_used: { ...NullableTime, description: 'when it was last used' },
    }),
    user_etag: Nullable(Type.String()),
    user: Nullable(User),
  }),
  success: 200,
  conditional: true,
})

export const logoutRoute = route({
  name: 'logout',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/logout',
  summary: 'Logout',
  description:
    'Ends the session of `refresh` or of the bearer token; with `all`, every session of the user. An unknown ' +
    'refresh token also returns 204. API tokens are not affected. The body may be left out.',
  permission: { credential: 'optional' },
  body: Strict({
    refresh: Optional(Secret),
    all: Optional(Type.Boolean({ description: 'ends every session of the user' })),
  }),
  bodyOptional: true,
  success: 204,
  keyless: 'ends_session',
  errors: ['unauthenticated'],
})

export const sessionRoutes = [
  refreshSessionRoute,
  createSessionTokenRoute,
  getSessionTokenRoute,
  closeStaffAccessRoute,
  logoutRoute,
]
