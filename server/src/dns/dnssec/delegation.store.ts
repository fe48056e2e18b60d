// The SQL of delegations: zones that are due, and the answers of their parents.
import { sql } from 'kysely'
import type { DnssecState } from '@pharos/contract/dns/term'
import { claimRows } from '../../db/due-work.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { nameFromWire, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { sameRdata } from '../../net/dns/record.ts'
import type { Delegation } from './delegation.ts'

export type DueDelegation = {
  readonly zoneId: number
  readonly teamId: number | null
  readonly name: ZoneName
  /** Name servers of the apex, as published. */
  readonly assigned: readonly DomainName[]
  readonly dnssec: DnssecState
  readonly isRolling: boolean
}

/**
 * Lease in seconds. Longer checks are rare, and a repeated check is harmless; a killed process delays its zones by this
 * time.
 */
const leaseSeconds = 30

/**
 * Claims zones that are due, longest waiting first, so that no other process checks them. Zones without a row get one.
 */
export async function claimDueDelegations(db: Db, now: Date, limit: number): Promise<DueDelegation[]> {
  await sql`
    insert into dns_delegations (zone_id, due) select z.id, ${now} from dns_zones z
    where z.deleted is null and z.claimed is not null and z.kind = 'primary' and z.published is not null
      and not exists (select from dns_delegations d where d.zone_id = z.id)`.execute(db)
  const rows = await claimRows<{
    zone_id: number
    team_id: number | null
    name: ZoneName
    dnssec: DnssecState
    is_rolling: boolean
    ns: Buffer[] | null
  }>(db, 'dns_delegations', {
    due: sql`
      select r.zone_id as id from dns_delegations r join dns_zones z on z.id = r.zone_id
      where r.due <= ${now} and (r.leased_until is null or r.leased_until < ${now}) and z.deleted is null
      order by r.due limit ${limit}`,
    lease: sql`leased_until = ${now}::timestamptz + make_interval(secs => ${leaseSeconds})`,
    joined: sql`dns_zones z on z.id = due.id`,
    returning: sql`r.zone_id, z.team_id, z.name, z.dnssec,
      exists (select from dns_keys k where k.zone_id = z.id and k.state in ('introduced', 'retiring')) as is_rolling,
      (select s.rdata from dns_served s where s.zone_id = z.id and s.name_key = z.name_key and s.type = 2) as ns`,
  })
  return rows.map(({ zone_id: zoneId, team_id: teamId, name, dnssec, is_rolling: isRolling, ns }) => ({
    zoneId,
    teamId,
    name,
    dnssec,
    isRolling,
    assigned: (ns ?? []).map((rdata) => nameFromWire(rdata)),
  }))
}

/** Seconds between checks: of a settled zone, and limits of the DS TTL while a state waits for the parent. */
const hour = 3600
const waiting = { min: 2, max: 300, unknown: 30 }

/**
 * Stores an answer. Resolvers cache for at most `cacheSeconds`. An incomplete answer does not replace the DS records
 * and their times.
 */
export async function saveDelegation(
  trx: Trx,
  { zoneId, dnssec, isRolling }: DueDelegation,
  delegation: Delegation,
  now: Date,
  cacheSeconds: number,
): Promise<void> {
  const { status, ns, ds, isDsEverywhere, isComplete, nsTtl, dsTtl } = delegation
  const { rows } = await sql<{ ds: Buffer[]; equal_answers: number; ds_ttl: number | null; status: string }>`
    select ds, equal_answers, ds_ttl, status from dns_delegations where zone_id = ${zoneId} for update`.execute(
    trx,
  )
  const before = rows[0]
  const isEqual =
    isComplete && before !== undefined && before.status !== 'unavailable' && sameRdata(before.ds, ds)
  const equal = !isComplete ? 0 : isEqual ? (before?.equal_answers ?? 0) + 1 : 1
  const isWaiting =
    isRolling || dnssec === 'signing' || dnssec === 'pending_ds' || dnssec === 'pending_disabled'
  const ttl = Math.min(
    waiting.max,
    cacheSeconds,
    Math.max(waiting.min, dsTtl ?? before?.ds_ttl ?? waiting.unknown),
  )
  const isSettling = dnssec !== 'disabled' && equal < 3
  const dueAfter = (seconds: number): Date =>
    new Date(now.getTime() + (isWaiting || isSettling ? seconds : hour) * 1000)
  const due = dueAfter(ttl)
  if (status === 'unavailable') {
    await sql`
      update dns_delegations set status = ${status}, checked = ${now}, equal_answers = 0, is_ds_everywhere = false,
        due = ${dueAfter(Math.min(waiting.max, cacheSeconds))}, leased_until = null where zone_id = ${zoneId}`.execute(
      trx,
    )
    return
  }
  const hasDs = ds.length > 0
  // Between two checks the record may have been there until the second one.
  const mayHaveDs = hasDs || (before?.ds.length ?? 0) > 0
  // While a server does not answer, a DS record that it may still have stays.
  const stored = isComplete
    ? ds
    : [...ds, ...(before?.ds ?? []).filter((old) => !ds.some((one) => Buffer.compare(one, old) === 0))]
  const list = `{${stored.map((octets) => `"\\\\x${Buffer.from(octets).toString('hex')}"`).join()}}`
  await sql`
    update dns_delegations set status = ${status}, checked = ${now}, ns = ${[...ns]}::text[], ds = ${list}::bytea[],
      is_ds_everywhere = ${isDsEverywhere}, ns_ttl = ${nsTtl ?? null}, ds_ttl = greatest(ds_ttl, ${dsTtl ?? null}),
      ds_first_seen = case when ${hasDs} then coalesce(ds_first_seen, ${now}) else ds_first_seen end,
      ds_last_seen = case when ${mayHaveDs} then ${now}::timestamptz else ds_last_seen end,
      delegated_seen = case when ${status} in ('delegated', 'partial') then ${now} else delegated_seen end,
      equal_answers = ${equal}, due = ${due}, leased_until = null
    where zone_id = ${zoneId}`.execute(trx)
}
