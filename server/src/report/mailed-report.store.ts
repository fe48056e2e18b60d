// The SQL of mailed reports: the claims, so that a team gets each month once, and the file that is attached. As the owner.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'
import type { MailAttachment } from '../mail/mail-transport.ts'

export type ReportingTeam = {
  readonly id: number
  readonly timezone: string
  readonly modules: readonly string[]
  /** The latest month with an outcome; null without one. */
  readonly last: string | null
}

export async function listReportingTeams(db: Db): Promise<ReportingTeam[]> {
  const { rows } = await sql<ReportingTeam>`
    select t.id, t.timezone, t.enabled_modules as modules,
      (select max(r.month) from monthly_reports r where r.team_id = t.id and r.outcome is not null) as last
    from teams t where 'lighthouse' = any(t.enabled_modules) order by t.id`.execute(db)
  return rows
}

/** `attempts`: distinguishes this claim from a later one. */
export type ClaimedReport = {
  readonly teamId: number
  readonly month: string
  readonly attempts: number
  /** Age since the first claim. */
  readonly ageSeconds: number
}

/** Claims a month of a team; undefined if it has an outcome or another process works on it. */
export async function claimReport(
  db: Db | Trx,
  teamId: number,
  month: string,
  leaseSeconds: number,
): Promise<ClaimedReport | undefined> {
  const { rows } = await sql<ClaimedReport>`
    insert into monthly_reports as r (team_id, month, due)
    values (${teamId}, ${month}, now() + make_interval(secs => ${leaseSeconds}))
    on conflict (team_id, month) do update set due = excluded.due, attempts = r.attempts + 1
      where r.outcome is null and r.due <= now()
    returning team_id as "teamId", month, attempts,
      extract(epoch from now() - created)::double precision as "ageSeconds"`.execute(db)
  return rows[0]
}

const ofClaim = ({ teamId, month, attempts }: ClaimedReport) =>
  sql`team_id = ${teamId} and month = ${month} and attempts = ${attempts} and outcome is null`

/** Makes the report due again after `seconds`. */
export async function postponeReport(db: Db, claim: ClaimedReport, seconds: number): Promise<void> {
  await sql`update monthly_reports set due = now() + make_interval(secs => ${seconds}) where ${ofClaim(claim)}`.execute(
    db,
  )
}

/** Stores the outcome; false if the claim was lost in the meantime. */
export async function finishReport(
  trx: Db | Trx,
  claim: ClaimedReport,
  outcome: 'mailed' | 'no_data' | 'no_subscribers',
  pdf: Buffer | null = null,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update monthly_reports set outcome = ${outcome}, pdf = ${pdf} where ${ofClaim(claim)}`.execute(trx)
  return numAffectedRows === 1n
}

/** Returns the attachment of a mail. */
export async function findReportFile(
  db: Db,
  { teamId, month }: { readonly teamId: number; readonly month: string },
): Promise<MailAttachment | undefined> {
  const { rows } = await sql<{ pdf: Buffer | null }>`
    select pdf from monthly_reports where team_id = ${teamId} and month = ${month}`.execute(db)
  const bytes = rows[0]?.pdf
  return bytes ? { filename: reportFilename(month), mediaType: 'application/pdf', bytes } : undefined
}

export const reportFilename = (month: string): string => `report-${month}.pdf`

/** A mail is sent within three days or not at all. */
const fileDays = 7

/** Deletes the files of mails that were sent; the API renders the report again. */
export async function deleteReportFiles(db: Db): Promise<void> {
  await sql`update monthly_reports set pdf = null
    where pdf is not null and created < now() - make_interval(days => ${fileDays})`.execute(db)
}
