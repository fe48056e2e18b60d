// The SQL of changes of lists by time or by others. As the owner.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import type { UnconfirmedList } from './revert-shield.ts'

export async function findUnconfirmed(db: Db): Promise<{ id: number; team_id: number }[]> {
  const { rows } = await sql<{ id: number; team_id: number }>`
    select id, team_id from shield_lists where confirm_by <= now() order by confirm_by`.execute(db)
  return rows
}

/** Undefined if it is no longer to be reverted. */
export async function lockUnconfirmed(
  trx: Trx,
  teamId: number,
  id: number,
): Promise<UnconfirmedList | undefined> {
  const { rows } = await sql<UnconfirmedList>`
    select id, version, previous_version, prefix::text as prefix, confirm_by,
      (select count(*) from shield_rules r where r.list_id = l.id) as rule_count
    from shield_lists l where team_id = ${teamId} and id = ${id} and confirm_by <= now() for update`.execute(
    trx,
  )
  return rows[0]
}

export type FormerList = {
  readonly id: number
  readonly team_id: number
  readonly prefix: string
  readonly version: number
  readonly rule_count: number
}

const former = sql`
  select l.id, l.team_id, l.prefix::text as prefix, l.version,
    (select count(*) from shield_rules r where r.list_id = l.id) as rule_count
  from shield_lists l
  where exists (select from shield_rules r where r.list_id = l.id) and not shield_holds(l.team_id, l.prefix)`

/** Returns all lists with rules whose teams no longer hold the prefix, or not the whole of it. Not locked: a guard counts them. */
export async function listFormer(trx: Trx): Promise<FormerList[]> {
  const { rows } = await sql<FormerList>`${former} order by l.id`.execute(trx)
  return rows
}

/** Whether the version still belongs to `listFormer`. */
export async function isFormer(trx: Trx, { id, team_id: teamId, version }: FormerList): Promise<boolean> {
  const { rows } = await sql`
    ${former} and l.team_id = ${teamId} and l.id = ${id} and l.version = ${version}`.execute(trx)
  return rows.length > 0
}

export type ListScope = { readonly name: string; readonly lists: readonly number[] }

/** Returns the scrubbers and the lists that each of them gets. */
export async function listScopes(trx: Trx): Promise<ListScope[]> {
  const { rows } = await sql<ListScope>`
    select s.name, (select coalesce(jsonb_agg(l.id), '[]') from shield_lists l
      where cardinality(s.prefixes) = 0 or l.prefix <<= any(s.prefixes)) as lists
    from scrubbers s order by s.name`.execute(trx)
  return rows
}

/**
 * Refreshes of the states wait for each other: a refresh that skips locked lists would miss changes that the other has
 * not read.
 */
export async function lockStates(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('states of shield lists'))`.execute(trx)
}
