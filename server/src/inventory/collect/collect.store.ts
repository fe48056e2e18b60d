// The SQL of the collector: devices that are due, under a lease, and the observations of a survey or a poll.
import type { InterfaceState } from '@pharos/contract/inventory/device'
import { sql, type RawBuilder } from 'kysely'
import { columns, type RowOf } from '../../db/columns.ts'
import { claimRows } from '../../db/due-work.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { storedJson, storedText } from '../../db/stored-json.ts'
import { writeRows, type RefusedRow } from '../../db/write-rows.ts'
import { linkPorts } from '../assignment/link-ports.store.ts'
import type { CounterRow, DeviceIdentity, SeenInterface } from './device-source.ts'

export type DueDevice = {
  readonly id: number
  readonly name: string
  readonly driver: string
  readonly settings: unknown
  readonly address: string | null
  readonly credentialId: number | null
  readonly isSurveyDue: boolean
  /** No survey has succeeded yet. */
  readonly isNew: boolean
  readonly areGaugesDue: boolean
}

const sealedColumns = columns('device_credentials', 'c', [
  'name',
  'version',
  'user_name',
  'auth',
  'privacy',
  'community_sealed',
  'auth_sealed',
  'privacy_sealed',
])
export type SealedCredential = RowOf<typeof sealedColumns>

/** The credentials of leased devices, by id. */
export async function listCredentials(
  { owner: db }: Postgres,
  ids: readonly number[],
): Promise<ReadonlyMap<number, SealedCredential>> {
  const { rows } = await sql<SealedCredential & { readonly id: number }>`
    select c.id, ${sealedColumns} from device_credentials c where c.id = any(${ids}::integer[])`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Ids of the devices that a driver reads. */
export async function listReadDevices(db: Db): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`select id from devices where driver <> 'none'`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

type Lease = { readonly owner: string; readonly seconds: number; readonly max: number }

/** Leases the devices that are due, the longest waiting first. A lease ends by itself if its owner is gone. */
export async function leaseDevices(
  { owner: db }: Postgres,
  { owner, seconds, max }: Lease,
): Promise<DueDevice[]> {
  await sql`
    insert into device_states (device_id) select d.id from devices d
    where d.driver <> 'none' and not exists (select from device_states s where s.device_id = d.id)
    on conflict do nothing`.execute(db)
  return claimRows<DueDevice>(db, 'device_states', {
    due: sql`
      select r.device_id as id from device_states r join devices d on d.id = r.device_id
      where d.driver <> 'none' and least(r.next_poll, r.next_survey) <= now()
        and (r.lease_until is null or r.lease_until < now())
      order by r.next_poll limit ${max}`,
    lease: sql`lease_until = now() + make_interval(secs => ${seconds}), lease_owner = ${owner}`,
    joined: sql`devices d on d.id = due.id`,
    returning: sql`d.id, d.name, d.driver, d.settings, d.management_address as address,
      d.credential_id as "credentialId", r.next_survey <= now() as "isSurveyDue", r.surveyed is null as "isNew",
      r.next_gauges <= now() as "areGaugesDue"`,
  })
}

/** Extends the leases of devices that are still read, or whose reading waits to be saved. */
export async function extendLeases(
  { owner: db }: Postgres,
  owner: string,
  deviceIds: readonly number[],
  seconds: number,
): Promise<void> {
  await sql`
    update device_states set lease_until = now() + make_interval(secs => ${seconds})
    where device_id = any(${deviceIds}::integer[]) and lease_owner = ${owner}`.execute(db)
}

/** Ends all leases of a process that stops. */
export async function endLeases({ owner: db }: Postgres, owner: string): Promise<void> {
  await sql`
    update device_states set lease_until = null, lease_owner = null where lease_owner = ${owner}`.execute(db)
}

/** False: another process has taken the device over, and the reading must not be saved. */
async function holdsLease(trx: Trx, deviceId: number, owner: string): Promise<boolean> {
  const { rows } = await sql`
    select from device_states where device_id = ${deviceId} and lease_owner = ${owner} for update`.execute(
    trx,
  )
  return rows.length > 0
}

/** Saves the observations of one device in one transaction and ends the lease. Returns false if it was lost. */
export async function saveDeviceObservations(
  { owner: db }: Postgres,
  deviceId: number,
  owner: string,
  write: (trx: Trx) => Promise<void>,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await holdsLease(trx, deviceId, owner))) return false
    await write(trx)
    await sql`
      update device_states set lease_until = null, lease_owner = null where device_id = ${deviceId}`.execute(
      trx,
    )
    return true
  })
}

/** The next time on the grid of the interval, which a late run does not shift. */
const nextOf = (
  column: 'next_poll' | 'next_survey' | 'next_gauges',
  seconds: number,
) => sql`${sql.ref(column)} + make_interval(
  secs => ${seconds} * ceil(greatest(1, extract(epoch from now() - ${sql.ref(column)}) / ${seconds})))`

