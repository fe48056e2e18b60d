// The SQL of checks: reading announcements with all facts for their checks, and saving the results of a run. The validator
// works for all teams, as the owner of the tables; queries for a team filter by the team.
import type { SuspendedBy } from '@pharos/contract/byoip/announcement-checks'
import type { CheckReason } from '@pharos/contract/reason/check-reason'
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'
import { executeLater } from '../../db/team-transactions.ts'
import { wake } from '../../db/wake.ts'
import { storedJson } from '../../db/stored-json.ts'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix, type Prefix } from '../../net/prefix.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import type { AnnouncedOrigin } from '../../registry/objects/announced-origins.ts'
import type { Clearance } from '../status/announcement.ts'
import type { AsnVerification, CheckTarget } from './check-rules.ts'
import { saveStatuses } from '../status/status.store.ts'
import type { StoredKind } from './authorization.ts'
import { failedCheckMessages, type ChangedCheck } from './failed-check-message.ts'
import type { Check, CheckResult, ValidationName, ValidationState } from './validation.ts'

/** An announcement with all facts that its checks need. */
export type Subject = CheckTarget & {
  readonly id: number
  readonly teamId: number
  readonly enabled: boolean
  /** The actor that suspended it; null if it is not suspended. */
  readonly suspendedBy: SuspendedBy | null
  readonly clearance: Clearance
  readonly claimed: boolean
  /** The origin for which every check passed. */
  readonly checkedOrigin: number | null
  /** The prefix belongs to another team; queried only while it is not claimed. */
  readonly contested: boolean
  readonly vouched: readonly string[]
  readonly asn: AsnVerification | null
  readonly checks: readonly (Check & { readonly since: Date })[]
  /** The stored proofs other than letters. */
  readonly proofs: readonly StoredProof[]
  /** Whether due proofs are queried in this run. */
  readonly proofsDue: boolean
  /** Whether a sweep has read it; a sweep does not query the registries again. */
  readonly isSwept: boolean
  /** When all checks were requested, by the team or staff. */
  readonly requested: Date | null
  /** When the routing registries are queried next; null: immediately. */
  readonly irrDue: Date | null
}

/** A stored proof other than a letter. */
export type StoredProof = CheckResult & {
  readonly kind: StoredKind
  readonly since: Date
  readonly nextCheck: Date
}

type ProofJson = {
  kind: StoredKind
  state: ValidationState
  note: string
  reason: CheckReason | null
  attrs: Record<string, unknown>
  evidence: Record<string, unknown>
  fix: string | null
  checked: string | null
  since: string
  next_check: string
}

type SubjectRow = {
  id: number
  team_id: number
  prefix: string
  origin_asn: number
  checked_origin: number | null
  as_set: string | null
  enabled: boolean
  suspended_by: SuspendedBy | null
  clearance: Clearance
  claimed: boolean
  contested: boolean
  vouched: string[]
  verified: Date | null
  verified_by: string | null
  expires: Date | null
  revoked: boolean
  check_requested: Date | null
  checks: CheckJson[]
  proofs: ProofJson[]
}

/** A check as JSON: times are text. */
export type CheckJson = {
  name: ValidationName
  state: ValidationState
  note: string
  reason: CheckReason | null
  attrs: Record<string, unknown>
  evidence: Record<string, unknown>
  fix: string | null
  checked: string | null
  since: string
  next_check: string | null
}

/** The checks of an announcement `a` as one JSON array. */
export const checksJson = sql<CheckJson[]>`coalesce((
    select json_agg(json_build_object('name', v.name, 'state', v.state, 'note', v.note, 'reason', v.reason, 'attrs', v.attrs, 'evidence', v.evidence,
      'fix', v.fix, 'checked', v.checked, 'since', v.since, 'next_check', v.next_check))
    from announcement_validations v where v.announcement_id = a.id), '[]')`

const proofsJson = sql`coalesce((
    select json_agg(json_build_object('kind', p.kind, 'state', p.state, 'note', p.note, 'reason', p.reason, 'attrs', p.attrs, 'evidence', p.evidence,
      'fix', p.fix, 'checked', p.checked, 'since', p.since, 'next_check', p.next_check))
    from announcement_proofs p where p.announcement_id = a.id), '[]') as proofs`

type Reading = Pick<Subject, 'isSwept' | 'proofsDue'>

