// The SQL of reverse DNS: holdings, the zones of names, templates, PTR records of a network. Every statement names the team.
import { sql } from 'kysely'
import type { PtrOverwrite, listPtrTemplatesRoute } from '@pharos/contract/dns/ptr'
import type { RecordSetSource } from '@pharos/contract/dns/recordset'
import type { QueryOf } from '@pharos/contract/route'
import { columns, type RowOf } from '../../db/columns.ts'
import { andAll, listInTeam, orderBy, type Page, type Slice } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import type { Limits } from '../../operation/limits.ts'
import { keyOf } from '../zone/zone-change.store.ts'
import type { ReverseHolding } from './holder.ts'

/**
 * Returns the holdings of the team, and overlapping holdings of other teams. Runs as the owner, because a team cannot
 * read other teams.
 */
export async function listReverseHoldings(db: Db | Trx, teamId: number): Promise<ReverseHolding[]> {
  const { rows } = await sql<{ teamId: number; prefix: string }>`
    with own as (
      select p.prefix from prefixes p where p.team_id = ${teamId}
      union
      select a.prefix from announcements a
        where a.team_id = ${teamId} and a.claimed is not null and a.deleted is null)
    select p.team_id as "teamId", p.prefix::text as prefix from prefixes p
      where p.team_id = ${teamId} or exists (select from own o where o.prefix && p.prefix)
    union all
    select a.team_id, a.prefix::text from announcements a
      where a.claimed is not null and a.deleted is null
        and (a.team_id = ${teamId} or exists (select from own o where o.prefix && a.prefix))`.execute(db)
  return rows.map((row) => ({ teamId: row.teamId, prefix: parsePrefix(row.prefix) }))
}

/** Returns the team's prefixes and claimed announcements that cover the prefix. */
export async function listOwnHoldings(trx: Trx, teamId: number, prefix: Prefix): Promise<Prefix[]> {
  const { rows } = await sql<{ prefix: Prefix }>`
    select p.prefix::text as prefix from prefixes p where p.team_id = ${teamId} and p.prefix >>= ${prefix}::cidr
    union all
    select a.prefix::text from announcements a
      where a.team_id = ${teamId} and a.prefix >>= ${prefix}::cidr and a.claimed is not null and a.deleted is null`.execute(
    trx,
  )
  return rows.map(({ prefix: held }) => held)
}

export type ReverseZone = { readonly id: number; readonly teamId: number | null; readonly name: ZoneName }

/** Returns the served zones of any team with these names. */
export async function listZonesNamed(trx: Trx, names: readonly DomainName[]): Promise<ReverseZone[]> {
  const { rows } = await sql<ReverseZone>`
    select z.id, z.team_id as "teamId", z.name from dns_zones z
    where z.name_key = any(${names.map(keyOf)}::bytea[]) and z.claimed is not null and z.deleted is null`.execute(
    trx,
  )
  return rows
}

export type PtrRow = {
  readonly name: DomainName
  readonly content: string
  readonly ttl: number
  readonly zone: ZoneName
  readonly source: RecordSetSource
}

/** The range of keys of names: from `first` on, and before `last`. */
export type KeyRange = { readonly first: Buffer; readonly last: Buffer }

/** The PTR records (type 12) of ranges, in zones of the team and the operator, each found by the key of its zone. */
const ptrsIn = (teamId: number, ranges: readonly KeyRange[]) => sql`
  from unnest(${ranges.map(({ first }) => first)}::bytea[], ${ranges.map(({ last }) => last)}::bytea[]) as w (first, last)
  join dns_zones z on z.is_reverse and z.deleted is null and (z.team_id = ${teamId} or z.team_id is null)
    and (substring(w.first from 1 for length(z.name_key)) = z.name_key or z.name_key >= w.first and z.name_key < w.last)
  join dns_recordsets r on r.zone_id = z.id and r.name_key >= w.first and r.name_key < w.last and r.type = 12
  where true`

/** Names of one address: zones of reverse DNS may have others. */
const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const addressNames = `^(?:(?:${octet}\\.){4}in-addr|(?:[0-9a-f]\\.){32}ip6)\\.arpa\\.$`
/** Keys of IPv6 names are in the order of addresses; octets of IPv4 are decimal. */
const address4 = sql`case when r.name like '%.in-addr.arpa.' then
  (split_part(r.name, '.', 4) || '.' || split_part(r.name, '.', 3) || '.' || split_part(r.name, '.', 2) || '.' ||
    split_part(r.name, '.', 1))::inet end`

/**
 * Returns a page of the PTR records (type 12) of disjoint ranges, in zones of the team and the operator. Addresses are
 * in key order.
 */
export async function listPtrRows(
  db: Db,
  teamId: number,
  ranges: readonly KeyRange[],
  { limit, offset }: Slice,
): Promise<Page<PtrRow>> {
  const matching = sql`${ptrsIn(teamId, ranges)} and z.claimed is not null and r.name ~ ${addressNames}`
  const { rows } = await sql<PtrRow>`
    select r.name, r.content, r.ttl, z.name as zone, r.source ${matching}
    order by ${address4}, r.name_key limit ${limit} offset ${offset}`.execute(db)
  const counted = await sql<{ count: number }>`select count(*) as count ${matching}`.execute(db)
  return { page: rows, count: counted.rows[0]!.count }
}

const templateColumns = columns('dns_ptr_templates', 't', ['id', 'pattern', 'ttl', 'created', 'touched'], {
  prefix: sql<string>`t.prefix::text`,
  overwrite: sql<PtrOverwrite>`t.overwrite`,
})
export type TemplateRow = RowOf<typeof templateColumns>

