// The SQL of the resources of limited API tokens and TSIG keys. Every statement names the team.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import { nameKey, type DomainName } from '../net/dns/name.ts'
import type { Prefix } from '../net/prefix.ts'

/** A row as JSON of other statements: see `limitsOfToken`. The fields of one kind are set. */
export type LimitRow = {
  readonly zone_id: number | null
  readonly zone: DomainName | null
  readonly names: readonly string[] | null
  readonly types: readonly string[] | null
  readonly network: string | null
  readonly port_id: number | null
  readonly service_id: number | null
}

const limitJson = sql`json_build_object('zone_id', l.zone_id, 'zone', z.name, 'names', l.names, 'types', l.types,
  'network', l.network, 'port_id', l.port_id, 'service_id', l.service_id)`

/** The rows of the token `a`, as a column of a statement: null for a token without a limit. */
export const limitsOfToken = sql<readonly LimitRow[] | null>`case when a.is_limited then (
  select coalesce(json_agg(${limitJson} order by l.id), '[]') from resource_limits l left join dns_zones z on z.id = l.zone_id
  where l.token_id = a.id and l.team_id = a.team_id) end`

/** The rows of the TSIG key `k`, as a column of a statement: null for a key without a limit. */
export const limitsOfTsigKey = sql<readonly LimitRow[] | null>`case when k.is_limited then (
  select coalesce(json_agg(${limitJson} order by l.id), '[]') from resource_limits l left join dns_zones z on z.id = l.zone_id
  where l.tsig_key_id = k.id and l.team_id = k.team_id) end`

/** Whether the last resource of the token `a` is gone, so that it has no access. */
export const lacksResources = sql`(a.is_limited and not exists (select from resource_limits l where l.token_id = a.id))`

export type LimitHolder = { readonly tokenId: string } | { readonly tsigKeyId: number }

/** A resource that was found, for `insertLimits`. */
export type NewLimit =
  | {
      readonly kind: 'zone'
      readonly zoneId: number
      readonly names: readonly string[] | null
      readonly types: readonly string[] | null
    }
  | { readonly kind: 'prefix'; readonly prefixId: number; readonly network: Prefix }
  | { readonly kind: 'port' | 'service'; readonly id: number }

/** Replaces the resources of a TSIG key; none: it keeps none. */
export async function replaceTsigKeyLimits(
  trx: Trx,
  teamId: number | null,
  tsigKeyId: number,
  limits: readonly NewLimit[],
): Promise<void> {
  await trx.deleteFrom('resource_limits').where('tsig_key_id', '=', tsigKeyId).execute()
  if (teamId !== null && limits.length > 0) await insertLimits(trx, teamId, { tsigKeyId }, limits)
}

export async function insertLimits(
  trx: Trx,
  teamId: number,
  holder: LimitHolder,
  limits: readonly NewLimit[],
): Promise<void> {
  const owner = 'tokenId' in holder ? { token_id: holder.tokenId } : { tsig_key_id: holder.tsigKeyId }
  await trx
    .insertInto('resource_limits')
    .values(limits.map((one) => ({ team_id: teamId, ...owner, ...columnsOf(one) })))
    .execute()
}

function columnsOf(limit: NewLimit) {
  switch (limit.kind) {
    case 'zone':
      return { zone_id: limit.zoneId, names: copy(limit.names), types: copy(limit.types) }
    case 'prefix':
      return { prefix_id: limit.prefixId, network: limit.network as string }
    case 'port':
      return { port_id: limit.id }
    case 'service':
      return { service_id: limit.id }
  }
}

const copy = (texts: readonly string[] | null): string[] | null => (texts === null ? null : [...texts])

export type FoundZone = { readonly id: number; readonly name: DomainName }

/** Returns the zones of the team that are not deleted, of these ids and names. Locks them until the end of the transaction. */
export async function findZones(
  trx: Db | Trx,
  teamId: number,
  ids: readonly number[],
  names: readonly DomainName[],
): Promise<FoundZone[]> {
  const keys = names.map((name) => Buffer.from(nameKey(name)))
  const { rows } = await sql<FoundZone>`
    select z.id, z.name from dns_zones z
    where z.team_id = ${teamId} and z.deleted is null
      and (z.id = any(${ids}::bigint[]) or z.name_key = any(${keys}::bytea[]))`.execute(trx)
  return rows
}

/** Returns the prefix of the team that covers each network, the longest one; null without one. */
export async function findPrefixes(
  trx: Db | Trx,
  teamId: number,
  networks: readonly Prefix[],
): Promise<(number | null)[]> {
  const { rows } = await sql<{ id: number | null }>`
    select (select p.id from prefixes p where p.team_id = ${teamId} and p.prefix >>= n.network
      order by masklen(p.prefix) desc limit 1) as id
    from unnest(${networks}::cidr[]) with ordinality n (network, at) order by n.at`.execute(trx)
  return rows.map(({ id }) => id)
}

/** Filters the ids: only ports of the team now. */
export async function findPorts(trx: Db | Trx, teamId: number, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select distinct a.port_id as id from port_assignments a
    where a.team_id = ${teamId} and a.port_id = any(${ids}::bigint[]) and a.valid @> now()`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

/** Filters the ids: only services of the team. */
export async function findServices(
  trx: Db | Trx,
  teamId: number,
  ids: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select s.id from services s where s.team_id = ${teamId} and s.id = any(${ids}::bigint[])`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}
