// The SQL that writes notifications and their mails, as the owner: one run reads the outbox of all teams.
import { rolesWith } from '@pharos/contract/role'
import { sql } from 'kysely'
import type { NotificationKind } from '@pharos/contract/messages/notification-text'
import type { Db, Trx } from '../db/postgres.ts'
import { hasFactor } from '../db/proofs.ts'
import { storedJson } from '../db/stored-json.ts'
import { rolesOfMember } from '../db/roles.ts'
import { writeRows, type RefusedRow } from '../db/write-rows.ts'
import type { NewNotification, Occurrence, Recipient, ReportedMessage } from './recipient.ts'
import { settingsOf } from './settings.ts'
import type { SavedSettings } from './settings.store.ts'
import type { DigestNotifications } from './digest.ts'
import { visibleIn } from './feed.store.ts'

export type FeedPosition = {
  readonly xid: string
  readonly id: string
  readonly since: Date
  readonly isReset: boolean
}

/**
 * Locks the position in the outbox; undefined while another process has it. A position of another database server, whose
 * transactions have other numbers, becomes the oldest running transaction.
 */
export async function lockPosition(trx: Trx): Promise<FeedPosition | undefined> {
  const { rows } = await sql<FeedPosition>`
    select case when h.xid < pg_snapshot_xmax(s) then h.xid else pg_snapshot_xmin(s) end::text as xid,
      case when h.xid < pg_snapshot_xmax(s) then h.id else 0 end::text as id, h.since,
      h.xid >= pg_snapshot_xmax(s) as "isReset"
    from notification_position h, pg_current_snapshot() s for update of h skip locked`.execute(trx)
  return rows[0]
}

export async function savePosition(
  trx: Trx,
  { xid, id }: { readonly xid: string; readonly id: string },
): Promise<void> {
  await sql`update notification_position set xid = ${xid}::xid8, id = ${id}::bigint`.execute(trx)
}

type OutboxRow = ReportedMessage & { readonly xid: string; readonly row: string }

/**
 * Lists messages of all types in commit order, except messages that an older running transaction could still precede.
 */
export async function listOutbox(trx: Trx, { xid, id }: FeedPosition, limit: number): Promise<OutboxRow[]> {
  const { rows } = await sql<OutboxRow>`
    select o.xid::text, o.id::text as row, concat(o.xid, '.', o.id) as id, o.team_id as "teamId", o.type, o.at, o.data
    from outbox o
    where (o.xid, o.id) > (${xid}::xid8, ${id}::bigint) and o.xid < pg_snapshot_xmin(pg_current_snapshot())
    order by o.xid, o.id limit ${limit}`.execute(trx)
  return rows
}

/** Lists the ports whose flows have not matched the counters for three hours, without a notification since. */
export async function listSamplingOccurrences(trx: Trx, since: Date): Promise<Occurrence[]> {
  const { rows } = await sql<Occurrence>`
    select * from (
      select null::integer as "teamId", 'sampling_implausible' as kind,
        concat_ws(' ', k.exporter_id, k.port_id, extract(epoch from k.outside_since)::bigint) as key, k.checked as at,
        jsonb_build_object('exporter', e.address, 'port', p.circuit_id, 'port_id', p.id, 'ratio', k.ratio) as attrs
      from flow_counter_checks k join flow_exporters e on e.id = k.exporter_id join ports p on p.id = k.port_id
      where k.is_implausible and k.checked > greatest(${since}, now() - interval '2 days')) o
    where not exists (select from notifications n where n.kind = o.kind and n.key = o.key)
    order by at, key`.execute(trx)
  return rows
}

/** Days before the end at which a credential is reported. */
const tokenDays = [30, 7, 1]

/**
 * Lists the API tokens and TSIG keys that expire within 30, 7 or 1 days, without a notification at that time. A token
 * or key that was created with less time left is reported from the next shorter time on.
 */
