// Single sign-on: signing in with the identity provider (IdP) of a team, and the identities that are linked to the caller's account.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import {
  Component,
  EmailAddress,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from '../scalar.ts'
import { SessionTokens } from './session.ts'
import { PasskeyAssertion } from './webauthn.ts'
import { Line } from '../text.ts'

/** The key of the identity provider of the staff of the installation, in the form of the others. */
export const staffProviderKey = 'staffaccount'

/** Random, so that customers cannot be counted. */
export const ProviderKey = Type.String({
  pattern: '^[a-z2-7]{12}$',
  maxLength: 12,
  description: 'key of an identity provider',
  expects: 'the key of an identity provider, such as k3j5mq2xw7ab',
})

export const SignInMethod = Component('SignInMethod', {
  provider: ProviderKey,
  required: Type.Boolean({ description: 'whether the team accepts nothing else' }),
})

/** What the browser brings back from the identity provider, as it is in the query of the redirect URI. */
export const providerAnswer = {
  state: Line({ minLength: 1, maxLength: 200, description: '`state` of the redirect' }),
  code: Optional(Line({ minLength: 1, maxLength: 4096, description: '`code` of the redirect' })),
  iss: Optional(Line({ minLength: 1, maxLength: 2000, description: '`iss` of the redirect' })),
  error: Optional(
    Line({ minLength: 1, maxLength: 200, description: '`error` of the redirect, instead of `code`' }),
  ),
}

export const Redirect = Type.String({ description: 'URL of the identity provider to send the browser to' })

export const findSignInMethodsRoute = route({
  name: 'findSignInMethods',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/methods',
  summary: 'Find the ways to sign in',
  description:
    'Returns whether a team has bound the domain of the address to an identity provider. The answer follows from the domain alone: it is the ' +
    'same whether or not an account exists.',
  permission: { credential: 'none' },
  body: Strict({ email: { ...EmailAddress, description: 'e-mail address' } }),
  response: Strict({
    sso: Nullable(SignInMethod),
  }),
  success: 200,
  keyless: 'read',
})

export const startSingleSignOnRoute = route({
  name: 'startSingleSignOn',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/sso',
  summary: 'Start single sign-on',
  description:
    'Returns the URL of the identity provider, and sets a cookie that only this browser has: `POST /v3/session/sso/complete` compares it. ' +
    'With a bearer token the proof of the sign-in is added to the session, which a new one replaces. `return_to` is a page of the portal; any other ' +
    'text is ignored.',
  permission: { credential: 'optional' },
  body: Strict({
    email: Optional({ ...EmailAddress, description: 'e-mail address, of which only the domain counts' }),
    provider: Optional(ProviderKey),
    return_to: Optional(Line({ maxLength: 500, description: 'path of the portal to open afterwards' })),
  }),
  response: Strict({ redirect: Redirect }),
  success: 200,
  keyless: 'no_caller',
  errors: ['not_found', 'sso_failed'],
})

export const completeSingleSignOnRoute = route({
  name: 'completeSingleSignOn',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/sso/complete',
  summary: 'Complete single sign-on',
  description:
    'With the query of the redirect URI. Each `state` works once. 401 `sso_failed` has the reason in `ctx.reason` of its error. If the ' +
    'provider asks for the second factor of the account, the answer is 401 `otp_required`, whose error has in `ctx.state` the `state` for a second ' +
    'request with `otp` or `passkey`, valid for five minutes.',
  permission: { credential: 'none' },
  body: Strict({
    provider: ProviderKey,
    ...providerAnswer,
    otp: Optional(
      Type.String({ minLength: 6, maxLength: 20, description: 'code of the second factor of the account' }),
    ),
    passkey: Optional({ ...PasskeyAssertion, description: 'a passkey, instead of `otp`' }),
  }),
  response: Strict({
    ...SessionTokens.properties,
    return_to: Nullable(Type.String({ description: 'page of the portal to open; null for the first one' })),
  }),
  success: 200,
  keyless: 'no_caller',
  secret: true,
  errors: ['sso_failed', 'otp_required', 'other_account', 'forbidden'],
})

