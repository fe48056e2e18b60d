// The columns of an announcement that no rule depends on: what the team and the operator noted beside the prefix and its
// origin. A column that is added here is read, saved and shown; see "A field of a record" in CONTRIBUTING.md.
import type { Selectable } from 'kysely'
import type { AnnouncementsTable } from '../../db/schema.ts'

type Row = Selectable<AnnouncementsTable>

/** The details of an announcement that was just created, without anything that its team stated. */
export const noDetails = {
  description: '',
  as_set: null,
  delegate_loa: false,
  loa_signatory: '',
  suspended_reason: null,
  suspended_by: null,
  deleted: null,
} satisfies Partial<Row>

export type DetailName = keyof typeof noDetails
export type Details = Readonly<Pick<Row, DetailName>>

export const detailNames = Object.keys(noDetails) as DetailName[]