export async function listTokenOccurrences(trx: Trx): Promise<Occurrence[]> {
  const { rows } = await sql<Occurrence>`
    select * from (
      select c.team_id as "teamId", 'token_expiring' as kind, concat_ws(' ', c.type, c.id, d.days, c.expires::date) as key, now() as at,
        jsonb_build_object('type', c.type, 'id', c.id, 'name', c.name, 'expires', c.expires, 'days', d.days) as attrs
      from (
        select team_id, 'api_token' as type, id, name, created, expires from api_tokens where revoked is null
        union all
        select team_id, 'tsig_key', id::text, name, created, expires from dns_tsig_keys where managed_by = 'team') c
      cross join lateral (
        select min(days) as days from unnest(${tokenDays}::integer[]) days
        where c.expires <= now() + make_interval(days => days) and c.created < c.expires - make_interval(days => days)) d
      where c.expires > now() and d.days is not null) o
    where not exists (select from notifications n where n.kind = o.kind and n.key = o.key)
    order by key`.execute(trx)
  return rows
}

/** When a letter is reported before it expires. */
const expiryDays = 14

/**
 * Lists the letters that were decided, uploaded or are about to expire, without a notification so far. A letter does
 * not expire while another letter of its announcements is valid for longer.
 */
export async function listLetterOccurrences(trx: Trx, since: Date): Promise<Occurrence[]> {
  const announcement = sql`(select min(la.announcement_id) from letter_announcements la where la.letter_id = l.id)`
  const unreported = (kind: string) => sql`not exists (
    select from notifications n where n.kind = ${kind} and n.key = l.id::text)`
  const recent = (column: string) => sql`${sql.ref(column)} > greatest(${since}, now() - interval '2 days')`
  const { rows } = await sql<Occurrence>`
    select l.team_id as "teamId", 'letter_decided' as kind, l.id::text as key, l.reviewed as at, jsonb_build_object(
      'letter_id', l.id, 'announcement_id', ${announcement}, 'filename', l.filename, 'status', l.status, 'reason', l.reason) as attrs
    from letters l where ${recent('l.reviewed')} and ${unreported('letter_decided')}
    union all
    select l.team_id, 'letter_expiring', l.id::text, now(), jsonb_build_object(
      'letter_id', l.id, 'announcement_id', ${announcement}, 'filename', l.filename, 'valid_until', l.valid_until)
    from letters l
    where l.status = 'accepted' and l.valid_until between now() and now() + make_interval(days => ${expiryDays})
      and ${unreported('letter_expiring')}
      and exists (select from letter_announcements la join announcements a on a.id = la.announcement_id
        where la.letter_id = l.id and a.deleted is null and not exists (
          select from letter_announcements lb join letters b on b.id = lb.letter_id
          where lb.announcement_id = la.announcement_id and b.status = 'accepted'
            and (b.valid_until is null or b.valid_until > l.valid_until)))
    union all
    select null, 'letter_to_review', l.id::text, l.uploaded, jsonb_build_object(
      'letter_id', l.id, 'filename', l.filename, 'team', t.name)
    from letters l join teams t on t.id = l.team_id
    where l.status = 'pending_review' and l.replaced_by is null and ${recent('l.uploaded')}
      and ${unreported('letter_to_review')}
    order by at, key`.execute(trx)
  return rows
}

/** Lists the members of the teams, and for null all staff. */
export async function listRecipients(
  trx: Trx,
  teamIds: readonly (number | null)[],
): Promise<(Recipient & { readonly modules: readonly string[] })[]> {
  type Row = Omit<Recipient, 'settings'> & {
    readonly modules: readonly string[]
    readonly saved: SavedSettings | null
  }
  const { rows } = await sql<Row>`
    select p."userId", p."teamId", p.joined, p.roles, p.modules, case when s.user_id is not null then jsonb_build_object(
      'mail', s.mail, 'digest', s.digest, 'attackBps', s.attack_bps, 'attackPps', s.attack_pps, 'kinds', s.kinds,
      'monthlyReport', s.monthly_report) end as saved
    from (
      select m.user_id as "userId", m.team_id as "teamId", m.joined, ${rolesOfMember} as roles,
        t.enabled_modules as modules
      from memberships m join teams t on t.id = m.team_id
      where m.team_id = any(${teamIds.filter((id) => id !== null)}::integer[])
      union all
      select u.id, null, u.created, '{}', '{}' from users u where u.is_staff and ${teamIds.includes(null)}
    ) p left join notification_settings s on s.user_id = p."userId" and s.team_id is not distinct from p."teamId"
    order by p."teamId", p."userId"`.execute(trx)
  return rows.map(({ saved, ...row }) => ({ ...row, settings: settingsOf(saved ?? undefined) }))
}

