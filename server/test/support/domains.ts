// Domains of teams for the cross-cutting tests. No DNS is used: tests set whether a domain is verified.
import { sql } from 'kysely'
import type { Db } from '../../src/db/postgres.ts'

export type DomainOptions = { readonly id?: number; readonly verified?: boolean; readonly autoJoin?: boolean }

let names = 0

/** Adds a domain with a unique name to the team and returns its id. */
export async function addDomain(
  db: Db,
  teamId: number,
  { id, verified = false, autoJoin = false }: DomainOptions = {},
): Promise<number> {
  const isVerified = verified ? sql`now()` : sql`null`
  const { rows } = await sql<{ id: number }>`
    insert into domains (id, team_id, domain, auto_join, verified) overriding system value
    values (${id ?? sql`nextval(pg_get_serial_sequence('domains', 'id'))`}, ${teamId},
      ${`domain-${names++}.example`}, ${autoJoin}, ${isVerified})
    returning id`.execute(db)
  return rows[0]!.id
}

/** Replaces all domains: same ids, new names, because each name is queried at most once a minute. */
export async function restoreDomains(db: Db, red: number, blue: number): Promise<void> {
  await db.deleteFrom('domains').execute()
  for (const [at, id] of restoredDomainIds.entries())
    await addDomain(db, at === 3 ? blue : red, { id, verified: at % 2 === 0 })
}

export const restoredDomainIds: readonly number[] = [900_001, 900_002, 900_003, 900_004]
