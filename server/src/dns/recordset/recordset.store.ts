// The SQL that reads record sets for answers. A page without filters is found by the blocks of the zone, equally fast at any offset.
import { sql, type RawBuilder } from 'kysely'
import type { listRecordSetsRoute } from '@pharos/contract/dns/recordset'
import type { QueryOf } from '@pharos/contract/route'
import { andAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Postgres } from '../../db/postgres.ts'
import type { DomainName } from '../../net/dns/name.ts'
import { isWholeZone, type NamePattern, type ZoneLimit } from '../../operation/limits.ts'
import { keyOf, setColumns, type SetRow } from '../zone/zone-change.store.ts'
import type { Zone } from '../zone/zone.ts'

export type RecordSetListQuery = QueryOf<typeof listRecordSetsRoute>

export async function findSet(
  postgres: Postgres,
  teamId: number,
  zone: Zone,
  name: DomainName,
  type: number,
): Promise<SetRow | undefined> {
  const [row] = await postgres.readInTeam(teamId, oneSet(zone, name, type))
  return row
}

const oneSet = (zone: Zone, name: DomainName, type: number) =>
  sql<SetRow>`
    select ${setColumns} from dns_recordsets r
    where r.zone_id = ${zone.id} and r.team_id is not distinct from ${zone.teamId} and r.name_key = ${keyOf(name)}
      and r.type = ${type}`

/** `names` and `types` are the parsed filters of the query. */
export async function listSetRows(
  postgres: Postgres,
  teamId: number,
  zone: Zone,
  query: RecordSetListQuery,
  names: readonly DomainName[] | undefined,
  types: readonly number[] | undefined,
  limit: ZoneLimit | null,
): Promise<Page<SetRow>> {
  const { content, search, managed, ordering } = query
  const isLimited = limit !== null && !isWholeZone(limit)
  const isFiltered = isLimited || [names, types, content, search, managed].some((one) => one !== undefined)
  if (!isFiltered && ordering === 'name') return listByBlocks(postgres, teamId, zone, query)
  return listInTeam<SetRow>(postgres, teamId, {
    matching: sql`
      select r.* from dns_recordsets r where r.zone_id = ${zone.id} and r.team_id = ${teamId} ${andAll(
        limit?.names && sql`(${sql.join(limit.names.map(matching), sql` or `)})`,
        limit?.types && sql`r.type = any(${[...limit.types]}::integer[])`,
        names && sql`r.name_key = any(${names.map(keyOf)}::bytea[])`,
        types && sql`r.type = any(${types}::integer[])`,
        content !== undefined && sql`strpos(lower(r.content), lower(${content})) > 0`,
        search !== undefined &&
          sql`(strpos(r.name, lower(${search})) > 0 or strpos(lower(r.content), lower(${search})) > 0
            or strpos(lower(r.comment), lower(${search})) > 0)`,
        managed !== undefined && sql`(r.source = 'system') = ${managed}`,
      )}`,
    columns: setColumns,
    order: orderBy(
      ordering,
      { name: sql`r.name_key`, type: sql`r.type`, touched: sql`r.touched`, ttl: sql`r.ttl` },
      sql`r.name_key, r.type`,
      'not null',
    ),
    slice: query,
  })
}

/** Whether the name of set `r` matches the pattern; the keys of names below a name begin with its key, which ends with 0x00. */
function matching(pattern: NamePattern): RawBuilder<unknown> {
  if (pattern.kind === 'first_label') return withFirstLabel(pattern.label)
  const key = keyOf(pattern.name as DomainName)
  if (pattern.kind === 'name') return sql`r.name_key = ${key}`
  if (key.length === 0) return sql`r.name_key > ${key}`
  return sql`(r.name_key > ${key} and r.name_key < ${Buffer.concat([key.subarray(0, -1), Buffer.of(1)])})`
}

/** A label that begins with an underscore has an index, with these expressions; `/` follows the dot. */
const withFirstLabel = (label: string): RawBuilder<unknown> =>
  label.startsWith('_')
    ? sql`(starts_with(r.name, '_') and r.name collate "C" >= ${`${label}.`} and r.name collate "C" < ${`${label}/`})`
    : sql`starts_with(r.name, ${`${label}.`})`

/**
 * Finds the block that contains the offset by adding the counts before it, at most a few hundred for a million record
 * sets; within the block it reads the index of the primary key. The total count is from the same snapshot.
 */
async function listByBlocks(
  postgres: Postgres,
  teamId: number,
  zone: Zone,
  { limit, offset }: RecordSetListQuery,
): Promise<Page<SetRow>> {
  const rows = await postgres.readInTeam(
    teamId,
    sql<SetRow & { place: number | null; count: number }>`
      with counted as (
        select z.recordset_count as count from dns_zones z where z.id = ${zone.id} and z.team_id = ${teamId}),
      start as (
        select s.first, s.before from (
          select b.first, sum(b.count) over (order by b.first) - b.count as before
          from dns_blocks b where b.zone_id = ${zone.id}) s
        where s.before <= ${offset} order by s.first desc limit 1),
      page as (
        select row_number() over () as place, p.* from (
          select ${setColumns} from dns_recordsets r
          where r.zone_id = ${zone.id} and r.team_id = ${teamId} and r.name_key >= coalesce((select first from start), ''::bytea)
          order by r.name_key, r.type
          limit ${limit} offset ${offset} - coalesce((select before from start), 0)) p)
      select page.*, counted.count from counted left join page on true order by page.place`,
  )
  const page = rows.filter(({ place }) => place !== null)
  return { page, count: rows[0]?.count ?? 0 }
}
