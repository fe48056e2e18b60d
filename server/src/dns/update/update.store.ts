// The SQL of UPDATE: whose key it is, and whether its change is published.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import { limitsOfTsigKey, type LimitRow } from '../../limit/resource-limit.store.ts'
import { nameKey, type DomainName } from '../../net/dns/name.ts'
import type { Serial } from '../../net/dns/serial.ts'

export type UpdateKey = {
  readonly team_id: number
  /** Empty: from everywhere. */
  readonly networks: readonly string[]
  readonly limits: readonly LimitRow[] | null
}

/**
 * Returns the team whose zones the key may change; undefined if the key belongs to the provider, is for transfers only
 * or has expired, and for a team without DNS.
 */
export async function findUpdateKey(
  { owner }: Pick<Postgres, 'owner'>,
  name: DomainName,
): Promise<UpdateKey | undefined> {
  const { rows } = await sql<UpdateKey>`
    select k.team_id, k.allowed_networks::text[] as networks, ${limitsOfTsigKey} as limits
    from dns_tsig_keys k join teams t on t.id = k.team_id
    where k.name = ${name} and k.may_update and (k.expires is null or k.expires > now())
      and 'dns' = any(t.enabled_modules)`.execute(owner)
  return rows[0]
}

/** Returns the serial of the served zone with the name, and whether all of its versions are published; undefined if it is not served. */
export async function findPublication(
  { owner }: Pick<Postgres, 'owner'>,
  name: DomainName,
): Promise<{ readonly isPublished: boolean; readonly serial: Serial } | undefined> {
  const { rows } = await sql<{ isPublished: boolean; serial: Serial }>`
    select z.published_version >= z.version as "isPublished", z.serial::float8 as serial from dns_zones z
    where z.name_key = ${Buffer.from(nameKey(name))} and z.claimed is not null and z.deleted is null
      and z.published is not null`.execute(owner)
  return rows[0]
}