export type WrittenNotification = {
  readonly userId: number
  readonly teamId: number | null
  readonly isWaiting: boolean
}

/**
 * Inserts the notifications; replaces the attributes of an attack that was already reported. The end of an attack is
 * reported only to users who got a mail about its beginning. Returns the written rows.
 */
export async function insertNotifications(
  trx: Trx,
  rows: readonly NewNotification[],
): Promise<{
  readonly written: readonly WrittenNotification[]
  readonly refused: readonly RefusedRow<NewNotification>[]
}> {
  const written: WrittenNotification[] = []
  const refused = await writeRows(
    trx,
    rows,
    async (some) => void written.push(...(await insertAccepted(trx, some))),
  )
  return { written, refused }
}

async function insertAccepted(trx: Trx, rows: readonly NewNotification[]): Promise<WrittenNotification[]> {
  const { rows: written } = await sql<WrittenNotification>`
    insert into notifications as n (user_id, team_id, kind, key, at, attrs, mail)
    select r."userId", r."teamId", r.kind, r.key, r.at, r.attrs, case when r."isMailed" then 'waiting' else 'none' end
    from rows from (jsonb_to_recordset(${storedJson(rows)}::jsonb) as ("userId" integer, "teamId" integer, kind text,
        key text, at timestamptz, attrs jsonb, "isMailed" boolean))
      with ordinality r ("userId", "teamId", kind, key, at, attrs, "isMailed", place)
    where r.kind <> 'attack_ended' or exists (
      select from notifications b where b.kind = 'attack' and b.key = r.key and b.user_id = r."userId"
        and b.team_id is not distinct from r."teamId" and b.mail = 'queued')
    order by r.place
    on conflict (kind, key, user_id, team_id) do update set attrs = excluded.attrs
      where n.kind = 'attack' and n.attrs <> excluded.attrs
    returning user_id as "userId", team_id as "teamId", mail = 'waiting' as "isWaiting"`.execute(trx)
  return written
}

type Target = Pick<WrittenNotification, 'userId' | 'teamId'>

/** Returns when the last mail was queued, by user and team; locks the rows, which are created if they do not exist. */
export async function lockMailing(trx: Trx, { userId, teamId }: Target): Promise<Date | null> {
  const { rows } = await sql<{ last: Date | null }>`
    insert into notification_mailings as m (user_id, team_id) values (${userId}, ${teamId})
    on conflict (user_id, team_id) do update set due = m.due returning last`.execute(trx)
  return rows[0]!.last
}

/** Sets when the next mail is due, unless one is due earlier. */
export async function scheduleMail(trx: Trx, { userId, teamId }: Target, due: Date): Promise<void> {
  await sql`
    update notification_mailings set due = least(due, ${due})
    where user_id = ${userId} and team_id is not distinct from ${teamId}::integer`.execute(trx)
}

export type DueMail = Target & {
  /**
   * Null: it must not be sent, since the user is no longer staff, has no confirmed address or lacks a required second
   * factor.
   */
  readonly email: string | null
  readonly team: string | null
  /** A mail that was not sent yet: the next one waits for it. */
  readonly isBlocked: boolean
}

/** Locks the mail that has been due for longest; undefined if no mail is due. */
export async function lockDueMail(trx: Trx, now: Date): Promise<DueMail | undefined> {
  const { rows } = await sql<DueMail>`
    select d.user_id as "userId", d.team_id as "teamId", t.name as team,
      case when u.email_confirmed is not null and (d.team_id is not null or u.is_staff)
        and not (coalesce(t.require_2fa, false) and not ${hasFactor}) then u.email end as email,
      exists (select from mails m where m.user_id = d.user_id and m.team_id is not distinct from d.team_id
        and m.sent is null and m.failed is null) as "isBlocked"
    from notification_mailings d join users u on u.id = d.user_id left join teams t on t.id = d.team_id
    where d.due <= ${now} order by d.due limit 1 for no key update of d skip locked`.execute(trx)
  return rows[0]
}

