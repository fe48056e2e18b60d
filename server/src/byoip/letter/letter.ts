// Letters of authorization for their team: upload, read, and a draft to sign. inspect-letter.ts checks the file,
// review-letter.ts is for staff, and the validator updates the announcement.
import { createHash } from 'node:crypto'
import type {
  draftLetterRoute,
  Letter as Wire,
  listLettersRoute,
  LetterMediaType,
} from '@pharos/contract/byoip/letter'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import { runPreparedChange, type ChangeAnswer } from '../../db/run-change.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { errorAt, fail, invalid, notFound, failWith } from '../../runtime/error.ts'
import { etagOf } from '../../operation/etag.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { writeHistory } from '../announcement/history.store.ts'
import type { Inspector } from './inspect-letter.ts'
import type { Drafter } from './letter-draft.ts'
import { letterPrefixOf } from './letter-draft-prefix.ts'
import {
  findAnnouncementIds,
  findDrafts,
  findLetter,
  findLetterFile,
  insertLetter,
  listLetterRows,
  lockLetters,
  measureLetters,
  readLetter,
  replacePending,
  type StoredLetterFile,
  type LetterRow,
  type NewLetter,
  type Replaced,
} from './letter.store.ts'

export type LetterQuotas = {
  /** Maximum uploads per team in 24 hours, whatever their status is. */
  readonly lettersPerDay: number
  /** Maximum bytes per team, over all stored letters. */
  readonly bytes: number
}

/** Enough to upload a letter for each of fifty announcements in a day, and to correct each ten times. */
export const letterQuotas: LetterQuotas = { lettersPerDay: 50, bytes: 512 * 1024 * 1024 }

export type LetterDeps = {
  readonly postgres: Postgres
  readonly inspector: Inspector
  readonly drafter: Drafter
  readonly quotas: LetterQuotas
  /** Returns name and ASN of the provider in letters to sign; null until both are configured. */
  readonly readProvider: () => Promise<{ readonly name: string; readonly asn: number } | null>
  readonly now: () => Date
}

export type UploadedLetter = {
  readonly file: { readonly filename: string; readonly bytes: Buffer }
  readonly valid_until?: string
  readonly applies_to?: readonly number[]
}

/**
 * Stores a letter for review and replaces older pending ones. Throws `unsupported_media_type` and `invalid` if the
 * file is not a valid letter, `not_found`, and `quota_exceeded`.
 */
export async function uploadLetter(
  { postgres, inspector, quotas, now }: LetterDeps,
  operation: Operation,
  announcementId: number,
  { file, valid_until, applies_to = [] }: UploadedLetter,
): Promise<ChangeAnswer<Wire>> {
  const prepare = async (): Promise<NewLetter> => {
    const validUntil = valid_until === undefined ? null : new Date(valid_until)
    if (validUntil) requireFuture(validUntil, now())
    const { mediaType, pages } = await inspector.inspect(file.bytes, `team:${operation.actor.teamId}`)
    return {
      filename: letterFilename(file.filename, mediaType),
      mediaType,
      pages,
      content: file.bytes,
      sha256: createHash('sha256').update(file.bytes).digest(),
      validUntil,
      uploadedBy: actorName(operation.actor),
      announcementIds: [...new Set([announcementId, ...applies_to])],
    }
  }
  return runPreparedChange(postgres, operation, prepare, async (trx, letter) => {
    const { teamId } = operation.actor
    await lockLetters(trx, teamId)
    await requireAnnouncements(trx, operation.actor, announcementId, applies_to)
    await requireQuota(trx, teamId, quotas, file.bytes.length)
    return answerWith(await store(trx, operation, letter))
  })
}

const yearsMax = 30

/** Also for the date that staff set. More than a century ahead is a typing error. */
export function requireFuture(validUntil: Date, now: Date): void {
  const latest = new Date(now)
  latest.setUTCFullYear(latest.getUTCFullYear() + yearsMax)
  if (validUntil > now && validUntil <= latest) return
  throw invalid(['body', 'valid_until'], 'letterEnd', {
    after: now.toISOString(),
    until: latest.toISOString(),
  })
}

async function requireAnnouncements(
  trx: Trx,
  { teamId, limits }: Operation['actor'],
  announcementId: number,
  appliesTo: readonly number[],
): Promise<void> {
  const known = await findAnnouncementIds(trx, teamId, [announcementId, ...appliesTo], limits)
  requireKnown(known, announcementId, { in: 'body', appliesTo })
}

function requireKnown(
  known: ReadonlySet<number>,
  announcementId: number,
  also: { readonly in: 'body' | 'query'; readonly appliesTo: readonly number[] },
): void {
  if (!known.has(announcementId)) throw notFound('announcement')
  const errors = also.appliesTo.flatMap((id, at) =>
    known.has(id) ? [] : [errorAt([also.in, 'applies_to', at], 'announcement')],
  )
  if (errors.length === 0) return
  throw failWith('invalid', errors)
}

async function requireQuota(trx: Trx, teamId: number, quotas: LetterQuotas, bytes: number): Promise<void> {
  const used = await measureLetters(trx, teamId)
  if (used.today >= quotas.lettersPerDay)
    throw fail('quota_exceeded', 'lettersPerDay', { limit: quotas.lettersPerDay })
  if (used.bytes + bytes > quotas.bytes) {
    const left = Math.max(0, quotas.bytes - used.bytes)
    throw fail('quota_exceeded', 'letterBytes', { limit: quotas.bytes, left })
  }
}

