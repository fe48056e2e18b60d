// Passkeys of the caller's own account: to sign in without a password, and as a second factor.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import {
  Component,
  Id,
  Limit,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from '../scalar.ts'
import { RecoveryCodesOfFirst, revokes } from './second-factor.ts'
import { SessionTokens } from './session.ts'
import { PasskeyCreation, PasskeyRegistration, PasskeyRequest } from './webauthn.ts'
import { Line } from '../text.ts'

export const passkeysMax = 20

const Name = {
  ...Line({ minLength: 1, maxLength: 100, pattern: '\\S', expects: 'a name that is not blank' }),
  description: 'name for people',
}
const Password = Type.String({ minLength: 1, maxLength: 1024, description: 'the current password' })

export const Passkey = Component('Passkey', {
  id: { ...Id, description: 'id of the passkey' },
  name: Name,
  created: { ...Time, description: 'when it was added' },
  last_used: { ...NullableTime, description: 'when it last signed in; null if it has not' },
  synced: Type.Boolean({ description: 'whether a password manager keeps copies on other devices' }),
  usable: Type.Boolean({
    description: 'false if it was added under another host of the installation: browsers no longer offer it',
  }),
})
export type Passkey = Static<typeof Passkey>

const permission = { credential: 'web', personal: true, local: true } as const
const params = Strict({ passkey_id: Id })

export const createSignInOptionsRoute = route({
  name: 'createSignInOptions',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/passkey/options',
  summary: 'Start signing in with a passkey',
  description:
    'Returns options for `navigator.credentials.get`. They name no account and no passkey: the browser offers those that it has for the ' +
    'host. `POST /v3/session/token` takes what the browser returns as `passkey`. Returns 409 if the URL of the installation has an ' +
    'IP address instead of a name.',
  permission: { credential: 'none' },
  response: Strict({ public_key: PasskeyRequest }),
  success: 200,
  keyless: 'no_caller',
  errors: ['conflict'],
})

export const createPasskeyOptionsRoute = route({
  name: 'createPasskeyOptions',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/passkeys/options',
  summary: 'Start adding a passkey',
  description:
    'Returns options for `navigator.credentials.create`. Nothing changes until `POST /v3/session/passkeys`, within five minutes. Returns ' +
    '409 if the URL of the installation has an IP address instead of a name.',
  permission,
  body: Strict({ current_password: Password }),
  response: Strict({ public_key: PasskeyCreation }),
  success: 200,
  keyless: 'password',
  errors: ['wrong_password', 'conflict', 'quota_exceeded'],
})

export const createPasskeyRoute = route({
  name: 'createPasskey',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/passkeys',
  summary: 'Add a passkey',
  description:
    'With what the browser returned. From now on signing in with the password needs a second factor. ' +
    revokes +
    `At most ${passkeysMax} passkeys.`,
  permission,
  body: Strict({ name: Name, response: PasskeyRegistration }),
  response: Strict({
    ...SessionTokens.properties,
    passkey: Passkey,
    recovery_codes: RecoveryCodesOfFirst,
  }),
  success: 200,
  keyless: 'ends_session',
  secret: true,
  errors: ['conflict', 'exists', 'quota_exceeded'],
})

export const listPasskeysRoute = route({
  name: 'listPasskeys',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/passkeys',
  summary: 'List passkeys',
  description: "The passkeys of the caller's account.",
  permission,
  query: Strict({
    ordering: Ordering(['created', 'last_used', 'name', 'id'], 'created'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Passkey),
  success: 200,
})

export const getPasskeyRoute = route({
  name: 'getPasskey',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/passkeys/{passkey_id}',
  summary: 'Get passkey',
  description: "Returns one passkey of the caller's account.",
  permission,
  params,
  response: Passkey,
  success: 200,
  conditional: true,
})

export const updatePasskeyRoute = route({
  name: 'updatePasskey',
  group: 'Session',
  method: 'PATCH',
  path: '/v3/session/passkeys/{passkey_id}',
  summary: 'Rename passkey',
  description: 'Changes the name.',
  permission,
  params,
  body: Strict({ name: Optional(Name) }),
  response: Passkey,
  success: 200,
  conditional: true,
})

export const deletePasskeyRoute = route({
  name: 'deletePasskey',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/passkeys/{passkey_id}/delete',
  summary: 'Remove passkey',
  description:
    'Deletes a passkey. Without another passkey or an authenticator the account has no second factor from now on, and its recovery codes are ' +
    'deleted. ' +
    revokes,
  permission,
  params,
  body: Strict({ current_password: Password }),
  response: SessionTokens,
  success: 200,
  keyless: 'password',
  secret: true,
  errors: ['wrong_password'],
})

export const passkeyRoutes = [
  createSignInOptionsRoute,
  createPasskeyOptionsRoute,
  createPasskeyRoute,
  listPasskeysRoute,
  getPasskeyRoute,
  updatePasskeyRoute,
  deletePasskeyRoute,
]
