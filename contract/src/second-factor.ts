// The second factor of the caller's own account: codes of an authenticator (TOTP, RFC 6238), and recovery codes for the
// day on which that is gone.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { route } from './route.ts'
import { NullableTime, Strict, Time } from './scalar.ts'
import { SessionTokens } from './session.ts'

const Password = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'the one that the user signs in with',
})

/** What is typed in the place of a code: six digits, or a recovery code in any case, with or without its dash. */
const Otp = Type.String({
  minLength: 6,
  maxLength: 20,
  description: 'the code that the authenticator shows, or a recovery code; each works once',
})

const RecoveryCodes = Type.Array(Type.String(), {
  description: 'ten, each good for one use in the place of a code; shown this once',
})

/** Every change of the second factor revokes all sessions; the caller continues in a new one. */
const revokes =
  'Revokes all sessions of the user, the one of the caller included; the caller continues with the tokens of the ' +
  'response, which belong to a new session. '

export const SecondFactor = Strict({
  enabled: { ...NullableTime, description: 'since when signing in needs a code; null while it does not' },
  recovery_codes_left: Type.Integer({ minimum: 0 }),
})
export type SecondFactor = Static<typeof SecondFactor>

export const TotpEnrolment = Strict({
  secret: Type.String({ description: 'in base32, for typing it into an authenticator' }),
  uri: Type.String({ description: '`otpauth://totp/...`, for showing it as a QR code' }),
  expires: { ...Time, description: 'until when its first code may be confirmed' },
})
export type TotpEnrolment = Static<typeof TotpEnrolment>

export const getSecondFactorRoute = route({
  name: 'getSecondFactor',
  group: 'Session',
  method: 'GET',
  path: '/v3/session/totp',
  summary: 'Get second factor',
  description: "Whether the caller's account has a second factor, and how many recovery codes are left.",
  permission: { credential: 'web', personal: true },
  response: SecondFactor,
  success: 200,
})

export const createTotpRoute = route({
  name: 'createTotp',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/totp',
  summary: 'Set up a second factor',
  description:
    'Makes a secret for an authenticator. Signing in changes only when its first code is confirmed, within ten minutes; ' +
    'until then each call makes another secret, and the one before counts no more. 409 while a second factor is on.',
  permission: { credential: 'web', personal: true },
  body: Strict({ current_password: Password }),
  response: TotpEnrolment,
  success: 200,
  errors: ['wrong_password', 'conflict'],
})

export const confirmTotpRoute = route({
  name: 'confirmTotp',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/totp/confirm',
  summary: 'Turn the second factor on',
  description:
    'With the first code of the authenticator. From now on signing in needs one. ' +
    revokes +
    '409 if nothing was set up, or longer than ten minutes ago.',
  permission: { credential: 'web', personal: true },
  body: Strict({
    otp: Type.String({
      pattern: '^[0-9]{6}$',
      description: 'the code that the authenticator shows',
      expects: 'the 6 digits that the authenticator shows',
    }),
  }),
  response: Strict({ ...SessionTokens.properties, recovery_codes: RecoveryCodes, enabled: Time }),
  success: 200,
  errors: ['conflict'],
})

export const deleteTotpRoute = route({
  name: 'deleteTotp',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/totp/disable',
  summary: 'Turn the second factor off',
  description:
    'Deletes the secret and all recovery codes. Teams that require a second factor are closed to the user until there ' +
    'is one again: the membership stays. ' +
    revokes +
    '409 if the second factor is not enabled.',
  permission: { credential: 'web', personal: true },
  body: Strict({ current_password: Password, otp: Otp }),
  response: SessionTokens,
  success: 200,
  errors: ['wrong_password', 'conflict'],
})

export const createRecoveryCodesRoute = route({
  name: 'createRecoveryCodes',
  group: 'Session',
  method: 'POST',
  path: '/v3/session/totp/recovery-codes',
  summary: 'Make new recovery codes',
  description:
    'Ten new ones; none of the old works any more. ' + revokes + '409 if the second factor is not enabled.',
  permission: { credential: 'web', personal: true },
  body: Strict({ current_password: Password, otp: Otp }),
  response: Strict({ ...SessionTokens.properties, recovery_codes: RecoveryCodes }),
  success: 200,
  errors: ['wrong_password', 'conflict'],
})

export const secondFactorRoutes = [
  getSecondFactorRoute,
  createTotpRoute,
  confirmTotpRoute,
  deleteTotpRoute,
  createRecoveryCodesRoute,
]
