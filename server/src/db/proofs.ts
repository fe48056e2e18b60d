// In SQL: whether user `u` has a second factor, and whether session `s` was opened with one.
import { sql } from 'kysely'

export const hasFactor = sql<boolean>`(u.totp_enabled is not null or u.passkey_added is not null)`

/** A session of the release before has no proofs; it states the same in a column. */
export const isStrongSession = sql<boolean>`coalesce(
  (select bool_or(p.strong and coalesce(p.expires > now(), true)) from session_proofs p where p.session_id = s.id), s.second_factor)`
