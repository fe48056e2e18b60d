// The SQL of the detector over several collectors.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import type { CollectorRates, TargetRates } from './remote-rates.ts'
import type { Direction } from './scopes.ts'
import type { SharedAttack } from './shared-attack.ts'

/** Attacks on and from a network are rows of two tables. */
const tableOf = (direction: Direction) =>
  sql.table(direction === 'incoming' ? 'detector_attacks' : 'detector_outgoing_attacks')

/** Prevents other processes from storing reports and ending attacks until the end of the transaction. */
export async function lockReports(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('detector_attacks', 0))`.execute(trx)
}

/** The newest attack on or from each of the networks, by network. Call `lockReports` first. */
export async function listSharedAttacks(
  trx: Trx,
  direction: Direction,
  networks: readonly string[],
): Promise<Map<string, SharedAttack>> {
  const { rows } = await sql<SharedAttack & { readonly network: string }>`
    select n.network, a.id, a.collector, a.ended, a.observed
    from unnest(${networks}::text[]) as n (network) join ${tableOf(direction)} a on a.network = n.network::cidr`.execute(
    trx,
  )
  return new Map(rows.map(({ network, ...attack }) => [network, attack]))
}

export async function saveAttacks(
  trx: Trx,
  direction: Direction,
  attacks: ReadonlyMap<string, SharedAttack>,
): Promise<void> {
  const rows = JSON.stringify([...attacks].map(([network, attack]) => ({ network, ...attack })))
  await sql`
    insert into ${tableOf(direction)} (network, id, collector, ended, observed)
    select n.network, n.id, n.collector, n.ended, n.observed from jsonb_populate_recordset(null::detector_attacks, ${rows}::jsonb) n
    on conflict (network) do update set
      id = excluded.id, collector = excluded.collector, ended = excluded.ended, observed = excluded.observed`.execute(
    trx,
  )
}

/**
 * Ends these attacks with their events: later reports become another event. A time in the future, from a collector with
 * a wrong clock, must not block the reports of others.
 */
export async function endAttacks(trx: Trx, ids: readonly string[], ended: Date): Promise<void> {
  for (const direction of ['incoming', 'outgoing'] as const)
    await sql`
      update ${tableOf(direction)} set ended = ${ended}, observed = least(observed, ${ended})
      where id = any(${ids}::text[]) and ended is null`.execute(trx)
}

/** Replaces the rates of a collector, and returns the rates of all others. */
export async function exchangeRates(
  db: Db,
  collector: string,
  targets: readonly TargetRates[],
): Promise<readonly CollectorRates[]> {
  await sql`
    insert into detector_rates as r (collector, targets) values (${collector}, ${JSON.stringify(targets)}::jsonb)
    on conflict (collector) do update set targets = excluded.targets, updated = now()`.execute(db)
  const { rows } = await sql<CollectorRates>`
    select extract(epoch from now() - updated)::float8 as "ageSeconds", targets from detector_rates
    where collector <> ${collector} and updated > now() - interval '1 minute'`.execute(db)
  return rows
}

/** Deletes rates of collectors that ended, and attacks without reports for a week. */
export async function deleteOldRates(db: Db): Promise<void> {
  await sql`delete from detector_rates where updated < now() - interval '1 hour'`.execute(db)
  await sql`delete from detector_attacks where observed < now() - interval '7 days'`.execute(db)
  await sql`delete from detector_outgoing_attacks where observed < now() - interval '7 days'`.execute(db)
}
