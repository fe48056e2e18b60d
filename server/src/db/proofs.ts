// In SQL: whether user `u` has a second factor, and what the proofs of session `s` open (decisions 164, 167 and 172). A session of the release
// before has no proofs: it counts as opened by the account itself.
import { sql, type RawBuilder } from 'kysely'

export const hasFactor = sql<boolean>`(u.totp_enabled is not null or u.passkey_added is not null)`

const proofsOf = (verdict: RawBuilder<unknown>) => sql<boolean | null>`
  (select bool_or(${verdict} and coalesce(p.expires > now(), true)) from session_proofs p where p.session_id = s.id)`

/** A second factor of the account opened the session. What an identity provider states of factors counts in its own team only. */
export const isStrongSession = sql<boolean>`coalesce(${proofsOf(sql`(p.kind = 'local' and p.strong)`)}, s.second_factor)`

/** A proof has not expired: the session can be refreshed. */
export const hasProof = sql<boolean>`coalesce(${proofsOf(sql`true`)}, true)`

/** A password or a passkey of the account opened the session. */
export const isLocalSession = sql<boolean>`coalesce(${proofsOf(sql`p.kind = 'local'`)}, true)`

/**
 * The address of user `u` is in a domain that team `t` has bound to an active identity provider. Also while the domain is not verified: then the
 * provider signs nobody in, and a former employee must not get in by that.
 */
const isInDomain = sql`exists (
  select from domains d join identity_providers i on i.id = d.provider_id
  where d.team_id = t.id and i.status = 'active' and d.domain = split_part(lower(u.email), '@', 2))`

/** Proof `p` is of an identity provider of team `t`. */
const isOfTeam = sql`exists (select from identity_providers i where i.id = p.provider_id and i.team_id = t.id)`

/** A second factor of the account opened the session, or an identity provider or a recovery code of team `t` vouches for one. */
export const isStrongInTeam = sql<boolean>`coalesce(
  ${proofsOf(sql`(p.strong and (p.kind = 'local' or p.team_id = t.id or ${isOfTeam}))`)}, s.second_factor)`

/** A password or a passkey opens team `t` for user `u`, whose membership is `m`. Staff who are no member enter with a reason instead. */
export const opensLocally = (strong: RawBuilder<unknown>) => sql<boolean>`(
  m.user_id is null or t.sign_in_policy = 'optional' or t.sign_in_policy = 'required_domain' and ${strong} and not ${isInDomain})`

/** The session opens team `t` for user `u`, whose membership is `m`: by the account, by a provider of this team or by its recovery code. */
const opensTeam = sql<boolean>`coalesce(${proofsOf(sql`case p.kind
    when 'local' then ${opensLocally(sql`p.strong`)}
    when 'recovery' then p.team_id = t.id and coalesce(m.is_admin, false)
    else ${isOfTeam} end`)}, ${opensLocally(sql`s.second_factor`)})`

export type BlockReason = 'second_factor' | 'sign_in'

/** Why session `s` does not open team `t` for user `u`, whose membership is `m`; null if it does. */
export const blockedBy = sql<BlockReason | null>`case
  when not ${opensTeam} then case
    when t.sign_in_policy = 'required_domain' and ${isLocalSession} and not ${isInDomain} then 'second_factor' else 'sign_in' end
  when t.require_2fa and not ${isStrongInTeam} then 'second_factor' end`

/** A session of identity providers lists only the teams that they open: a team must not learn of other teams of its members. */
export const listsTeam = sql<boolean>`(${isLocalSession} or ${opensTeam})`

/** The key of the identity provider with which a session could be opened for the team; null without one. */
export const activeProviderOf = (teamId: RawBuilder<unknown>) => sql<string | null>`
  (select i.key from identity_providers i where i.team_id = ${teamId} and i.status = 'active' order by i.id limit 1)`
