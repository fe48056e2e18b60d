// Wires sessions and accounts: their operations, and the credentials of all requests.
import { issuerOf } from '../brand/provider.ts'
import type { Mounted } from '../http/mount.ts'
import { isLoopback } from '../net/loopback.ts'
import { writeMessages } from '../outbox/outbox.ts'
import type { ApiShared } from '../process/shared.ts'
import { ClientLimiter } from '../runtime/client-limiter.ts'
import { readOnCollect } from '../runtime/metrics.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import { createSemaphore } from '../runtime/semaphore.ts'
import { readPosition } from '../stream/follow-stream.ts'
import { invitationRoutes } from './accept-invitation.routes.ts'
import { accountRoutes } from './account.routes.ts'
import { apiTokenRoutes } from './api-token.routes.ts'
import { openBreachedPasswords, type BreachedPasswords } from './breached-passwords.ts'
import { createCredentials } from './credentials.ts'
import { createMailLimits } from './mail-limits.ts'
import type { NewPasswordDeps } from './new-password.ts'
import { createWrongPasswords } from './password-check.ts'
import { passkeyOperations } from './passkey.routes.ts'
import { relyingPartyOf } from './relying-party.ts'
import { secondFactorRoutes } from './second-factor.routes.ts'
import { sessionRoutes } from './session.routes.ts'

/** One for the process: hashing is limited, and the file of passwords is open once. */
export function createNewPasswords({
  config,
  metrics,
  attach,
}: Pick<ApiShared, 'config' | 'metrics' | 'attach'>): NewPasswordDeps {
  const hashing = createSemaphore({
    permits: config.passwordHashesAtOnce,
    waiting: config.passwordHashesWaiting,
    retryAfterSeconds: 2,
  })
  readOnCollect(metrics.passwordHashesWaiting, () => metrics.passwordHashesWaiting.set(hashing.waiting))
  return {
    hashing,
    breached: breachedPasswords({ config, attach }),
    providerNames: [config.providerName, 'pharos'],
  }
}

export function routes(shared: ApiShared): Mounted[] {
  const { config, metrics, publicUrl, newPasswords } = shared
  const signInRate = { perSecond: config.signInLimitPerMinute / 60, burst: config.signInLimitPerMinute }
  const common = {
    ...accountDeps(shared),
    ...newPasswords,
    wrongPasswords: createWrongPasswords(config.signInLimitPerMinute),
    issuer: issuerOf(config),
    relyingParty: relyingPartyOf(publicUrl, issuerOf(config)),
    cookies: {
      secure: publicUrl.startsWith('https://'),
      lifetimeSeconds: config.refreshIdleLifetimeSeconds,
    },
    lifetime: {
      idleSeconds: config.refreshIdleLifetimeSeconds,
      absoluteSeconds: config.refreshAbsoluteLifetimeSeconds,
    },
  }
  return [
    ...sessionRoutes({
      ...common,
      attemptsOfClient: new ClientLimiter(signInRate),
      attemptsOfAccount: new RateLimiter(signInRate),
      onSignIn: (method, outcome) => metrics.signIns.inc({ method, outcome }),
      onBreakGlass: () => metrics.signIns.inc({ method: 'break_glass', outcome: 'success' }),
      streamPosition: () => readPosition(shared.front),
      writeNotice: (trx, teamId, data) => writeMessages(trx, [{ teamId, type: 'team.staff_access', data }]),
    }),
    ...accountRoutes({ ...common, mailLimits: createMailLimits(config.accountMailsPerHour) }),
    ...secondFactorRoutes(common),
    ...passkeyOperations({ ...common, optionsOfClient: new ClientLimiter(signInRate) }),
    ...invitationRoutes({ ...common, followed: new ClientLimiter(signInRate) }),
    ...apiTokenRoutes({ ...shared, quota: config.apiTokensPerTeam }),
  ]
}

export function credentials(shared: ApiShared) {
  return createCredentials({
    ...accountDeps(shared),
    onTokenUseError: (error) => shared.log.warn({ err: error }, 'last use of an API token not saved'),
  })
}

const accountDeps = (shared: ApiShared) => ({
  ...shared,
  db: shared.front,
  membersPerTeam: shared.config.membersPerTeam,
  onLoopback: isLoopback(shared.config.host),
})

function breachedPasswords({
  config,
  attach,
}: Pick<ApiShared, 'config' | 'attach'>): BreachedPasswords | undefined {
  if (config.breachedPasswordsFile === null) return undefined
  const breached = openBreachedPasswords(config.breachedPasswordsFile)
  attach({ name: 'breached passwords', stop: () => breached.close() })
  return breached
}