export async function saveDeviceIdentity(
  trx: Trx,
  deviceId: number,
  { uptimeMs, ...identity }: DeviceIdentity,
  surveySeconds: number,
): Promise<void> {
  await sql`
    update device_states set identity = identity || ${storedJson(identity)}::jsonb, booted = now() - make_interval(secs => ${uptimeMs / 1000}),
      surveyed = now(), next_survey = ${nextOf('next_survey', surveySeconds)}
    where device_id = ${deviceId}`.execute(trx)
}

/** Number of surveys in a row without an interface after which it is gone. */
const missingSurveysMax = 3

/** New states of interfaces, and the refused rows. */
type SavedStates<Row> = {
  readonly changes: readonly InterfaceStateChange[]
  readonly refused: readonly RefusedRow<Row>[]
}

/**
 * Adds and updates the interfaces in the device's list, counts surveys that miss an interface, and links ports and
 * members of LAGs.
 */
export function saveInterfaces(
  trx: Trx,
  deviceId: number,
  seen: readonly SeenInterface[],
): Promise<SavedStates<SeenInterface>> {
  return linkPorts(trx, deviceId, async () => {
    const changes: InterfaceStateChange[] = []
    const refused = await writeRows(
      trx,
      seen,
      async (some) => void changes.push(...(await upsertInterfaces(trx, deviceId, some))),
    )
    // An agent that has just started may list no interfaces yet.
    if (seen.length > 0) changes.push(...(await countMissing(trx, deviceId, seen)))
    await saveLags(trx, deviceId, seen)
    return { changes, refused }
  })
}

async function saveLags(trx: Trx, deviceId: number, seen: readonly SeenInterface[]): Promise<void> {
  const lags = storedJson(
    seen.filter(({ lagKey }) => lagKey !== undefined).map(({ key, lagKey }) => ({ key, lag: lagKey })),
  )
  await sql`
    update interfaces i set lag_id = l.id
    from jsonb_to_recordset(${lags}::jsonb) as n (key text, lag text)
      left join interfaces l on l.device_id = ${deviceId} and l.key = n.lag
    where i.device_id = ${deviceId} and i.key = n.key and i.lag_id is distinct from l.id`.execute(trx)
}

function upsertInterfaces(
  trx: Trx,
  deviceId: number,
  seen: readonly SeenInterface[],
): Promise<InterfaceStateChange[]> {
  const rows = storedJson(
    seen.map(({ key, index, name, alias, type, mtu, mac, admin, oper, speedBps, addresses }) => ({
      key,
      if_index: index,
      name,
      alias,
      type,
      mtu,
      mac,
      admin,
      oper,
      speed_bps: speedBps,
      addresses,
    })),
  )
  return logged(
    trx,
    deviceId,
    sql`
      insert into interfaces (device_id, key, if_index, name, alias, type, mtu, mac, admin, oper, speed_bps, addresses)
      select ${deviceId}, n.key, n.if_index, n.name, n.alias, n.type, n.mtu, n.mac, n.admin, n.oper, n.speed_bps,
        coalesce(n.addresses, '{}')
      from jsonb_populate_recordset(null::interfaces, ${rows}::jsonb) n
      on conflict (device_id, key) do update set
        if_index = excluded.if_index, name = excluded.name, alias = excluded.alias, type = excluded.type,
        mtu = excluded.mtu, mac = excluded.mac, speed_bps = excluded.speed_bps,
        addresses = ${seen.every(({ addresses }) => addresses) ? sql`excluded.addresses` : sql`interfaces.addresses`},
        last_change = case when interfaces.oper <> excluded.oper then now() else interfaces.last_change end,
        admin = excluded.admin, oper = excluded.oper, seen = now(), missing_surveys = 0
      returning *`,
  )
}

/** Returns the interfaces that are gone: their states are no longer reported. */
function countMissing(
  trx: Trx,
  deviceId: number,
  seen: readonly SeenInterface[],
): Promise<InterfaceStateChange[]> {
  const isGone = sql`missing_surveys + 1 >= ${sql.lit(missingSurveysMax)} and oper <> 'not_present'`
  return logged(
    trx,
    deviceId,
    sql`
      update interfaces set missing_surveys = missing_surveys + 1,
        oper = case when ${isGone} then 'not_present' else oper end,
        last_change = case when ${isGone} then now() else last_change end
      where device_id = ${deviceId} and key <> all(${seen.map(({ key }) => storedText(key))}::text[])
      returning *`,
  )
}

/** Saves states and counts of errors of the interfaces where they have changed. */
export async function saveStates(
  trx: Trx,
  deviceId: number,
  rows: readonly CounterRow[],
): Promise<SavedStates<CounterRow>> {
  const changes: InterfaceStateChange[] = []
  const refused = await writeRows(
    trx,
    rows,
    async (some) => void changes.push(...(await updateStates(trx, deviceId, some))),
  )
  return { changes, refused }
}

