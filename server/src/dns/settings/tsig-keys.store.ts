// The SQL of the TSIG keys of a team. Secrets are read by the name servers only (serve/served.store.ts).
import type { listTsigKeysRoute, TsigKey } from '@pharos/contract/dns/tsig'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { limitsOfTsigKey } from '../../limit/resource-limit.store.ts'

const keyColumns = columns(
  'dns_tsig_keys',
  'k',
  ['id', 'name', 'label', 'algorithm', 'may_update', 'may_transfer', 'expires', 'created', 'creator'],
  {
    managed_by: sql<TsigKey['managed_by']>`case k.managed_by when 'team' then 'team' else 'provider' end`,
    networks: sql<string[]>`k.allowed_networks::text[]`,
    limits: limitsOfTsigKey,
  },
)
export type TsigKeyRow = RowOf<typeof keyColumns>

export const listTsigKeyRows = (
  postgres: Postgres,
  teamId: number,
  { ordering, ...slice }: QueryOf<typeof listTsigKeysRoute>,
): Promise<Page<TsigKeyRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`
      select k.id, k.team_id, k.name, k.label, k.algorithm, k.may_update, k.may_transfer, k.expires, k.created, k.creator, k.managed_by,
        k.allowed_networks, k.is_limited
      from dns_tsig_keys k where k.team_id = ${teamId}`,
    columns: keyColumns,
    order: orderBy(ordering, { name: sql`k.name`, id: sql`k.id`, created: sql`k.created` }, sql`k.id`),
    slice,
  })

export async function findTsigKey(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<TsigKeyRow | undefined> {
  const query = sql<TsigKeyRow>`
    select ${keyColumns} from dns_tsig_keys k where k.team_id = ${teamId} and k.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}

/** Returns the key. Creation and deletion of keys of the team wait until the transaction ends: see `countTsigKeys`. */
export async function readTsigKey(trx: Trx, teamId: number, id: number): Promise<TsigKeyRow | undefined> {
  const { rows } = await sql<TsigKeyRow>`
    select ${keyColumns} from dns_tsig_keys k where k.team_id = ${teamId} and k.id = ${id}::bigint`.execute(
    trx,
  )
  return rows[0]
}

/** Returns the number of keys that the team has created, after waiting for other changes of its keys. */
export async function countTsigKeys(trx: Trx, teamId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('TSIG keys of a team'), ${teamId})`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*) from dns_tsig_keys where team_id = ${teamId} and managed_by = 'team'`.execute(trx)
  return rows[0]!.count
}

export type NewTsigKey = {
  readonly name: string
  readonly label: string
  readonly algorithm: string
  readonly secretSealed: Buffer
  readonly mayUpdate: boolean
  readonly mayTransfer: boolean
  readonly networks: readonly string[]
  readonly expires: Date | null
  readonly isLimited: boolean
  readonly creator: string
}

export async function insertTsigKey(trx: Trx, teamId: number, key: NewTsigKey): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into dns_tsig_keys (team_id, name, label, algorithm, secret_sealed, managed_by, may_update, may_transfer, allowed_networks,
      expires, is_limited, creator)
    values (${teamId}, ${key.name}, ${key.label}, ${key.algorithm}, ${key.secretSealed}, 'team', ${key.mayUpdate}, ${key.mayTransfer},
      ${key.networks}::cidr[], ${key.expires}, ${key.isLimited}, ${key.creator})
    returning id`.execute(trx)
  return rows[0]!.id
}

/** Returns a zone of the team that is transferred from its primaries with the key. */
export async function findZoneWithPrimaryKey(
  trx: Trx,
  teamId: number,
  id: number,
): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select z.name from dns_secondaries s join dns_zones z on z.id = s.zone_id
    where z.team_id = ${teamId} and z.deleted is null
      and s.primaries @> jsonb_build_array(jsonb_build_object('tsig_key_id', ${id}::integer)) order by z.name limit 1`.execute(
    trx,
  )
  return rows[0]?.name
}

/** Deletes the key, also from the settings of zones: they would name a key that does not exist. */
export async function deleteTsigKeyRow(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`
    update dns_zones z set settings_version = settings_version + 1, touched = now(),
      settings = jsonb_set(z.settings, '{tsig_key_ids}', coalesce((
        select jsonb_agg(k.value) from jsonb_array_elements(z.settings -> 'tsig_key_ids') k (value)
        where k.value <> to_jsonb(${id}::integer)), '[]'))
    where z.team_id = ${teamId} and z.settings -> 'tsig_key_ids' @> to_jsonb(${id}::integer)`.execute(trx)
  await sql`delete from dns_tsig_keys where team_id = ${teamId} and id = ${id}`.execute(trx)
}