const swept: Reading = { isSwept: true, proofsDue: false }
const queried: Reading = { isSwept: false, proofsDue: false }

async function readSubjects(
  db: Db,
  where: RawBuilder<unknown>,
  limit: number,
  reading: Reading,
): Promise<Subject[]> {
  const { rows } = await sql<SubjectRow>`
    select a.id, a.team_id, a.prefix, a.origin_asn, a.checked_origin, a.as_set, a.enabled, a.suspended_by, a.clearance,
      a.claimed is not null as claimed, a.vouched, a.check_requested,
      a.claimed is null and prefix_is_claimed(a.team_id, a.prefix) as contested,
      s.verified, s.verified_by, s.expires, s.revoked is not null as revoked, ${checksJson} as checks, ${proofsJson}
    from announcements a left join asns s on s.team_id = a.team_id and s.asn = a.origin_asn
    where a.deleted is null and ${where}
    order by a.id limit ${limit}`.execute(db)
  return rows.map((row) => subjectOf(row, reading))
}

/** Returns the next announcements after the id; repeated calls return all. */
export const readSubjectsAfter = (db: Db, id: number, limit: number): Promise<Subject[]> =>
  readSubjects(db, sql`a.id > ${id}`, limit, swept)

/** Returns announcements after the id that a change of the prefixes affects: each prefix itself and its more specifics. */
export const readSubjectsInside = (
  db: Db,
  prefixes: readonly Prefix[],
  id: number,
  limit: number,
): Promise<Subject[]> =>
  readSubjects(db, sql`a.prefix <<= any(${prefixes}::inet[]) and a.id > ${id}`, limit, swept)

/** Returns announcements whose checks were requested, the longest waiting ones. */
export const readSubjectsRequested = (db: Db, limit: number): Promise<Subject[]> =>
  readSubjects(
    db,
    sql`a.id in (
      select id from announcements
      where check_requested is not null and deleted is null order by check_requested limit ${limit})`,
    limit,
    queried,
  )

/** Returns announcements with a proof of these kinds that was never queried or is due. */
export const readSubjectsDueForProof = (
  db: Db,
  kinds: readonly StoredKind[],
  now: Date,
  limit: number,
): Promise<Subject[]> =>
  readSubjects(
    db,
    sql`a.id in (
      select x.id from announcements x cross join unnest(${kinds}::text[]) as k (kind)
      left join announcement_proofs p on p.announcement_id = x.id and p.kind = k.kind
      where x.deleted is null and not 'loa' = any(x.vouched) and (p.next_check is null or p.next_check <= ${now})
      order by p.next_check nulls first limit ${limit})`,
    limit,
    { isSwept: false, proofsDue: true },
  )

/** Returns announcements whose routing registries are due, longest due first. */
export const readSubjectsDue = (db: Db, now: Date, limit: number): Promise<Subject[]> =>
  readSubjects(
    db,
    sql`a.id in (
      select v.announcement_id from announcement_validations v join announcements x on x.id = v.announcement_id
      where v.name = 'irr' and v.next_check <= ${now} and x.deleted is null order by v.next_check limit ${limit})`,
    limit,
    queried,
  )

function subjectOf(row: SubjectRow, reading: Reading): Subject {
  const irr = row.checks.find(({ name }) => name === 'irr')
  return {
    id: row.id,
    teamId: row.team_id,
    prefix: parsePrefix(row.prefix),
    originAsn: parseAsn(row.origin_asn),
    checkedOrigin: row.checked_origin,
    asSet: row.as_set,
    enabled: row.enabled,
    suspendedBy: row.suspended_by,
    clearance: row.clearance,
    claimed: row.claimed,
    contested: row.contested,
    vouched: row.vouched,
    asn:
      row.verified || row.revoked
        ? {
            verified: row.verified,
            verifiedBy: row.verified_by,
            expires: row.expires,
            isRevoked: row.revoked,
          }
        : null,
    checks: row.checks.map((check) => ({ ...checkOf(check), since: new Date(check.since) })),
    proofs: row.proofs.map(({ next_check: nextCheck, since, checked, ...proof }) => ({
      ...proof,
      checked: checked === null ? null : new Date(checked),
      since: new Date(since),
      nextCheck: new Date(nextCheck),
    })),
    ...reading,
    requested: row.check_requested,
    irrDue: irr?.next_check ? new Date(irr.next_check) : null,
  }
}

