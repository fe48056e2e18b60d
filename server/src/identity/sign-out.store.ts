// The SQL of signing out at identity providers.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import type { LogoutStatement } from './identity-provider.ts'

/** The provider of the newest valid proof of the session, and the address of its user at the provider. */
export async function findProofProvider(
  db: Db,
  sessionId: string,
): Promise<{ readonly provider_id: number; readonly email: string } | undefined> {
  const { rows } = await sql<{ provider_id: number; email: string }>`
    select p.provider_id, coalesce((select i.email from user_identities i
        where i.provider_id = p.provider_id and i.user_id = s.user_id order by i.last_used desc nulls last limit 1), u.email) as email
    from session_proofs p join sessions s on s.id = p.session_id join users u on u.id = s.user_id
    where p.session_id = ${sessionId} and p.kind = 'provider' and p.expires > now() and p.provider_id is not null
    order by p.at desc limit 1`.execute(db)
  return rows[0]
}

/** Ends the proofs that the statement names, and returns their users. */
export async function endStatedProofs(
  trx: Trx,
  providerId: number,
  { subject, idpSession }: Pick<LogoutStatement, 'subject' | 'idpSession'>,
): Promise<number[]> {
  const { rows } = await sql<{ user_id: number }>`
    update session_proofs p set expires = now() from sessions s
    where s.id = p.session_id and p.provider_id = ${providerId} and p.kind = 'provider' and p.expires > now()
      and (${idpSession}::text is null or p.idp_session = ${idpSession}::text)
      and (${subject}::text is null or exists (select from user_identities i
        where i.provider_id = ${providerId} and i.user_id = s.user_id and i.subject = ${subject}::text))
    returning s.user_id`.execute(trx)
  return [...new Set(rows.map(({ user_id }) => user_id))]
}