export type Subscriber = { readonly userId: number; readonly email: string }

/** Lists the members who get the monthly report by mail, as far as they may get mails of the team. */
export async function listReportSubscribers(db: Db | Trx, teamId: number): Promise<Subscriber[]> {
  const { rows } = await sql<Subscriber>`
    select u.id as "userId", u.email from memberships m join users u on u.id = m.user_id join teams t on t.id = m.team_id
      join notification_settings s on s.user_id = m.user_id and s.team_id = m.team_id
    where m.team_id = ${teamId} and ${rolesOfMember} && ${rolesWith('report.see')}::text[] and s.mail and s.monthly_report and u.email_confirmed is not null
      and not (t.require_2fa and not ${hasFactor})
    order by u.id`.execute(db)
  return rows
}

export type WaitingNotifications = {
  readonly shown: readonly DigestNotifications[]
  readonly counts: readonly { readonly kind: NotificationKind; readonly count: number }[]
  readonly since: Date | null
}

/** Reads the notifications that wait for a mail: the newest ones, oldest first, and the counts of all. */
export async function readWaiting(
  trx: Trx,
  { userId, teamId }: Target,
  limit: number,
): Promise<WaitingNotifications> {
  const waiting = sql`from notifications n where n.user_id = ${userId}
    and n.team_id is not distinct from ${teamId}::integer and n.mail = 'waiting'`
  const { rows: shown } = await sql<DigestNotifications>`
    select kind, at, attrs from (select n.id, n.kind, n.at, n.attrs ${waiting} order by n.id desc limit ${limit}) n
    order by id`.execute(trx)
  const { rows: counts } = await sql<{ kind: NotificationKind; count: number; since: Date }>`
    select n.kind, count(*) as count, min(n.at) as since ${waiting} group by n.kind order by n.kind`.execute(
    trx,
  )
  const times = counts.map(({ since }) => since.getTime())
  return { shown, counts, since: times.length === 0 ? null : new Date(Math.min(...times)) }
}

/** Marks the notifications as done: `queued` if a mail contains them, `none` if they are not mailed. */
export async function saveMailed(
  trx: Trx,
  { userId, teamId }: Target,
  mail: 'queued' | 'none',
  last: Date | null,
): Promise<void> {
  const ofUser = sql`user_id = ${userId} and team_id is not distinct from ${teamId}::integer`
  await sql`update notifications set mail = ${mail} where ${ofUser} and mail = 'waiting'`.execute(trx)
  await sql`update notification_mailings set due = null, last = coalesce(${last}, last) where ${ofUser}`.execute(
    trx,
  )
}

export async function postponeMail(trx: Trx, { userId, teamId }: Target, due: Date): Promise<void> {
  await sql`update notification_mailings set due = ${due}
    where user_id = ${userId} and team_id is not distinct from ${teamId}::integer`.execute(trx)
}

/** The state of a user's feed in a team. */
export type FeedState = {
  readonly userId: number
  readonly teamId: number
  readonly unread: number
  readonly newestId: number | null
}

/** Returns the feeds of the targets: one for a team, and for staff the feeds of all their teams. */
export async function readFeedStates(db: Db | Trx, targets: readonly Target[]): Promise<FeedState[]> {
  const { rows } = await sql<FeedState>`
    with feeds as (
      select distinct m.user_id, m.team_id
      from jsonb_to_recordset(${storedJson(targets)}::jsonb) as r ("userId" integer, "teamId" integer)
      join memberships m on m.user_id = r."userId" and m.team_id = coalesce(r."teamId", m.team_id))
    select f.user_id as "userId", f.team_id as "teamId", c.unread, c.newest as "newestId"
    from feeds f cross join lateral (
      select count(*) filter (where n.read is null) as unread, max(n.id) as newest
      from notifications n where ${visibleIn(sql`f.user_id`, sql`f.team_id`)}) c
    order by f.team_id, f.user_id`.execute(db)
  return rows
}