export const linkIdentityRoute = route({
  name: 'linkIdentity',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/sso/link',
  summary: 'Link an identity to an account',
  description:
    'With the token of the mail that is sent if an account exists for the address of an identity, and the account is in no team of the ' +
    'provider. The token works once, within 24 hours.',
  permission: { credential: 'none' },
  body: Strict({ token: Type.String({ minLength: 1, maxLength: 200, description: 'token of the mail' }) }),
  response: Strict({
    email: Type.String({ description: 'address of the account' }),
    team_name: Type.String({ description: 'name of the team whose identity provider it is' }),
  }),
  success: 200,
  keyless: 'no_caller',
  errors: ['invalid_token'],
})

export const Identity = Component('Identity', {
  id: { ...Id, description: 'id of the identity' },
  provider_name: Type.String({ description: 'name of the identity provider' }),
  team_id: { ...Id, description: 'id of the team whose identity provider it is' },
  team_name: Type.String({ description: 'name of the team' }),
  email: Type.String({ description: 'address that the identity provider states' }),
  linked: { ...Time, description: 'when it was linked' },
  last_used: { ...NullableTime, description: 'when it last signed in; null if it has not' },
})
export type Identity = Static<typeof Identity>

const permission = { credential: 'web', personal: true, local: true } as const

export const listIdentitiesRoute = route({
  name: 'listIdentities',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/identities',
  summary: 'List linked identities',
  description: "The identities of identity providers that are linked to the caller's account.",
  permission,
  query: Strict({ ordering: Ordering(['linked', 'last_used', 'id'], 'id'), limit: Limit, offset: Offset }),
  response: Page(Identity),
  success: 200,
})

export const deleteIdentityRoute = route({
  name: 'deleteIdentity',
  group: 'Session',
  method: 'DELETE',
  path: '/v3/session/identities/{identity_id}',
  summary: 'Unlink an identity',
  description:
    'The identity no longer signs in to the account, and sessions that it opened end for its team. The next sign-in decides anew: an identity of a ' +
    'member is linked again.',
  permission,
  params: Strict({ identity_id: Id }),
  success: 204,
})

export const recoverSessionRoute = route({
  name: 'recoverSession',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/recover',
  summary: 'Open a team with a recovery code',
  description:
    'For admins of a team whose identity provider does not answer: the session opens the team for one hour. Needs a session with a second factor. Each code ' +
    'works once, and all admins of the team get a mail.',
  permission: { credential: 'web', personal: true, local: true },
  body: Strict({
    team_id: Id,
    code: Line({
      minLength: 10,
      maxLength: 20,
      description: 'recovery code of the team, case-insensitive, with or without its dash',
    }),
  }),
  response: Strict({
    team_id: { ...Id, description: 'id of the team' },
    expires: { ...Time, description: 'until when the session opens the team' },
  }),
  success: 200,
  keyless: 'password',
  errors: ['not_found', 'forbidden', 'second_factor_required'],
})

export const startSignOutRoute = route({
  name: 'startSignOut',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/sso/logout',
  summary: 'Find the sign-out page of the identity provider',
  description:
    'Returns the URL at which the browser signs out at the identity provider that has opened the session, if the provider has `sign_out_at_provider`. The session ' +
    'itself ends by `POST /v3/session/logout`: call it before sending the browser to the URL.',
  permission: { credential: 'web', personal: true },
  response: Strict({
    redirect: Nullable(
      Type.String({ description: 'URL to send the browser to; null if there is nothing to sign out of' }),
    ),
  }),
  success: 200,
  keyless: 'read',
})

export const singleSignOnRoutes = [
  findSignInMethodsRoute,
  startSingleSignOnRoute,
  completeSingleSignOnRoute,
  linkIdentityRoute,
  listIdentitiesRoute,
  deleteIdentityRoute,
  recoverSessionRoute,
  startSignOutRoute,
]