export function checkOf({ name, state, reason, attrs, note, evidence, fix, checked }: CheckJson): Check {
  const time = checked === null ? null : new Date(checked)
  return { name, state, reason, attrs, note, evidence, fix, checked: time }
}

/**
 * Returns the enabled announcements of all teams, including announcements suspended by the policy for failing checks:
 * another source may validate them.
 */
export async function readAnnounced(db: Db): Promise<AnnouncedOrigin[]> {
  const { rows } = await sql<{ prefix: string; asn: number }>`
    select prefix, origin_asn as asn from announcements
    where enabled and suspended_by is distinct from 'staff' and claimed is not null and deleted is null`.execute(
    db,
  )
  return rows.map(({ prefix, asn }) => ({ prefix: parsePrefix(prefix), asn }))
}

/** A proof that was queried in this run. */
export type QueriedProof = CheckResult & { readonly kind: StoredKind; readonly nextCheck: Date }

/** The results of a run for one announcement. */
export type CheckEvaluation = {
  readonly subject: Subject
  /** The checks that differ from the stored ones, or were queried again. */
  readonly checks: readonly (Check & { readonly nextCheck?: Date | null })[]
  readonly proofs: readonly QueriedProof[]
  readonly clearance: Clearance
  /** Claims the prefix, because every check has passed for the first time. */
  readonly claims: boolean
  /** The request for checks that this run answers. */
  readonly answers: Date | null
}

/**
 * Saves results, statuses and messages in one transaction; ids must be in ascending order. Returns the saved ids: a
 * result applies to an announcement as it was read, before the registries were queried; if it was changed or deleted
 * since, the next run evaluates it.
 */
export async function saveEvaluations(
  trx: Trx,
  made: readonly CheckEvaluation[],
): Promise<ReadonlySet<number>> {
  const unchanged = await lockUnchanged(trx, made)
  const evaluations = made.filter(({ subject }) => unchanged.has(subject.id))
  if (evaluations.length === 0) return unchanged
  await upsertChecks(
    trx,
    evaluations.flatMap(({ subject, checks }) => checks.map((check) => ({ subject, check }))),
  )
  await upsertProofs(trx, evaluations)
  await insertCheckHistory(trx, evaluations)
  const changed = evaluations.filter(changesAnnouncement)
  if (changed.length > 0) await saveClearances(trx, changed)
  const answered = evaluations.flatMap(({ subject, answers }) =>
    answers ? [{ id: subject.id, answers }] : [],
  )
  if (answered.length > 0) {
    await sql`
      update announcements a set check_requested = null
      from jsonb_to_recordset(${storedJson(answered)}::jsonb) as n (id integer, answers timestamptz)
      where a.id = n.id and date_trunc('milliseconds', a.check_requested) <= n.answers`.execute(trx)
  }
  return unchanged
}

/**
 * Locks the announcements that have not changed since they were read. Another team may have claimed a prefix in the
 * meantime.
 */