async function store(trx: Trx, operation: Operation, letter: NewLetter): Promise<LetterRow> {
  const { teamId } = operation.actor
  const id = await insertLetter(trx, teamId, letter)
  const replaced = await replacePending(trx, teamId, id, letter.announcementIds)
  const row = await readLetter(trx, teamId, id)
  const { filename, size, sha256, valid_until, announcement_ids } = row
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'letter.upload',
    target: `letter:${id}`,
    after: {
      filename,
      size,
      sha256,
      valid_until,
      announcement_ids,
      replaces: replaced.map(({ letterId }) => letterId),
    },
  })
  await writeHistory(trx, ...linesOf(operation, row, replaced))
  await wake(trx, 'validations')
  return row
}

function linesOf({ actor }: Operation, letter: LetterRow, replaced: readonly Replaced[]) {
  const { id: letter_id, filename, valid_until, announcement_ids } = letter
  const by = { teamId: actor.teamId, actor: actorName(actor) }
  return [
    ...replaced.map(({ letterId, announcementId }) => {
      const detail = { letter_id: letterId, replaced_by: letter_id }
      return { ...by, announcementId, kind: 'letter_superseded' as const, detail }
    }),
    ...announcement_ids.map((announcementId) => {
      const detail = { letter_id, filename, valid_until }
      return { ...by, announcementId, kind: 'letter_uploaded' as const, detail }
    }),
  ]
}

/** Returns a page of the actor's team and the exact count. */
export async function listLetters(
  { postgres }: LetterDeps,
  { actor }: Operation,
  query: QueryOf<typeof listLettersRoute>,
): Promise<{ results: Wire[]; count: number }> {
  const { page, count } = await listLetterRows(postgres, actor.teamId, query, actor.limits)
  return { results: page.map(presentLetter), count }
}

/** Returns a letter of the actor's team with its ETag; throws `not_found` for any other. */
export async function getLetter(
  { postgres }: LetterDeps,
  { actor }: Operation,
  id: number,
): Promise<{ body: Wire; etag: string }> {
  const letter = await findLetter(postgres, actor.teamId, id)
  if (!letter) throw notFound('letter')
  return answerWith(letter)
}

function answerWith(letter: Parameters<typeof presentLetter>[0]): { body: Wire; etag: string } {
  const body = presentLetter(letter)
  return { body, etag: etagOf(body) }
}

export async function getLetterFile(
  { postgres }: LetterDeps,
  { actor }: Operation,
  id: number,
): Promise<StoredLetterFile> {
  const file = await findLetterFile(postgres, actor.teamId, id)
  if (!file) throw notFound('letter')
  return file
}

/**
 * Returns a letter for the announcements to sign: the PDF and its filename. Throws `conflict` if the provider's name
 * or ASN is not configured, `not_found` and `invalid`.
 */
export async function draftLetter(
  { postgres, drafter, readProvider, now }: LetterDeps,
  { actor }: Operation,
  announcementId: number,
  {
    applies_to: appliesTo = [],
    signatory,
    contact = '',
    registry_handle = '',
  }: QueryOf<typeof draftLetterRoute>,
): Promise<{ bytes: Buffer; filename: string; mediaType: string }> {
  const ids = [...new Set([announcementId, ...appliesTo])]
  const drafts = await findDrafts(postgres, actor.teamId, ids, actor.limits)
  requireKnown(new Set(drafts.map(({ id }) => id)), announcementId, { in: 'query', appliesTo })
  const provider = await readProvider()
  if (!provider) {
    throw fail('conflict', 'providerUnnamed')
  }
  drafts.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
  const { prefix, team_name, signatory: stored } = drafts[0]!
  const bytes = await drafter.draw({
    teamName: team_name,
    provider,
    prefixes: drafts.map(letterPrefixOf),
    signatory: signatory ?? stored,
    contact,
    registryHandle: registry_handle,
    date: now(),
  })
  const filename = `letter-of-authorization-${prefix.replace(/[^0-9a-f.]+/g, '-')}.pdf`
  return { bytes, filename, mediaType: 'application/pdf' }
}

/** Returns a letter as the API shows it to its team. */
export function presentLetter({
  id,
  filename,
  size,
  sha256,
  status,
  reason,
  announcement_ids,
  ...times
}: LetterRow): Wire {
  return {
    id,
    filename,
    size,
    sha256,
    status,
    reason,
    valid_until: times.valid_until?.toISOString() ?? null,
    uploaded: times.uploaded.toISOString(),
    reviewed: times.reviewed?.toISOString() ?? null,
    announcement_ids,
  }
}

const filenameLengthMax = 120

const endings: Readonly<Record<LetterMediaType, readonly [string, ...string[]]>> = {
  'application/pdf': ['pdf'],
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg', 'jpe'],
}

/** For display, never a path on the server: returns the sender's filename without folders, control and bidirectional characters, and with the extension of the media type. */
export function letterFilename(given: string, mediaType: LetterMediaType): string {
  const last = given.toWellFormed().normalize('NFC').split(/[/\\]/).at(-1)!
  const clean = last.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}<>:"|?*]/gu, '').replace(/\s+/g, ' ')
  const name =
    [...clean]
      .slice(0, filenameLengthMax)
      .join('')
      .replace(/^[. ]+|[. ]+$/g, '') || 'letter'
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase()
  return ending !== undefined && endings[mediaType].includes(ending)
    ? name
    : `${name}.${endings[mediaType][0]}`
}
