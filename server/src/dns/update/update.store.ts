// The SQL of UPDATE: whose key it is.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import type { DomainName } from '../../net/dns/name.ts'

/** Returns the team whose zones the key may change; undefined for a key of the provider, one for transfers only, and a team without DNS. */
export async function findUpdateKey(
  { owner }: Pick<Postgres, 'owner'>,
  name: DomainName,
): Promise<number | undefined> {
  const { rows } = await sql<{ team_id: number }>`
    select k.team_id from dns_tsig_keys k join teams t on t.id = k.team_id
    where k.name = ${name} and k.may_update and 'dns' = any(t.enabled_modules)`.execute(owner)
  return rows[0]?.team_id
}
