// Converts the stored visibility of an announcement to its API representation. Without current data the state is
// `unavailable` and the counts are null.
import {
  visibilityReasonText,
  type SeenRoute,
  type Visibility,
  type VisibilityReason,
} from '@pharos/contract/byoip/visibility'
import type { Postgres, Trx } from '../../db/postgres.ts'
import type { Prefix } from '../../net/prefix.ts'
import { unexpectedRoutes } from './visibility.ts'
import { visibilityQuery, type StoredSummary, type StoredVisibility } from './visibility.store.ts'

/** Visibility of one announcement, and the warnings that follow from it. */
export type ShownVisibility = {
  readonly wire: Visibility
  /** Collectors that have the route although it was withdrawn; null if it is no zombie. */
  readonly zombie: SeenBy | null
  readonly unexpected: readonly SeenRoute[]
  /** Collectors with the announcement; null unless there are hardly any, or none of them through the provider's ASN. */
  readonly notVisible: SeenBy | null
  readonly otherPath: SeenBy | null
}

type SeenBy = { readonly count: number; readonly total: number }

/** Returns the visibility of an announcement in the batch. */
export type VisibilityReader = (announcement: { id: number; prefix: Prefix }) => ShownVisibility

/** Reads the visibility of the team's announcements. */
export async function readVisibility(
  postgres: Postgres,
  teamId: number,
  ids: readonly number[],
): Promise<VisibilityReader> {
  const [stored] = await postgres.readInTeam(teamId, visibilityQuery(teamId, ids))
  return readerOf(stored!)
}

/** Like readVisibility, in a transaction of the team. */
export async function readVisibilityIn(
  trx: Trx,
  teamId: number,
  ids: readonly number[],
): Promise<VisibilityReader> {
  const { rows } = await visibilityQuery(teamId, ids).execute(trx)
  return readerOf(rows[0]!)
}

function readerOf(stored: StoredVisibility): VisibilityReader {
  const summaries = new Map(stored.summaries.map((summary) => [summary.announcement_id, summary]))
  return ({ id, prefix }) => presentVisibility(stored, summaries.get(id), prefix)
}

/** Returns the representation of a summary, or of a missing one. */
function presentVisibility(
  { has_source, current_as_of, last_as_of }: Omit<StoredVisibility, 'summaries'>,
  summary: StoredSummary | undefined,
  prefix: Prefix,
): ShownVisibility {
  if (current_as_of === null) return unavailable(has_source ? 'stale' : 'no_source', last_as_of, summary)
  if (!summary) return unavailable('not_monitored', current_as_of, summary)
  const { state, reason, origins, more_specifics, zombie, stuck: count, collectors_total: total } = summary
  const change = changeOf(summary)
  const seenBy = { count: origins.find(({ expected }) => expected)?.count ?? 0, total }
  return {
    notVisible: summary.not_visible ? seenBy : null,
    otherPath: summary.other_path ? seenBy : null,
    wire: {
      state,
      reason,
      message: reason && visibilityReasonText(reason),
      collectors_total: total,
      collectors_seeing: summary.collectors_seeing,
      origins: [...origins],
      more_specifics: [...more_specifics],
      rpki: summary.rpki,
      checked: isoOf(current_as_of),
      last_change: change,
      zombie,
    },
    zombie: zombie ? { count, total } : null,
    unexpected: unexpectedRoutes(prefix, {
      origins,
      moreSpecifics: more_specifics,
      change: change && { kind: change.kind, at: new Date(change.at) },
    }),
  }
}

function unavailable(
  reason: VisibilityReason,
  lastAsOf: string | null,
  summary: StoredSummary | undefined,
): ShownVisibility {
  const wire: Visibility = {
    state: 'unavailable',
    reason,
    message: visibilityReasonText(reason),
    collectors_total: null,
    collectors_seeing: null,
    origins: [],
    more_specifics: [],
    rpki: 'unavailable',
    checked: isoOf(lastAsOf),
    last_change: summary ? changeOf(summary) : null,
    zombie: null,
  }
  return { wire, zombie: null, unexpected: [], notVisible: null, otherPath: null }
}

const changeOf = ({ change_at: at, change_kind: kind, seconds_to_80pct }: StoredSummary) =>
  at !== null && kind !== null ? { at: new Date(at).toISOString(), kind, seconds_to_80pct } : null

const isoOf = (time: string | null): string | null => time && new Date(time).toISOString()