function updateStates(
  trx: Trx,
  deviceId: number,
  rows: readonly CounterRow[],
): Promise<InterfaceStateChange[]> {
  const states = storedJson(
    rows.map(({ key, admin, oper, ...counters }) => ({
      key,
      admin,
      oper,
      in_errors: countOf(counters.errorsIn),
      out_errors: countOf(counters.errorsOut),
      in_discards: countOf(counters.discardsIn),
      out_discards: countOf(counters.discardsOut),
    })),
  )
  const stored = sql.join(['admin', 'oper', ...countColumns].map((name) => sql.ref(`i.${name}`)))
  const read = sql.join(['admin', 'oper', ...countColumns].map((name) => sql.ref(`n.${name}`)))
  return logged(
    trx,
    deviceId,
    sql`
      update interfaces i set admin = n.admin, oper = n.oper, in_errors = n.in_errors, out_errors = n.out_errors,
        in_discards = n.in_discards, out_discards = n.out_discards,
        last_change = case when i.oper <> n.oper then now() else i.last_change end
      from jsonb_to_recordset(${states}::jsonb) as n (key text, admin text, oper text, in_errors bigint, out_errors bigint,
        in_discards bigint, out_discards bigint)
      where i.device_id = ${deviceId} and i.key = n.key and (${stored}) is distinct from (${read})
      returning i.*`,
  )
}

const countColumns = ['in_errors', 'out_errors', 'in_discards', 'out_discards'] as const
const bigintMax = 2n ** 63n - 1n
const countOf = (value: bigint | null): string | null =>
  value === null ? null : String(value > bigintMax ? bigintMax : value)

/** A new state of an interface, as ifOperStatus. */
export type InterfaceStateChange = {
  readonly interfaceId: number
  readonly before: InterfaceState
  readonly after: InterfaceState
}

/** Runs a change that returns interfaces, and adds the differences to their log. */
async function logged(
  trx: Trx,
  deviceId: number,
  change: RawBuilder<unknown>,
): Promise<InterfaceStateChange[]> {
  const { rows } = await sql<InterfaceStateChange & { readonly kind: string }>`
    with old as materialized (
      select id, admin, oper, speed_bps from interfaces where device_id = ${deviceId}),
    saved as (${change})
    insert into interface_log (interface_id, kind, before, after)
    select s.id, c.kind, c.before, c.after
    from saved s join old o on o.id = s.id
      cross join lateral (values ('oper', o.oper, s.oper), ('admin', o.admin, s.admin),
        ('speed', coalesce(o.speed_bps::text, ''), coalesce(s.speed_bps::text, ''))) c (kind, before, after)
    where c.before <> c.after
    returning interface_id as "interfaceId", kind, before, after`.execute(trx)
  return rows.filter(({ kind }) => kind === 'oper')
}

type Answered = {
  readonly pollSeconds: number
  /** Zero: they were not read. */
  readonly gaugeSeconds: number
  /** A part without an answer, or with a wrong one. */
  readonly failure: PollFailure | null
  /** A survey that failed is tried again soon. */
  readonly hasSurveyFailed: boolean
  /** A state has changed: the device is surveyed soon, since a module may have been swapped. */
  readonly hasChanged: boolean
}

export async function saveAnswered(
  trx: Trx,
  deviceId: number,
  { pollSeconds, gaugeSeconds, failure, hasSurveyFailed, hasChanged }: Answered,
): Promise<void> {
  const nextGauges = gaugeSeconds === 0 ? sql`next_gauges` : nextOf('next_gauges', gaugeSeconds)
  await sql`
    update device_states set seen = now(), missed = 0, error = ${failure?.kind ?? null}, error_text = ${failure?.text ?? null},
      next_poll = ${nextOf('next_poll', pollSeconds)}, next_gauges = ${nextGauges},
      next_survey = case when ${hasSurveyFailed} then now() + interval '5 minutes'
        when ${hasChanged} then least(next_survey, greatest(now(), surveyed + interval '5 minutes'))
        else next_survey end
    where device_id = ${deviceId}`.execute(trx)
}

export type PollFailure = {
  readonly kind: string
  readonly text: string
  /** No answer at all; a device that answers wrongly is reachable. */
  readonly isSilent: boolean
}

/** A device that has been silent for some polls is polled less often. */
export async function saveDeviceFailure(
  trx: Trx,
  deviceId: number,
  { kind, text, isSilent }: PollFailure,
  {
    retrySeconds,
    silentSeconds,
    silentAfter,
  }: { retrySeconds: number; silentSeconds: number; silentAfter: number },
): Promise<void> {
  const next = sql`now() + make_interval(
    secs => case when missed >= ${silentAfter} then ${silentSeconds}::integer else ${retrySeconds}::integer end)`
  await sql`
    update device_states set error = ${kind}, error_text = ${text}, missed = missed + ${isSilent ? 1 : 0},
      next_poll = ${next}, next_survey = greatest(next_survey, ${next})
    where device_id = ${deviceId}`.execute(trx)
}
