// The SQL of ALIAS records and of the addresses of their targets. The loop and the publication work as the owner, across all teams.
import type { AliasReason } from '@pharos/contract/reason/alias-reason'
import { sql } from 'kysely'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { nameFromKey, nameFromWire, nameKey, type DomainName } from '../../net/dns/name.ts'
import { recordType } from '../../net/dns/type.ts'
import { withStatusMessages } from '../zone/zone-status.store.ts'
import type { AliasAddresses, AliasBefore, AliasOutcome } from './alias.ts'
import type { PublishedAlias } from './publish-aliases.ts'

export type DueAlias = {
  readonly zoneId: number
  readonly key: Buffer
  readonly name: DomainName
  readonly target: DomainName
  readonly rdata: Buffer
  /**
   * The current addresses of the name. If the target changed, the former addresses are served until the new target has
   * an answer.
   */
  readonly before: AliasBefore
  readonly isSameTarget: boolean
}

/** Returns the ALIAS records of served zones whose target is to be resolved, longest waiting first. */
export async function listDueAliases(db: Db, limit: number): Promise<DueAlias[]> {
  const { rows } = await sql<{
    zone_id: number
    name_key: Buffer
    rdata: Buffer
    a: Buffer[] | null
    aaaa: Buffer[] | null
    reason: AliasReason | null
    waited: number | null
    is_same: boolean
  }>`
    select r.zone_id, r.name_key, r.rdata[1] as rdata, a.a, a.aaaa, a.reason,
      extract(epoch from a.due - a.checked)::float8 as waited, coalesce(a.target = r.rdata[1], false) as is_same
    from dns_recordsets r join dns_zones z on z.id = r.zone_id
      left join dns_aliases a on a.zone_id = r.zone_id and a.name_key = r.name_key
    where r.type = ${sql.lit(recordType.ALIAS)} and z.kind = 'primary' and z.deleted is null and z.claimed is not null
      and (a.due is null or a.due <= now() or a.target <> r.rdata[1])
    order by a.due nulls first limit ${limit}`.execute(db)
  return rows.map(
    ({ zone_id: zoneId, name_key: key, rdata, a, aaaa, reason, waited, is_same: isSameTarget }) => ({
      zoneId,
      key,
      name: nameFromKey(key),
      target: nameFromWire(rdata),
      rdata,
      before: {
        a: a ?? [],
        aaaa: aaaa ?? [],
        reason: isSameTarget ? reason : null,
        waitedSeconds: Math.round(waited ?? 0),
      },
      isSameTarget,
    }),
  )
}

/** Returns the target of the ALIAS record of a name in any served zone; undefined without such a record. */
export async function findAliasTarget(db: Db, name: DomainName): Promise<DomainName | undefined> {
  const { rows } = await sql<{ rdata: Buffer }>`
    select r.rdata[1] as rdata from dns_recordsets r join dns_zones z on z.id = r.zone_id
    where r.type = ${sql.lit(recordType.ALIAS)} and r.name_key = ${Buffer.from(nameKey(name))}
      and z.kind = 'primary' and z.deleted is null and z.claimed is not null limit 1`.execute(db)
  return rows[0] && nameFromWire(rows[0].rdata)
}

