// The name of an actor for staff, as SQL: actors are stored as text such as `user:7`, and outlive the account.
import { sql, type RawBuilder } from 'kysely'

/** The e-mail address of the user or the name of the token; null if it is neither, or deleted. */
export const actorNameOf = (actor: RawBuilder<unknown>): RawBuilder<string | null> => sql<string | null>`
  case when ${actor} like 'user:%' then (select u.email from users u where 'user:' || u.id = ${actor})
    when ${actor} like 'token:%' then (select k.name from api_tokens k where 'token:' || k.id = ${actor})
    when ${actor} like 'staff_token:%' then (select k.name from staff_tokens k where 'staff_token:' || k.id = ${actor}) end`