async function lockUnchanged(
  trx: Trx,
  evaluations: readonly CheckEvaluation[],
): Promise<ReadonlySet<number>> {
  const read = evaluations.map(({ subject: { id, originAsn, asSet, vouched }, claims }) => {
    return { id, origin_asn: originAsn, as_set: asSet, vouched, claims }
  })
  const { rows } = await sql<{ id: number }>`
    select a.id
    from jsonb_to_recordset(${storedJson(read)}::jsonb)
        as n (id integer, origin_asn bigint, as_set text, vouched text[], claims boolean)
      join announcements a on a.id = n.id
    where a.deleted is null and a.origin_asn = n.origin_asn and a.as_set is not distinct from n.as_set
      and a.vouched = n.vouched and not (n.claims and prefix_is_claimed(a.team_id, a.prefix))
    order by a.id for no key update of a`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

/** Locks the announcement; returns whether it is still enabled and suspended, or not, by the same actor. */
export async function lockUndecided(
  trx: Trx,
  { id, teamId, enabled, suspendedBy }: Subject,
): Promise<boolean> {
  const { rows } = await sql`
    select from announcements
    where team_id = ${teamId} and id = ${id} and deleted is null and enabled = ${enabled}
      and suspended_by is not distinct from ${suspendedBy}
    for no key update`.execute(trx)
  return rows.length > 0
}

const stateOf = (subject: Subject, name: ValidationName): ValidationState | undefined =>
  subject.checks.find((check) => check.name === name)?.state

/** Whether the announcement itself changes, and not only its checks. */
function changesAnnouncement(evaluation: CheckEvaluation): boolean {
  const { subject, checks, clearance, claims } = evaluation
  return (
    claims ||
    (confirmsOrigin(evaluation) && subject.checkedOrigin !== subject.originAsn) ||
    clearance !== subject.clearance ||
    checks.some(({ name, state }) => stateOf(subject, name) !== state)
  )
}

/** Whether every check was made for the current origin: stored answers may be about an earlier one. */
const confirmsOrigin = ({ clearance, claims, answers }: CheckEvaluation): boolean =>
  clearance === 'passed' && (claims || answers !== null)

type ToSave = { readonly subject: Subject; readonly check: Check & { readonly nextCheck?: Date | null } }

/** Saves the checks of one or more announcements, and messages about failed ones; `since` changes only with the state. */
async function upsertChecks(trx: Trx, rows: readonly ToSave[]): Promise<void> {
  const json = rows.map(({ subject, check: { nextCheck, ...check } }) => ({
    ...check,
    announcement_id: subject.id,
    team_id: subject.teamId,
    next_check: nextCheck ?? null,
  }))
  const { rows: changes } = await sql<ChangedCheck>`
    with written as (
    insert into announcement_validations as v
      (announcement_id, name, team_id, state, note, reason, attrs, evidence, fix, checked, next_check)
    select n.* from jsonb_to_recordset(${storedJson(json)}::jsonb) as n (announcement_id integer, name text,
      team_id integer, state text, note text, reason text, attrs jsonb, evidence jsonb, fix text, checked timestamptz, next_check timestamptz)
    order by 1, 2
    on conflict (announcement_id, name) do update
    set state = excluded.state, note = excluded.note, reason = excluded.reason,
      attrs = excluded.attrs, evidence = excluded.evidence, fix = excluded.fix,
      checked = excluded.checked, next_check = excluded.next_check,
      since = case when v.state = excluded.state then v.since else now() end
    returning announcement_id, name, team_id, state, note, fix)
    select w.*, b.state as before, a.prefix::text as cidr, a.origin_asn
    from written w
      join announcement_validations b on b.announcement_id = w.announcement_id and b.name = w.name and b.state <> w.state
      join announcements a on a.id = w.announcement_id and a.deleted is null`.execute(trx)
  await writeMessages(trx, failedCheckMessages(changes))
}

async function upsertProofs(trx: Trx, evaluations: readonly CheckEvaluation[]): Promise<void> {
  const rows = evaluations.flatMap(({ subject: { id, teamId }, proofs }) =>
    proofs.map(({ nextCheck, ...proof }) => ({
      ...proof,
      announcement_id: id,
      team_id: teamId,
      next_check: nextCheck,
    })),
  )
  if (rows.length === 0) return
  await sql`
    insert into announcement_proofs as p
      (announcement_id, kind, team_id, state, note, reason, attrs, evidence, fix, checked, next_check)
    select n.* from jsonb_to_recordset(${storedJson(rows)}::jsonb) as n (announcement_id integer, kind text,
      team_id integer, state text, note text, reason text, attrs jsonb, evidence jsonb, fix text, checked timestamptz, next_check timestamptz)
    on conflict (announcement_id, kind) do update
    set state = excluded.state, note = excluded.note, reason = excluded.reason,
      attrs = excluded.attrs, evidence = excluded.evidence, fix = excluded.fix,
      checked = excluded.checked, next_check = excluded.next_check,
      since = case when p.state = excluded.state then p.since else now() end`.execute(trx)
}

/** Adds a history entry for each changed state; also for the first result, unless it is "pending". */
async function insertCheckHistory(trx: Trx, evaluations: readonly CheckEvaluation[]): Promise<void> {
  const changes = evaluations.flatMap(({ subject, checks }) =>
    checks
      .filter(({ name, state }) => state !== (stateOf(subject, name) ?? 'pending'))
      .map(({ name, state, reason, attrs, note }) => {
        const before = stateOf(subject, name) ?? 'pending'
        const detail = { name, before, after: state, reason, attrs, note }
        return { announcement_id: subject.id, team_id: subject.teamId, detail }
      }),
  )
  if (changes.length === 0) return
  await sql`
    insert into announcement_history (announcement_id, team_id, kind, actor, detail)
    select n.announcement_id, n.team_id, 'validation', 'validator', n.detail
    from jsonb_to_recordset(${storedJson(changes)}::jsonb)
      as n (announcement_id integer, team_id integer, detail jsonb)`.execute(trx)
}

async function saveClearances(trx: Trx, changed: readonly CheckEvaluation[]): Promise<void> {
  const rows = changed.map((evaluation) => {
    const { subject, checks, clearance, claims } = evaluation
    const isValid = (name: ValidationName) =>
      (checks.find((check) => check.name === name)?.state ?? stateOf(subject, name)) === 'valid'
    const origin = confirmsOrigin(evaluation) ? subject.originAsn : null
    const passes = { irr: isValid('irr'), rpki: isValid('rpki'), loa: isValid('loa') }
    return { id: subject.id, clearance, claims, origin, ...passes }
  })
  await sql`
    update announcements a set clearance = n.clearance,
      irr_validated = case when n.irr then coalesce(a.irr_validated, now()) end,
      rpki_validated = case when n.rpki then coalesce(a.rpki_validated, now()) end,
      loa_validated = case when n.loa then coalesce(a.loa_validated, now()) end,
      claimed = coalesce(a.claimed, case when n.claims then now() end),
      checked_origin = coalesce(n.origin, a.checked_origin)
    from jsonb_to_recordset(${storedJson(rows)}::jsonb)
      as n (id integer, clearance text, claims boolean, origin bigint, irr boolean, rpki boolean, loa boolean)
    where a.id = n.id`.execute(trx)
  await saveStatuses(
    trx,
    rows.map(({ id }) => id),
  )
}

/** Saves the first checks of an announcement that was just created, in the transaction of its team. */
export async function saveFirstChecks(
  trx: Trx,
  teamId: number,
  announcements: readonly { readonly id: number; readonly checks: readonly Check[] }[],
  irrDue: Date,
): Promise<void> {
  const json = announcements.flatMap(({ id, checks }) =>
    checks.map((check) => ({
      ...check,
      announcement_id: id,
      next_check: check.name === 'irr' ? irrDue : null,
    })),
  )
  await sql`
    insert into announcement_validations
      (announcement_id, name, team_id, state, note, reason, attrs, evidence, fix, checked, next_check)
    select n.announcement_id, n.name, ${teamId}, n.state, n.note, n.reason, n.attrs, n.evidence, n.fix, n.checked, n.next_check
    from jsonb_to_recordset(${storedJson(json)}::jsonb) as n (announcement_id integer, name text, state text, note text, reason text,
      attrs jsonb, evidence jsonb, fix text, checked timestamptz, next_check timestamptz)`.execute(trx)
}

/** Returns the stored checks of one announcement, in a transaction of its team, or of staff. */
export async function readChecksIn(trx: Trx, teamId: number, id: number): Promise<Check[]> {
  const { rows } = await sql<{ checks: CheckJson[] }>`
    select ${checksJson} as checks from announcements a where a.team_id = ${teamId} and a.id = ${id}`.execute(
    trx,
  )
  return (rows[0]?.checks ?? []).map(checkOf)
}

/** Schedules an immediate query of the routing registries for one announcement, because its AS-SET has changed. */
export async function requestIrrCheck(trx: Trx, teamId: number, id: number): Promise<void> {
  await executeLater(
    trx,
    sql`
    update announcement_validations set next_check = now()
    where team_id = ${teamId} and announcement_id = ${id} and name = 'irr'`,
  )
  await wake(trx, 'validations')
}

/** Marks IRR checks as due, a limited number at a time, because a change of a routing registry may change their result. */
export async function markIrrDue(db: Db, now: Date): Promise<void> {
  await sql`
    update announcement_validations set next_check = ${now}
    where (announcement_id, name) in (
      select announcement_id, name from announcement_validations
      where name = 'irr' and next_check > ${now}
        and (state <> 'valid' or checked < ${new Date(now.getTime() - recentCheckMs)})
      order by checked nulls first limit ${dueBatchSize})`.execute(db)
}

/** A recent valid check is not repeated on each change: a registry may change all the time. */
const recentCheckMs = 60_000
const dueBatchSize = 500
