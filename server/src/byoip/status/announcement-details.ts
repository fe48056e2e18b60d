// The columns of an announcement that no rule depends on: notes of the team and the operator about the prefix and its
// origin. A new column here is read, saved and shown; see "A field of a record" in CONTRIBUTING.md.
import type { OwnDetailName } from '@pharos/contract/byoip/announcement-checks'
import type { Selectable } from 'kysely'
import type { AnnouncementsTable } from '../../db/schema.ts'

type Row = Selectable<AnnouncementsTable>

/** The details that the team sets, of an announcement for which it has not. */
const noOwnDetails = {
  description: '',
  as_set: null,
  delegate_loa: false,
  loa_signatory: '',
} satisfies Pick<Row, OwnDetailName>

/** The details of a new announcement, before its team has set any. */
export const noDetails = {
  ...noOwnDetails,
  suspended_reason: null,
  suspended_by: null,
  deleted: null,
} satisfies Partial<Row>

export type DetailName = keyof typeof noDetails
export type Details = Readonly<Pick<Row, DetailName>>

export const detailNames = Object.keys(noDetails) as DetailName[]
