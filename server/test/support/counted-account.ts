// Dependencies of the account use cases, with a counter of password hashes: calls that must cost the same must hash equally often,
// and calls refused before hashing must not hash at all.
import { AccessTokens } from '../../src/session/access-token.ts'
import type { AccountDeps } from '../../src/session/account.routes.ts'
import { createMailLimits } from '../../src/session/mail-limits.ts'
import { createWrongPasswords } from '../../src/session/password-check.ts'
import type { SignInDeps } from '../../src/session/sign-in.ts'
import { createPostResponseTasks } from '../../src/runtime/post-response-tasks.ts'
import { ClientLimiter } from '../../src/runtime/client-limiter.ts'
import { RateLimiter } from '../../src/runtime/rate-limit.ts'
import { createSemaphore, type Semaphore } from '../../src/runtime/semaphore.ts'
import type { TestApi } from '../api.ts'

export type CountedDeps = Omit<AccountDeps, 'cookies'> & SignInDeps & { readonly hashes: () => number }

export function createCountedDeps(api: TestApi): CountedDeps {
  const { hashing, hashes } = countingSemaphore()
  return {
    db: api.database.postgres.front,
    ring: api.config.secret,
    accessTokens: new AccessTokens(api.signingKeys, 300),
    onLoopback: true,
    relyingParty: undefined,
    publicUrl: 'https://pharos.example',
    lifetime: { idleSeconds: 3600, absoluteSeconds: 3600 },
    hashing,
    hashes,
    attemptsOfClient: new ClientLimiter({ perSecond: 100, burst: 1000 }),
    attemptsOfAccount: new RateLimiter({ perSecond: 100, burst: 1000 }),
    wrongPasswords: createWrongPasswords(1000),
    breached: undefined,
    providerNames: ['Northern Light', 'pharos'],
    membersPerTeam: 1000,
    mailLimits: createMailLimits(1000),
    tasks: createPostResponseTasks(100, (error) => {
      throw error
    }),
    reportRefusal: () => {},
    onBreakGlass: () => {},
    writeNotice: async () => {},
  }
}

function countingSemaphore(): { hashing: Semaphore; hashes: () => number } {
  const inner = createSemaphore({ permits: 4, waiting: 1000, retryAfterSeconds: 1 })
  let hashes = 0
  return {
    hashes: () => hashes,
    hashing: {
      run(work, signal) {
        hashes++
        return inner.run(work, signal)
      },
      requireRoom: () => inner.requireRoom(),
      get running() {
        return inner.running
      },
      get waiting() {
        return inner.waiting
      },
    },
  }
}
