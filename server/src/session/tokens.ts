// The common reply of sign-in, refresh and team switch: an access token, a refresh token, the user.
import { hash } from 'node:crypto'
import type { SessionTokens, User } from '@pharos/contract/session/session'
import type { KeyRing } from '../runtime/secrets.ts'
import type { AccessTokens } from './access-token.ts'
import { formatRefreshToken } from './refresh-token.ts'

export type IssueDeps = { readonly ring: KeyRing; readonly accessTokens: AccessTokens }

export type ApiTokenHolder = {
  readonly sessionId: string
  readonly userId: number
  readonly teamId: number
  readonly sessionVersion: number
  readonly profile: User
}

/** Issues tokens for the session; `counter` is the number of the refresh token. */
export async function issueTokens(
  deps: IssueDeps,
  holder: ApiTokenHolder,
  counter: number,
): Promise<SessionTokens> {
  return {
    access: deps.accessTokens.sign(holder),
    refresh: formatRefreshToken(deps.ring, { sessionId: holder.sessionId, counter }),
    user_etag: userEtag(holder.profile),
    user: holder.profile,
  }
}

/** Changes with everything in the user record: the user, the teams, the modules. */
export function userEtag(user: User): string {
  return hash('sha256', JSON.stringify(user), 'base64url').slice(0, 22)
}
