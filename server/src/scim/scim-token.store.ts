// The SQL of SCIM tokens. No statement of the team reads a MAC: the team's database role may not.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'

export type ScimTokenRecord = {
  readonly id: string
  readonly provider_id: number
  readonly team_id: number
  readonly secret_mac: Buffer
  /** MAC of the secret before the last rotation, while it is valid. */
  readonly previous_mac: Buffer | null
  readonly networks: readonly string[]
}

export async function findScimToken(db: Db, id: string): Promise<ScimTokenRecord | undefined> {
  const { rows } = await sql<ScimTokenRecord>`
    select id, provider_id, team_id, secret_mac, case when previous_until > now() then previous_mac end as previous_mac,
      allowed_networks::text[] as networks
    from scim_tokens where id = ${id}`.execute(db)
  return rows[0]
}

/** At most once a minute; the MAC under the newest key replaces that under a former one. */
export async function saveScimTokenUse(
  db: Db,
  id: string,
  macs: { readonly before: Buffer; readonly after: Buffer } | null,
  address: string | null,
): Promise<void> {
  await sql`
    update scim_tokens set last_used = now(), last_used_address = ${address},
      secret_mac = case when secret_mac = ${macs?.before ?? null} then ${macs?.after ?? null} else secret_mac end
    where id = ${id} and (last_used is null or last_used <= now() - interval '1 minute')`.execute(db)
}

export async function findTokenOfProvider(
  trx: Trx,
  teamId: number,
  providerId: number,
): Promise<{ readonly id: string } | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from scim_tokens where team_id = ${teamId} and provider_id = ${providerId} for no key update`.execute(
    trx,
  )
  return rows[0]
}

export async function insertScimToken(
  trx: Trx,
  token: {
    readonly id: string
    readonly teamId: number
    readonly providerId: number
    readonly secretMac: Buffer
    readonly networks: readonly string[]
  },
): Promise<void> {
  const { id, teamId, providerId, secretMac, networks } = token
  await sql`
    insert into scim_tokens (id, provider_id, team_id, secret_mac, allowed_networks)
    values (${id}, ${providerId}, ${teamId}, ${secretMac}, ${networks}::cidr[])`.execute(trx)
}

/** The former secret works for the overlap. `networks` undefined: they stay. */
export async function rotateScimToken(
  trx: Trx,
  teamId: number,
  id: string,
  {
    secretMac,
    overlapHours,
    networks,
  }: {
    readonly secretMac: Buffer
    readonly overlapHours: number
    readonly networks: readonly string[] | undefined
  },
): Promise<void> {
  await sql`
    select rotate_scim_token(${teamId}::integer, ${id}, ${secretMac}, ${overlapHours}::integer, ${networks ?? null}::cidr[])`.execute(
    trx,
  )
}

export async function deleteScimToken(trx: Trx, teamId: number, id: string): Promise<void> {
  await sql`delete from scim_tokens where team_id = ${teamId} and id = ${id}`.execute(trx)
}