export const listTemplateRows = (
  postgres: Postgres,
  teamId: number,
  query: QueryOf<typeof listPtrTemplatesRoute>,
  limits: Limits | null,
): Promise<Page<TemplateRow>> =>
  listInTeam<TemplateRow>(postgres, teamId, {
    matching: sql`select t.* from dns_ptr_templates t where t.team_id = ${teamId} ${andAll(
      limits && sql`t.prefix <<= any(${limits.prefixes}::cidr[])`,
    )}`,
    columns: templateColumns,
    order: orderBy(
      query.ordering,
      { id: sql`t.id`, cidr: sql`t.prefix`, created: sql`t.created` },
      sql`t.id`,
    ),
    slice: query,
  })

/** Returns all templates of the team. */
export async function listTemplates(trx: Trx, teamId: number): Promise<TemplateRow[]> {
  const { rows } = await sql<TemplateRow>`
    select ${templateColumns} from dns_ptr_templates t where t.team_id = ${teamId} order by t.id`.execute(trx)
  return rows
}

export type NewTemplate = {
  readonly prefix: Prefix
  readonly pattern: string
  readonly ttl: number | null
  readonly overwrite: PtrOverwrite
}

/** Inserts a template, or replaces that of the same network. */
export async function saveTemplate(trx: Trx, teamId: number, template: NewTemplate): Promise<TemplateRow> {
  const { prefix, pattern, ttl, overwrite } = template
  const { rows } = await sql<TemplateRow>`
    insert into dns_ptr_templates as t (team_id, prefix, pattern, ttl, overwrite)
    values (${teamId}, ${prefix}, ${pattern}, ${ttl}, ${overwrite})
    on conflict (team_id, prefix) do update set pattern = excluded.pattern, ttl = excluded.ttl, overwrite = excluded.overwrite,
      touched = case when (t.pattern, t.overwrite) is distinct from (excluded.pattern, excluded.overwrite)
        or t.ttl is distinct from excluded.ttl then now() else t.touched end
    returning ${templateColumns}`.execute(trx)
  return rows[0]!
}

/** Locks and returns a template of the team. */
export async function lockTemplate(trx: Trx, teamId: number, id: number): Promise<TemplateRow | undefined> {
  const { rows } = await sql<TemplateRow>`
    select ${templateColumns} from dns_ptr_templates t
    where t.team_id = ${teamId} and t.id = ${id}::bigint for update`.execute(trx)
  return rows[0]
}

export async function deleteTemplateRow(trx: Trx, teamId: number, id: number): Promise<void> {
  await sql`delete from dns_ptr_templates where team_id = ${teamId} and id = ${id}`.execute(trx)
}

export type GeneratedPtr = {
  readonly name: DomainName
  readonly rdata: readonly Uint8Array[]
  readonly zoneId: number
}

/** Returns the generated PTR records of disjoint ranges, in zones of the team and the operator. */
export async function listGenerated(
  trx: Trx,
  teamId: number,
  ranges: readonly KeyRange[],
): Promise<GeneratedPtr[]> {
  const { rows } = await sql<GeneratedPtr>`
    select r.name, r.rdata, r.zone_id as "zoneId" ${ptrsIn(teamId, ranges)} and r.source = 'generated'`.execute(
    trx,
  )
  return rows
}

/** Returns which of the names have the address (rdata of A or AAAA) in a zone of the team, and whether a zone of the team is responsible. */
export async function readForward(
  db: Db | Trx,
  teamId: number,
  wanted: readonly {
    readonly name: DomainName
    readonly type: number
    readonly rdata: Uint8Array
    readonly above: readonly DomainName[]
  }[],
): Promise<{ readonly isOwn: boolean; readonly isPresent: boolean }[]> {
  const zones = await sql<{ name: string }>`
    select z.name from dns_zones z where z.team_id = ${teamId} and z.claimed is not null and z.deleted is null
      and z.name_key = any(${[...new Set(wanted.flatMap(({ above }) => above))].map(keyOf)}::bytea[])`.execute(
    db,
  )
  const own = new Set(zones.rows.map(({ name }) => name))
  const { rows } = await sql<{ place: number }>`
    select w.place::integer - 1 as place
    from unnest(${wanted.map(({ name }) => keyOf(name))}::bytea[], ${wanted.map(({ type }) => type)}::integer[],
      ${wanted.map(({ rdata }) => Buffer.from(rdata))}::bytea[]) with ordinality as w (name_key, type, rdata, place)
    where exists (
      select from dns_zones z join dns_recordsets r on r.zone_id = z.id and r.name_key = w.name_key and r.type = w.type
      where z.team_id = ${teamId} and z.claimed is not null and z.deleted is null and w.rdata = any(r.rdata))`.execute(
    db,
  )
  const present = new Set(rows.map(({ place }) => place))
  return wanted.map(({ above }, at) => ({
    isOwn: above.some((name) => own.has(name)),
    isPresent: present.has(at),
  }))
}

/** Returns the team's reverse zones inside the zones of the networks, by name. */
export async function listReverseZonesOf(
  trx: Trx,
  teamId: number,
  ranges: readonly KeyRange[],
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select z.name from dns_zones z
    join unnest(${ranges.map(({ first }) => first)}::bytea[], ${ranges.map(({ last }) => last)}::bytea[]) as w (first, last)
      on z.name_key >= w.first and z.name_key < w.last
    where z.team_id = ${teamId} and z.is_reverse and z.deleted is null order by z.name_key`.execute(trx)
  return rows.map(({ name }) => name)
}
