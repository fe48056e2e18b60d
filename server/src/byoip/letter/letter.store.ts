// The SQL of letters of authorization, for a team and for staff. Files are read and written only on upload and download.
import type { ValidationState } from '@pharos/contract/byoip/announcement-checks'
import type {
  LetterMediaType,
  LetterStatus,
  listLettersRoute,
  listLettersToReviewRoute,
} from '@pharos/contract/byoip/letter'
import type { QueryOf } from '@pharos/contract/route'
import { sql } from 'kysely'
import { actorNameOf } from '../../db/actor-name.ts'
import { columns, jsonOf, withExpressions, type RowOf } from '../../db/columns.ts'
import { andAll, listAll, listInTeam, orderBy, type Page } from '../../db/page.ts'
import type { Db, Postgres, Trx } from '../../db/postgres.ts'
import { isLetterWithin } from '../../limit/visible.ts'
import type { Limits } from '../../operation/limits.ts'
import type { LetterVerdict } from '../validation/check-rules.ts'
import { verdictOf, type LetterOfAnnouncement } from './letter-verdict.ts'

/** A letter that was replaced before its review is shown as rejected, with the reason: the API has no fourth status. */
const status = sql<LetterStatus>`case when l.replaced_by is null then l.status else 'rejected' end`
/** For a letter that was replaced as a whole, all announcements; otherwise announcements without a newer letter. */
const isShown = sql`la.letter_id = l.id and la.team_id = l.team_id and (not la.replaced or l.replaced_by is not null)`

const letterColumns = columns(
  'letters',
  'l',
  ['id', 'filename', 'size', 'valid_until', 'uploaded', 'reviewed'],
  {
    sha256: sql<string>`encode(l.sha256, 'hex')`,
    status,
    reason: sql<string | null>`coalesce(l.reason, 'Replaced by letter ' || l.replaced_by || '.')`,
    announcement_ids: sql<
      number[]
    >`array(select la.announcement_id from letter_announcements la where ${isShown} order by 1)`,
  },
)
export type LetterRow = RowOf<typeof letterColumns>

const announcementJson = jsonOf(
  columns('announcements', 'a', ['id', 'origin_asn'], { cidr: sql<string>`a.prefix` }),
)
const reviewedColumns = withExpressions(letterColumns, {
  team_id: sql<number>`l.team_id`,
  team_name: sql<string>`(select t.name from teams t where t.id = l.team_id)`,
  media_type: sql<LetterMediaType>`l.media_type`,
  pages: sql<number | null>`l.pages`,
  uploaded_by: sql<string>`l.uploaded_by`,
  uploaded_by_name: actorNameOf(sql`l.uploaded_by`),
  reviewed_by: sql<string | null>`l.reviewed_by`,
  announcements: sql<RowOf<typeof announcementJson>[]>`coalesce((
    select json_agg(${announcementJson} order by a.id)
    from letter_announcements la join announcements a on a.id = la.announcement_id where ${isShown}), '[]')`,
})
export type ReviewedLetterRow = RowOf<typeof reviewedColumns>

const fileColumns = columns('letters', 'l', ['filename'], {
  mediaType: sql<LetterMediaType>`l.media_type`,
  bytes: sql<Buffer>`f.content`,
})
export type StoredLetterFile = RowOf<typeof fileColumns>