/** Stores the outcome, and has the zone published if the addresses changed. A record with another target by now is left to the next run. */
export async function saveAlias(db: Db, alias: DueAlias, outcome: AliasOutcome, now: Date): Promise<void> {
  const { zoneId, key, rdata, isSameTarget } = alias
  const { a, aaaa, isResolved, isChanged, reason, dueSeconds } = outcome
  // Until the new target has an answer, the row has the former target, whose addresses are served.
  const mayReplace = isSameTarget || isResolved
  await db.transaction().execute((trx) => withStatusMessages(trx, [zoneId], now, () => save(trx)))

  async function save(trx: Trx): Promise<void> {
    const { rows } = await sql`
      insert into dns_aliases (zone_id, name_key, target, a, aaaa, resolved, checked, due, reason, is_unserved)
      select r.zone_id, r.name_key, ${rdata}, ${a.map(bufferOf)}::bytea[], ${aaaa.map(bufferOf)}::bytea[],
        case when ${isResolved} then now() end, now(), now() + make_interval(secs => ${dueSeconds}), ${reason},
        not ${isResolved} and not exists (
          select from dns_served s where s.zone_id = r.zone_id and s.name_key = r.name_key
            and s.type in (${sql.lit(recordType.A)}, ${sql.lit(recordType.AAAA)}))
      from dns_recordsets r
      where r.zone_id = ${zoneId} and r.name_key = ${key} and r.type = ${recordType.ALIAS} and r.rdata[1] = ${rdata}
      on conflict (zone_id, name_key) do update set target = excluded.target, a = excluded.a, aaaa = excluded.aaaa,
        resolved = case when ${mayReplace} then coalesce(excluded.resolved, dns_aliases.resolved) end,
        checked = now(), due = excluded.due, reason = excluded.reason, is_unserved = excluded.is_unserved
      returning 1`.execute(trx)
    if (rows.length === 0 || !isResolved || (!isChanged && isSameTarget)) return
    await sql`
      update dns_zones set alias_requested = date_trunc('milliseconds', now()) where id = ${zoneId}`.execute(
      trx,
    )
    await wake(trx, 'dns')
  }
}

const bufferOf = (octets: Uint8Array): Buffer => Buffer.from(octets)

/** Removes the addresses of ALIAS records that no longer exist. */
export async function deleteFormerAliases(db: Db): Promise<void> {
  await sql`
    delete from dns_aliases a where not exists (
      select from dns_recordsets r
      where r.zone_id = a.zone_id and r.name_key = a.name_key and r.type = ${sql.lit(recordType.ALIAS)})`.execute(
    db,
  )
}

/** Returns the ALIAS record sets of a zone with their published addresses. */
export async function listPublishedAliases(db: Db | Trx, zoneId: number): Promise<PublishedAlias[]> {
  const { rows } = await sql<{ name_key: Buffer; ttl: number; a: Buffer[] | null; aaaa: Buffer[] | null }>`
    select r.name_key, r.ttl, a.a, a.aaaa from dns_recordsets r
      left join dns_aliases a on a.zone_id = r.zone_id and a.name_key = r.name_key and a.target = r.rdata[1]
        and a.resolved is not null
    where r.zone_id = ${zoneId} and r.type = ${sql.lit(recordType.ALIAS)}`.execute(db)
  return rows.map(({ name_key: key, ttl, a, aaaa }) => ({
    name: nameFromKey(key),
    ttl,
    addresses: a === null || aaaa === null ? undefined : { a, aaaa },
  }))
}

/** The progress of resolving an ALIAS record. */
export type AliasState = AliasAddresses & {
  readonly name: DomainName
  readonly resolved: Date | null
  readonly checked: Date
  readonly reason: AliasReason | null
}

/** Returns the states of ALIAS records of a zone by name, without records that were never resolved. */
export async function readAliasStates(
  postgres: Postgres,
  teamId: number,
  zoneId: number,
  names: readonly DomainName[],
): Promise<ReadonlyMap<DomainName, AliasState>> {
  const keys = names.map((name) => Buffer.from(nameKey(name)))
  const rows = await postgres.readInTeam(
    teamId,
    sql<Omit<AliasState, 'name'> & { name_key: Buffer }>`
      select a.name_key, a.a, a.aaaa, a.resolved, a.checked, a.reason
      from dns_aliases a join dns_zones z on z.id = a.zone_id
        join dns_recordsets r on r.zone_id = a.zone_id and r.name_key = a.name_key and r.rdata[1] = a.target
      where a.zone_id = ${zoneId} and z.team_id = ${teamId} and r.type = ${sql.lit(recordType.ALIAS)}
        and a.name_key = any(${keys}::bytea[])`,
  )
  return new Map(
    rows.map(({ name_key: key, ...row }) => {
      const name = nameFromKey(key)
      return [name, { ...row, name }]
    }),
  )
}
