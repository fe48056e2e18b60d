// In SQL: whether user `u` has a second factor, and what the proofs of session `s` open (decisions 164 and 167). A session of the release
// before has no proofs: it counts as opened by the account itself.
import { sql, type RawBuilder } from 'kysely'

export const hasFactor = sql<boolean>`(u.totp_enabled is not null or u.passkey_added is not null)`

const proofsOf = (verdict: RawBuilder<unknown>) => sql<boolean | null>`
  (select bool_or(${verdict} and coalesce(p.expires > now(), true)) from session_proofs p where p.session_id = s.id)`

export const isStrongSession = sql<boolean>`coalesce(${proofsOf(sql`p.strong`)}, s.second_factor)`

/** A proof has not expired: the session can be refreshed. */
export const hasProof = sql<boolean>`coalesce(${proofsOf(sql`true`)}, true)`

/** A password or a passkey of the account opened the session. */
export const isLocalSession = sql<boolean>`coalesce(${proofsOf(sql`p.kind = 'local'`)}, true)`

/** The session opens the team: with the account itself, or with an identity provider of this team, never of another. */
export const opensTeam = (teamId: RawBuilder<unknown>) => sql<boolean>`
  coalesce(${proofsOf(sql`(p.kind = 'local'
    or exists (select from identity_providers i where i.id = p.provider_id and i.team_id = ${teamId}))`)}, true)`

/** The key of the identity provider with which a session could be opened for the team; null without one. */
export const activeProviderOf = (teamId: RawBuilder<unknown>) => sql<string | null>`
  (select i.key from identity_providers i where i.team_id = ${teamId} and i.status = 'active' order by i.id limit 1)`
