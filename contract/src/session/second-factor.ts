// The second factor of the caller's own account: codes of an authenticator (TOTP, RFC 6238), and recovery codes.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from '../route.ts'
import { Nullable, NullableTime, Optional, Strict, Time, Component } from '../scalar.ts'
import { SessionTokens } from './session.ts'

const Password = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'the current password',
})

/** Six digits, or a recovery code, case-insensitive, with or without its dash. */
const otpText = 'code of the authenticator, or a recovery code; each works once'
const Otp = Type.String({ minLength: 6, maxLength: 20, description: otpText })

const recoveryCodesText = 'ten recovery codes, each usable once instead of a code; shown only once'
const RecoveryCodes = Type.Array(Type.String(), { description: recoveryCodesText })
export const RecoveryCodesOfFirst = Nullable({
  ...RecoveryCodes,
  description: `${recoveryCodesText}; null if the account had a second factor before`,
})

/** Every change of the second factor revokes all sessions; the caller continues in a new one. */
export const revokes =
  'Revokes all sessions of the user, the one of the caller included; the caller continues with the tokens of the ' +
  'response, which belong to a new session. '

export const SecondFactor = Component('SecondFactor', {
  enabled: {
    ...NullableTime,
    description: 'when the authenticator was enabled; null without one. Passkeys are listed separately',
  },
  recovery_codes_left: Type.Integer({ minimum: 0, description: 'number of unused recovery codes' }),
})
export type SecondFactor = Static<typeof SecondFactor>

export const TotpEnrolment = Component('TotpEnrolment', {
  secret: Type.String({ description: 'base32, for manual entry into an authenticator' }),
  uri: Type.String({ description: '`otpauth://totp/...`, for a QR code' }),
  expires: { ...Time, description: 'deadline for confirming the first code' },
})
export type TotpEnrolment = Static<typeof TotpEnrolment>

export const getSecondFactorRoute = route({
  name: 'getSecondFactor',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/totp',
  summary: 'Get second factor',
  description:
    "Returns whether the caller's account has an authenticator, and the number of recovery codes left.",
  permission: { credential: 'web', personal: true, local: true },
  response: SecondFactor,
  success: 200,
  conditional: true,
})

export const createTotpRoute = route({
  name: 'createTotp',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/totp',
  summary: 'Set up a second factor',
  description:
    'Creates a secret for an authenticator. The second factor is enabled when its first code is confirmed, ' +
    'within ten minutes; until then each call replaces the secret. Returns 409 while an authenticator is ' +
    'enabled.',
  permission: { credential: 'web', personal: true, local: true },
  body: Strict({ current_password: Password }),
  response: TotpEnrolment,
  success: 200,
  keyless: 'password',
  secret: true,
  errors: ['wrong_password', 'conflict'],
})

export const confirmTotpRoute = route({
  name: 'confirmTotp',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/totp/confirm',
  summary: 'Enable the second factor',
  description:
    'With the first code of the authenticator. From now on signing in needs a code or a passkey. ' +
    revokes +
    '409 if nothing was set up, or longer than ten minutes ago.',
  permission: { credential: 'web', personal: true, local: true },
  body: Strict({
    otp: Type.String({
      pattern: '^[0-9]{6}$',
      description: 'code of the authenticator',
      expects: 'a string with the 6 digits that the authenticator shows',
    }),
  }),
  response: Strict({
    ...SessionTokens.properties,
    recovery_codes: RecoveryCodes,
    enabled: Time,
  }),
  success: 200,
  keyless: 'ends_session',
  secret: true,
  errors: ['conflict'],
})

export const deleteTotpRoute = route({
  name: 'deleteTotp',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/totp/disable',
  summary: 'Disable the second factor',
  description:
    'Deletes the secret, and all recovery codes if the account has no passkey. Teams that require a second factor are closed to the ' +
    'user until there is one again: the membership stays. ' +
    revokes +
    '409 if the second factor is not enabled.',
  permission: { credential: 'web', personal: true, local: true },
  body: Strict({ current_password: Password, otp: Otp }),
  response: SessionTokens,
  success: 200,
  keyless: 'password',
  secret: true,
  errors: ['wrong_password', 'conflict'],
})

export const createRecoveryCodesRoute = route({
  name: 'createRecoveryCodes',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/totp/recovery-codes',
  summary: 'Create new recovery codes',
  description:
    'Ten new ones; none of the old works any more. ' + revokes + '409 if the second factor is not enabled.',
  permission: { credential: 'web', personal: true, local: true },
  body: Strict({
    current_password: Password,
    otp: Optional({ ...Otp, description: `${otpText}. Required unless the account has passkeys only` }),
  }),
  response: Strict({ ...SessionTokens.properties, recovery_codes: RecoveryCodes }),
  success: 200,
  keyless: 'password',
  secret: true,
  errors: ['wrong_password', 'conflict'],
})

export const secondFactorRoutes = [
  getSecondFactorRoute,
  createTotpRoute,
  confirmTotpRoute,
  deleteTotpRoute,
  createRecoveryCodesRoute,
]
