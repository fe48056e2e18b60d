// The SQL of the PowerDNS-compatible API: fields that its clients set and read back, and its search. Every statement names the team.
import { sql } from 'kysely'
import type { Postgres } from '../../db/postgres.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import type { PowerdnsOptions } from './format.ts'

/** Returns the options of the team's zones by id; `zoneId` only of this zone. */
export async function readPowerDnsOptions(
  postgres: Postgres,
  teamId: number,
  zoneId?: number,
): Promise<ReadonlyMap<number, PowerdnsOptions>> {
  const rows = await postgres.readInTeam(
    teamId,
    sql<{ id: number; powerdns: PowerdnsOptions }>`
      select z.id, z.powerdns from dns_zones z
      where z.team_id = ${teamId} and z.deleted is null ${zoneId === undefined ? sql`` : sql`and z.id = ${zoneId}`}`,
  )
  return new Map(rows.map(({ id, powerdns }) => [id, powerdns]))
}

/** Sets the given options. */
export async function savePowerDnsOptions(
  postgres: Postgres,
  teamId: number,
  zoneId: number,
  options: PowerdnsOptions,
): Promise<void> {
  await postgres.inTeam(teamId, (trx) =>
    sql`
      update dns_zones set powerdns = powerdns || ${JSON.stringify(options)}::jsonb
      where team_id = ${teamId} and id = ${zoneId} and deleted is null`.execute(trx),
  )
}

export type Found = {
  readonly zone: ZoneName
  readonly name: DomainName
  readonly type: number
  readonly ttl: number
  /** A record in presentation format, or the comment of a set. */
  readonly content: string
}

/** Returns records that match a pattern of LIKE, or whose name does. */
export const findRecords = (
  postgres: Postgres,
  teamId: number,
  pattern: string,
  limit: number,
): Promise<readonly Found[]> =>
  postgres.readInTeam(
    teamId,
    sql<Found>`
      select z.name as zone, r.name, r.type, r.ttl, c.record as content
      from dns_recordsets r join dns_zones z on z.id = r.zone_id,
        lateral unnest(string_to_array(r.content, E'\n')) as c (record)
      where r.team_id = ${teamId} and z.team_id = ${teamId} and z.deleted is null
        and (rtrim(r.name, '.') ilike ${pattern} or c.record ilike ${pattern})
      order by z.name_key, r.name_key, r.type limit ${limit}`,
  )

/** Returns comments that match a pattern of LIKE. */
export const findComments = (
  postgres: Postgres,
  teamId: number,
  pattern: string,
  limit: number,
): Promise<readonly Found[]> =>
  postgres.readInTeam(
    teamId,
    sql<Found>`
      select z.name as zone, r.name, r.type, r.ttl, r.comment as content
      from dns_recordsets r join dns_zones z on z.id = r.zone_id
      where r.team_id = ${teamId} and z.team_id = ${teamId} and z.deleted is null
        and r.comment <> '' and r.comment ilike ${pattern}
      order by z.name_key, r.name_key, r.type limit ${limit}`,
  )

/** Returns the zones whose name matches a pattern of LIKE. */
export const findZonesLike = (
  postgres: Postgres,
  teamId: number,
  pattern: string,
  limit: number,
): Promise<readonly { readonly name: ZoneName }[]> =>
  postgres.readInTeam(
    teamId,
    sql<{ name: ZoneName }>`
      select z.name from dns_zones z
      where z.team_id = ${teamId} and z.deleted is null and rtrim(z.name, '.') ilike ${pattern}
      order by z.name_key limit ${limit}`,
  )
