// The SQL of API tokens as the operator makes, lists and revokes them.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'

export type NewApiToken = {
  readonly id: string
  readonly teamId: number
  readonly name: string
  readonly secretMac: Buffer
  readonly scopes: readonly string[]
  readonly networks: readonly string[]
  readonly isAdmin: boolean
  readonly expires: Date | null
  readonly maxUnusedDays: number | null
}

export async function insertApiToken(trx: Trx, token: NewApiToken): Promise<void> {
  await trx
    .insertInto('api_tokens')
    .values({
      id: token.id,
      team_id: token.teamId,
      name: token.name,
      secret_mac: token.secretMac,
      scopes: [...token.scopes],
      allowed_networks: [...token.networks],
      is_admin: token.isAdmin,
      expires: token.expires,
      max_unused_days: token.maxUnusedDays,
    })
    .execute()
}

export type ApiTokenRow = {
  readonly id: string
  readonly team: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly networks: readonly string[]
  readonly is_admin: boolean
  readonly created: Date
  readonly expires: Date | null
  readonly last_used: Date | null
}

export async function listApiTokens(db: Db, team: string | undefined): Promise<ApiTokenRow[]> {
  const { rows } = await sql<ApiTokenRow>`
    select a.id, t.slug as team, a.name, a.scopes, a.allowed_networks::text[] as networks, a.is_admin, a.created,
      a.expires, a.last_used
    from api_tokens a join teams t on t.id = a.team_id
    where a.revoked is null and (${team ?? null}::text is null or t.slug = ${team ?? null})
    order by a.created desc, a.id`.execute(db)
  return rows
}

/** `now`: it was not revoked before. Undefined where there is no such token. */
export async function revokeApiToken(
  trx: Trx,
  id: string,
): Promise<{ readonly teamId: number; readonly now: boolean } | undefined> {
  const { rows } = await sql<{ teamId: number; now: boolean }>`
    with found as (select id, team_id, revoked is null as now from api_tokens where id = ${id} for update),
    revoked as (update api_tokens set revoked = now() where id in (select id from found where now))
    select team_id as "teamId", now from found`.execute(trx)
  return rows[0]
}