/** Returns one letter of the team. */
export async function findLetter(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<LetterRow | undefined> {
  const query = sql<LetterRow>`
    select ${letterColumns} from letters l where l.team_id = ${teamId} and l.id = ${id}::bigint`
  return (await postgres.readInTeam(teamId, query))[0]
}

/** Returns an existing letter of the team, in a transaction. */
export async function readLetter(trx: Trx, teamId: number, id: number): Promise<LetterRow> {
  const { rows } = await sql<LetterRow>`
    select ${letterColumns} from letters l where l.team_id = ${teamId} and l.id = ${id}`.execute(trx)
  return rows[0]!
}

const orderings = { id: sql`l.id`, uploaded: sql`l.uploaded` }

/** Returns a page of the team's letters. */
export const listLetterRows = (
  postgres: Postgres,
  teamId: number,
  query: QueryOf<typeof listLettersRoute>,
  limits: Limits | null,
): Promise<Page<LetterRow>> =>
  listInTeam(postgres, teamId, {
    matching: sql`select l.* from letters l where l.team_id = ${teamId} ${andAll(
      limits && isLetterWithin(limits.prefixes),
      query.status && sql`${status} = any(${query.status}::text[])`,
      query.announcement_id &&
        sql`exists (select from letter_announcements la
          where la.announcement_id = any(${query.announcement_id}::bigint[]) and ${isShown})`,
    )}`,
    columns: letterColumns,
    order: orderBy(query.ordering, orderings, sql`l.id`),
    slice: query,
  })

/** Returns any team's letter, for staff. */
export async function findLetterToReview(db: Db | Trx, id: number): Promise<ReviewedLetterRow | undefined> {
  const { rows } = await sql<ReviewedLetterRow>`
    select ${reviewedColumns} from letters l where l.id = ${id}::bigint`.execute(db)
  return rows[0]
}

/** Returns a page of all teams' letters, for staff. */
export const listLettersToReview = (
  db: Db,
  query: QueryOf<typeof listLettersToReviewRoute>,
): Promise<Page<ReviewedLetterRow>> =>
  listAll(db, {
    matching: sql`select l.* from letters l where true ${andAll(
      query.status && sql`${status} = any(${query.status}::text[])`,
      query.team_id && sql`l.team_id = any(${query.team_id}::bigint[])`,
    )}`,
    columns: reviewedColumns,
    order: orderBy(query.ordering, orderings, sql`l.id`),
    slice: query,
  })

/** Returns the file of a letter of the team. */
export async function findLetterFile(
  postgres: Postgres,
  teamId: number,
  id: number,
): Promise<StoredLetterFile | undefined> {
  return postgres.inTeam(teamId, async (trx) => {
    const { rows } = await sql<StoredLetterFile>`
      select ${fileColumns} from letters l join letter_files f on f.letter_id = l.id
      where l.team_id = ${teamId} and f.team_id = ${teamId} and l.id = ${id}::bigint`.execute(trx)
    return rows[0]
  })
}

/** Returns the file of any team's letter, for staff. */
export async function findLetterFileToReview(db: Db, id: number): Promise<StoredLetterFile | undefined> {
  const { rows } = await sql<StoredLetterFile>`
    select ${fileColumns} from letters l join letter_files f on f.letter_id = l.id
    where l.id = ${id}::bigint`.execute(db)
  return rows[0]
}

/** Serializes uploads and decisions about one team's letters, so that quotas and replacements are exact. */
export async function lockLetters(trx: Trx, teamId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`letters of team ${teamId}`}, 0))`.execute(trx)
}

/** Whether announcement `a` is within the prefixes of a limited token. */
const isWithin = ({ prefixes }: Limits) => sql`a.prefix <<= any(${prefixes}::cidr[])`

/** Filters the ids: only announcements of the team, within the limits, and not deleted. */
export async function findAnnouncementIds(
  trx: Trx,
  teamId: number,
  ids: readonly number[],
  limits: Limits | null,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`
    select a.id from announcements a
    where a.team_id = ${teamId} and a.id = any(${ids}::bigint[]) and a.deleted is null
      ${andAll(limits && isWithin(limits))}`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

/** Returns the team's usage: stored bytes, and letters uploaded in the last 24 hours. */
export async function measureLetters(trx: Trx, teamId: number): Promise<{ bytes: number; today: number }> {
  const { rows } = await sql<{ bytes: number; today: number }>`
    select coalesce(sum(size), 0)::bigint as bytes,
      count(*) filter (where uploaded > now() - interval '24 hours') as today
    from letters where team_id = ${teamId}`.execute(trx)
  return rows[0]!
}

export type NewLetter = {
  readonly filename: string
  readonly mediaType: LetterMediaType
  readonly pages: number
  readonly content: Buffer
  readonly sha256: Buffer
  readonly validUntil: Date | null
  readonly uploadedBy: string
  readonly announcementIds: readonly number[]
}

/** Stores a letter with its file; returns its id. */
export async function insertLetter(trx: Trx, teamId: number, letter: NewLetter): Promise<number> {
  const { filename, mediaType, pages, content, sha256, validUntil, uploadedBy, announcementIds } = letter
  const { rows } = await sql<{ id: number }>`
    insert into letters (team_id, filename, media_type, pages, size, sha256, valid_until, uploaded_by)
    values (${teamId}, ${filename}, ${mediaType}, ${pages}, ${content.length}, ${sha256}, ${validUntil}, ${uploadedBy})
    returning id`.execute(trx)
  const { id } = rows[0]!
  await sql`insert into letter_files (letter_id, team_id, content) values (${id}, ${teamId}, ${content})`.execute(
    trx,
  )
  await sql`
    insert into letter_announcements (letter_id, announcement_id, team_id, origin_asn)
    select ${id}, id, ${teamId}, origin_asn from announcements
    where team_id = ${teamId} and id = any(${announcementIds}::integer[])`.execute(trx)
  return id
}

export type Replaced = { readonly letterId: number; readonly announcementId: number }

/** Removes the announcements from older pending letters; a letter without any left is replaced. */
export async function replacePending(
  trx: Trx,
  teamId: number,
  letterId: number,
  announcementIds: readonly number[],
): Promise<Replaced[]> {
  const { rows } = await sql<Replaced>`
    update letter_announcements la set replaced = true from letters l
    where l.id = la.letter_id and l.team_id = ${teamId} and la.team_id = ${teamId} and l.id <> ${letterId}
      and la.announcement_id = any(${announcementIds}::integer[])
      and l.status = 'pending_review' and l.replaced_by is null and not la.replaced
    returning la.letter_id as "letterId", la.announcement_id as "announcementId"`.execute(trx)
  await sql`
    update letters l set replaced_by = ${letterId}
    where l.team_id = ${teamId} and l.id = any(${rows.map((row) => row.letterId)}::integer[])
      and not exists (select from letter_announcements la where la.letter_id = l.id and not la.replaced)`.execute(
    trx,
  )
  return rows
}

export type LetterDecision =
  | { readonly status: 'accepted'; readonly validUntil: Date | null }
  | { readonly status: 'rejected'; readonly reason: string }

/** Saves the decision about a pending letter; the caller has locked the team and has checked the status. */
export async function saveLetterDecision(
  trx: Trx,
  id: number,
  decision: LetterDecision,
  actor: string,
): Promise<void> {
  const reason = decision.status === 'rejected' ? decision.reason : null
  const until = decision.status === 'accepted' ? sql`, valid_until = ${decision.validUntil}` : sql``
  await sql`
    update letters set status = ${decision.status}, reason = ${reason}, reviewed = now(), reviewed_by = ${actor} ${until}
    where id = ${id} and status = 'pending_review' and replaced_by is null`.execute(trx)
}

export type DraftRow = {
  readonly id: number
  readonly prefix: string
  readonly origin_asn: number
  readonly signatory: string
  readonly team_name: string
  readonly rpki: FoundCheck | null
  readonly irr: FoundCheck | null
}

/** The result of a check of an announcement; null before the first run. */
export type FoundCheck = {
  readonly state: ValidationState
  readonly evidence: { readonly vrps?: readonly Vrp[]; readonly objects?: readonly RouteObject[] }
}
type Vrp = { readonly prefix: string; readonly max_length: number; readonly asn: number }
type RouteObject = { readonly prefix: string; readonly origin: number; readonly source: string }

/** Returns the values of a letter to sign, for the ids of announcements of the team. */
export async function findDrafts(
  postgres: Postgres,
  teamId: number,
  ids: readonly number[],
  limits: Limits | null,
): Promise<DraftRow[]> {
  const check = (name: string) => sql`(
    select json_build_object('state', v.state, 'evidence', v.evidence) from announcement_validations v
    where v.announcement_id = a.id and v.team_id = ${teamId} and v.name = ${name})`
  const query = sql<DraftRow>`
    select a.id, a.prefix::text as prefix, a.origin_asn, a.loa_signatory as signatory, t.name as team_name,
      ${check('rpki')} as rpki, ${check('irr')} as irr
    from announcements a join teams t on t.id = a.team_id
    where a.team_id = ${teamId} and a.id = any(${ids}::bigint[]) and a.deleted is null
      ${andAll(limits && isWithin(limits))}`
  return postgres.readInTeam(teamId, query)
}

/** Returns the verdict of the letters for each announcement with its present origin, of any team: for the validator, as the owner. */
export async function readLetterVerdicts(
  db: Db | Trx,
  announcementIds: readonly number[],
): Promise<Map<number, LetterVerdict>> {
  const { rows } = await sql<LetterOfAnnouncement & { readonly announcementId: number }>`
    select la.announcement_id as "announcementId", l.id, l.status, l.reason, l.valid_until as "validUntil",
      l.valid_until is not null and l.valid_until <= now() as past
    from letter_announcements la join letters l on l.id = la.letter_id
      join announcements a on a.id = la.announcement_id and a.origin_asn = la.origin_asn
    where la.announcement_id = any(${announcementIds}::integer[]) and not la.replaced and l.replaced_by is null`.execute(
    db,
  )
  const letters = Map.groupBy(rows, ({ announcementId }) => announcementId)
  return new Map(announcementIds.map((id) => [id, verdictOf(letters.get(id) ?? [])]))
}
