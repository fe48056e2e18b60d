// The SQL of alerts about holds of DNS and shield: each row has the time of the next alert.
import type { StaffHoldArea } from '@pharos/contract/webhook-message'
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'

/** `subject`: whether `p` is an earlier hold of the same subject as `h`, which `h` replaced. */
const areas: Readonly<
  Record<StaffHoldArea, { readonly table: string; readonly subject: RawBuilder<unknown> }>
> = {
  dns: { table: 'dns_holds', subject: sql`p.kind = h.kind and p.zone_id is not distinct from h.zone_id` },
  shield: {
    table: 'shield_holds',
    subject: sql`p.scrubber is not distinct from h.scrubber and p.list_id is not distinct from h.list_id and p.reason = h.reason`,
  },
}

export type DueAlert = {
  readonly id: number
  readonly isOpen: boolean
  /** There was an alert about it before. */
  readonly isReminder: boolean
  /** When staff got a mail about the hold that this one replaced, if that was in the last hour: it needs none of its own. */
  readonly inherited: Date | null
}

/** Locks holds whose alert is due: those that ended, then those that are due. */
export async function lockDueAlerts(trx: Trx, area: StaffHoldArea, limit: number): Promise<DueAlert[]> {
  const { table, subject } = areas[area]
  const { rows } = await sql<DueAlert>`
    select h.id, h.state = 'open' as "isOpen", h.alerted is not null as "isReminder",
      case when h.alerted is null then (select max(p.alerted) from ${sql.table(table)} p
        where ${subject} and p.id < h.id and p.alerted > now() - interval '1 hour') end as inherited
    from ${sql.table(table)} h where h.alert_due is not null and (h.alert_due <= now() or h.state <> 'open')
    order by h.state = 'open', h.alert_due, h.id limit ${limit} for update of h skip locked`.execute(trx)
  return rows
}

/** Nothing is due any more of a hold that has ended. */
export async function saveAlerted(
  trx: Trx,
  area: StaffHoldArea,
  { id, isOpen, inherited }: DueAlert,
  nextMinutes: number,
): Promise<void> {
  await sql`
    update ${sql.table(areas[area].table)} set alerted = coalesce(${inherited}, now()),
      alert_due = case when ${isOpen} then coalesce(${inherited}, now()) + make_interval(mins => ${nextMinutes}) end
    where id = ${id}::bigint`.execute(trx)
}

/** Returns the confirmed addresses of staff. */
export async function listStaffEmails(db: Db | Trx): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select email from users where is_staff and email_confirmed is not null order by id`.execute(db)
  return rows.map(({ email }) => email)
}
