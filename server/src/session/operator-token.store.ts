// The SQL of API tokens for the operator, who manages the tokens of every team.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'

export type OperatorTokenRow = {
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

export async function listTokensOfTeams(db: Db, team: string | undefined): Promise<OperatorTokenRow[]> {
  const { rows } = await sql<OperatorTokenRow>`
    select a.id, t.slug as team, a.name, a.scopes, a.allowed_networks::text[] as networks, a.is_admin, a.created,
      a.expires, a.last_used
    from api_tokens a join teams t on t.id = a.team_id
    where a.revoked is null and (${team ?? null}::text is null or t.slug = ${team ?? null})
    order by a.created desc, a.id`.execute(db)
  return rows
}

/** Finds the team of a token, revoked or not. */
export async function findTokenTeam(trx: Trx, id: string): Promise<number | undefined> {
  const token = await trx.selectFrom('api_tokens').select('team_id').where('id', '=', id).executeTakeFirst()
  return token?.team_id
}

export async function findTeamId(db: Db | Trx, slug: string): Promise<number | undefined> {
  const team = await db.selectFrom('teams').select('id').where('slug', '=', slug).executeTakeFirst()
  return team?.id
}

export async function listAllTeamSlugs(db: Db | Trx): Promise<string[]> {
  const rows = await db.selectFrom('teams').select('slug').orderBy('slug').execute()
  return rows.map(({ slug }) => slug)
}
