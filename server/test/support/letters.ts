// Letters of authorization for tests: rows as if uploaded two days ago, and forms for uploading new ones.
import { sql } from 'kysely'
import { samplePng } from '../../src/byoip/letter/testing-letters.ts'
import type { Db } from '../../src/db/postgres.ts'

/** Adds a letter of the announcement that is pending review. It counts towards no current quota. */
export async function addLetter(db: Db, announcementId: number, filename = 'letter.png'): Promise<number> {
  const content = samplePng()
  const { rows } = await sql<{ id: number }>`
    with letter as (
      insert into letters (team_id, filename, media_type, size, sha256, uploaded, uploaded_by)
      select team_id, ${filename}, 'image/png', ${content.length}, sha256(${content}), now() - interval '2 days', 'user:1'
      from announcements where id = ${announcementId} returning id, team_id),
    file as (insert into letter_files (letter_id, team_id, content) select id, team_id, ${content} from letter),
    pair as (
      insert into letter_announcements (letter_id, announcement_id, team_id, origin_asn)
      select l.id, a.id, l.team_id, a.origin_asn from letter l, announcements a where a.id = ${announcementId})
    select id from letter`.execute(db)
  return rows[0]!.id
}

export type FormPart = {
  readonly name: string
  readonly content: string | Buffer
  /** If set, the part is a file. */
  readonly filename?: string
  readonly type?: string
}

export const formBoundary = 'a-boundary-of-tests'

/** Encodes the body of a form as defined in RFC 7578. */
export function formOf(parts: readonly FormPart[], boundary = formBoundary): Buffer {
  const chunks = parts.flatMap(({ name, content, filename, type }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    filename === undefined ? '' : `; filename="${filename}"`,
    type === undefined ? '\r\n\r\n' : `\r\nContent-Type: ${type}\r\n\r\n`,
    content,
    '\r\n',
  ])
  return Buffer.concat([...chunks, `--${boundary}--\r\n`].map((chunk) => Buffer.from(chunk as string)))
}

export const formType = `multipart/form-data; boundary=${formBoundary}`

/** Returns the form of a valid letter, with additional fields. */
export const letterForm = (...fields: readonly FormPart[]): FormPart[] => [
  ...fields,
  { name: 'file', filename: 'letter.png', type: 'image/png', content: samplePng() },
]

/** Deletes all letters except these and restores these to pending. */
export async function restoreLetters(db: Db, ids: readonly number[]): Promise<void> {
  await sql`update letters set status = 'pending_review', reason = null, reviewed = null, reviewed_by = null,
    replaced_by = null`.execute(db)
  await sql`update letter_announcements set replaced = false`.execute(db)
  await sql`delete from letters where id <> all(${ids}::integer[])`.execute(db)
}
