// Describes the current credential, and its user if it is an access token. Contains no secret.
import type { ResponseOf } from '@pharos/contract/route'
import type { getSessionTokenRoute } from '@pharos/contract/session/session'
import type { Scope } from '@pharos/contract/scope'
import type { Db } from '../db/postgres.ts'
import { fail } from '../runtime/error.ts'
import { presentResources } from '../limit/resources.ts'
import { isAdmin } from '../operation/grant.ts'
import type { Actor, TokenActor, UserActor } from '../operation/operation.ts'
import { findTokenRecord } from './credentials.store.ts'
import { presentStaffAccess } from './staff-access.ts'
import { findStaffAccess } from './staff-access.store.ts'
import { findSession, findSessionTimes } from './session.store.ts'
import { userEtag } from './tokens.ts'

type CurrentCredential = ResponseOf<typeof getSessionTokenRoute>

export function describeCredential(db: Db, actor: Actor): Promise<CurrentCredential> {
  return actor.kind === 'user' ? describeSession(db, actor) : describeToken(db, actor)
}

async function describeSession(db: Db, actor: UserActor): Promise<CurrentCredential> {
  const [session, times, access] = await Promise.all([
    findSession(db, actor.sessionId, actor.teamId),
    findSessionTimes(db, actor.sessionId),
    actor.access ? findStaffAccess(db, actor.access.id) : undefined,
  ])
  if (!session?.profile || !times) throw fail('unauthenticated', 'sessionEnded')
  return {
    token: {
      type: 'access',
      id: actor.sessionId,
      name: 'web session',
      scopes: [],
      is_admin: isAdmin(actor),
      roles: [...actor.roles],
      staff_roles: [...actor.staffRoles],
      staff_access: access ? presentStaffAccess(access) : null,
      modules: [...actor.modules],
      team_id: actor.teamId,
      resources: null,
      service_account_id: null,
      created: times.created.toISOString(),
      expires: times.expires.toISOString(),
      last_used: times.lastUsed.toISOString(),
    },
    user_etag: userEtag(session.profile),
    user: session.profile,
  }
}

async function describeToken(db: Db, actor: TokenActor): Promise<CurrentCredential> {
  const token = await findTokenRecord(db, actor.tokenId)
  if (!token) throw fail('unauthenticated', 'credentialInvalid', { credential: 'API token' })
  return {
    token: {
      type: 'api',
      id: token.id,
      name: token.name,
      scopes: [...token.scopes] as Scope[],
      is_admin: isAdmin(actor),
      roles: [...actor.roles],
      staff_roles: [],
      staff_access: null,
      modules: [...token.modules],
      team_id: token.teamId,
      resources: presentResources(token.limits),
      service_account_id: token.serviceAccountId,
      created: token.created.toISOString(),
      expires: token.expires?.toISOString() ?? null,
      last_used: token.lastUsed?.toISOString() ?? null,
    },
    user_etag: null,
    user: null,
  }
}
