// The SQL of teams as the operator names them: by slug.
import type { Db, Trx } from '../db/postgres.ts'

export async function findTeamId(db: Db | Trx, slug: string): Promise<number | undefined> {
  const team = await db.selectFrom('teams').select('id').where('slug', '=', slug).executeTakeFirst()
  return team?.id
}

export async function listTeamSlugs(db: Db | Trx): Promise<string[]> {
  const rows = await db.selectFrom('teams').select('slug').orderBy('slug').execute()
  return rows.map(({ slug }) => slug)
}
