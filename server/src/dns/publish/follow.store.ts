// The SQL of secondary zones: zones that are due, and results of transfers. As the owner, across all teams.
import { sql } from 'kysely'
import { claimRows } from '../../db/due-work.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import type { DomainName, ZoneName } from '../../net/dns/name.ts'
import { toSerial, type Serial } from '../../net/dns/serial.ts'

export type PrimaryOfZone = {
  readonly address: string
  readonly port: number
  readonly keyName: DomainName | null
  readonly keyAlgorithm: string | null
  readonly keySealed: Buffer | null
}

export type DueSecondary = {
  readonly id: number
  readonly name: ZoneName
  readonly teamId: number | null
  readonly serial: Serial | undefined
  /** A NOTIFY came since the last attempt. */
  readonly isNotified: boolean
  readonly primaries: readonly PrimaryOfZone[]
}

/** Lease in seconds, longer than a transfer: afterwards another process claims the zone. */
export const transferLeaseSeconds = 300

/** Claims secondary zones whose primaries are to be asked. */
export async function claimSecondaries(db: Db, limit: number): Promise<DueSecondary[]> {
  const rows = await claimRows<
    Omit<DueSecondary, 'serial' | 'primaries'> & { serial: number | null; primaries: unknown }
  >(db, 'dns_secondaries', {
    due: sql`
      select r.zone_id as id, coalesce(r.notified > coalesce(r.attempted, '-infinity'), false) as is_notified
      from dns_secondaries r join dns_zones z on z.id = r.zone_id
      where r.due <= now() and (r.leased_until is null or r.leased_until < now())
        and z.deleted is null and z.claimed is not null
      order by r.due limit ${limit}`,
    lease: sql`leased_until = now() + make_interval(secs => ${transferLeaseSeconds}), attempted = clock_timestamp()`,
    joined: sql`dns_zones z on z.id = due.id`,
    returning: sql`z.id, z.name, z.team_id as "teamId", z.serial::float8 as serial, due.is_notified as "isNotified",
      r.primaries`,
  })
  return Promise.all(
    rows.map(async ({ serial, primaries, ...zone }) => ({
      ...zone,
      serial: serial === null ? undefined : toSerial(serial),
      primaries: await withKeys(db, primaries as StoredPrimary[]),
    })),
  )
}

type StoredPrimary = {
  readonly address: string
  readonly port?: number
  readonly tsig_key_id?: number | null
}

async function withKeys(db: Db, primaries: readonly StoredPrimary[]): Promise<PrimaryOfZone[]> {
  const ids = primaries.flatMap(({ tsig_key_id: id }) => (typeof id === 'number' ? [id] : []))
  const { rows } = await sql<{ id: number; name: DomainName; algorithm: string; secret_sealed: Buffer }>`
    select id, name, algorithm, secret_sealed from dns_tsig_keys where id = any(${ids})`.execute(db)
  return primaries.map(({ address, port = 53, tsig_key_id: id }) => {
    const key = rows.find((row) => row.id === id)
    return {
      address,
      port,
      keyName: key?.name ?? null,
      keyAlgorithm: key?.algorithm ?? null,
      keySealed: key?.secret_sealed ?? null,
    }
  })
}

/** The result of an attempt. Times are seconds from now. */
export type FollowResult = {
  readonly serial?: Serial
  readonly error: string | null
  readonly attrs?: object
  readonly dueSeconds: number
  /** From SOA expire, after a contact. */
  readonly expireSeconds?: number
  readonly isTransferred?: boolean
}

export async function saveFollowed(db: Db | Trx, zoneId: number, result: FollowResult): Promise<void> {
  const { serial = null, error, attrs, dueSeconds, expireSeconds = null, isTransferred = false } = result
  await sql`
    update dns_secondaries set leased_until = null, error = ${error}, attrs = ${attrs ? JSON.stringify(attrs) : null}::jsonb,
      due = case when notified > attempted then now() else now() + make_interval(secs => ${dueSeconds}) end, serial = coalesce(${serial}::bigint, serial),
      transferred = case when ${isTransferred} then now() else transferred end,
      expires = case when ${expireSeconds}::float8 is null then expires
        else now() + make_interval(secs => ${expireSeconds}::float8) end
    where zone_id = ${zoneId}`.execute(db)
}

/** Why a zone is not transferred: the kind of a DriverError, or the record that name servers would refuse, with the reason. */
export type FollowFailure = { readonly reason: string; readonly record?: string; readonly note?: string }

/**
 * Stores the problem of a secondary zone, or clears it. A cleared problem counts as a publication, so that processes in
 * which the zone had expired serve it again immediately.
 */
export async function saveFollowProblem(
  db: Db | Trx,
  zoneId: number,
  failure: FollowFailure | null,
): Promise<void> {
  const { numAffectedRows = 0n } = await sql`
    with s as (select zone_id, expires < now() as is_expired from dns_secondaries where zone_id = ${zoneId}),
    problem as (
      select zone_id, case when is_expired then 'zone_expired' when ${failure !== null} then 'zone_not_transferred' end as tag
      from s)
    update dns_zones z set reason = p.tag, published = case when p.tag is null then now() else z.published end,
      status = case when p.tag is not null then 'error' when exists (select from dns_servers) then 'updating' else 'ok' end,
      attrs = case when p.tag = 'zone_not_transferred' then ${JSON.stringify(failure)}::jsonb end
    from problem p where z.id = p.zone_id
      and (z.reason is distinct from p.tag or (p.tag = 'zone_not_transferred' and z.attrs is distinct from ${JSON.stringify(failure)}::jsonb))
      and (p.tag is not null or z.reason in ('zone_not_transferred', 'zone_expired', 'zone_held'))`.execute(
    db,
  )
  if (numAffectedRows > 0n && failure === null) await wake(db, 'dns-published')
}

/** A NOTIFY: schedules an immediate query of the primaries. */
export async function requestTransfer(db: Db, zoneId: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`update dns_secondaries set due = now(), notified = clock_timestamp() where zone_id = ${zoneId}`.execute(
      trx,
    )
    await wake(trx, 'dns')
  })
}

/** Returns a TSIG key as stored; undefined if it does not exist. */
export async function findSealedKey(
  db: Db,
  id: number,
): Promise<Omit<PrimaryOfZone, 'address' | 'port'> | undefined> {
  const [primary] = await withKeys(db, [{ address: '', tsig_key_id: id }])
  return primary?.keySealed ? primary : undefined
}
