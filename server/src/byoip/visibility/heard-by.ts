// The share of route collectors that have an announcement with its origin, over time. It is recorded for the announcements that
// somebody watches.
import type { Db, ReadStatement } from '../../db/postgres.ts'
import {
  deleteOldShares,
  insertShares,
  listShares,
  listWatched,
  type WatchedAnnouncement,
} from './heard-by.store.ts'

export const heardByGridMs = 300_000

/** Records the shares of the announcements in the 5 minutes of `now`; without current data it records none. */
export async function recordHeardBy(
  db: Db,
  announcementIds: readonly number[],
  now: Date,
  keptDays: number,
): Promise<void> {
  const at = new Date(Math.floor(now.getTime() / heardByGridMs) * heardByGridMs)
  if (announcementIds.length > 0) await insertShares(db, announcementIds, at)
  await deleteOldShares(db, new Date(now.getTime() - keptDays * 86_400_000))
}

export type RecordedShares = {
  readonly isHeld: boolean
  readonly isAnnounced: boolean
  /** Percent by the start of its 5 minutes. `isLeast`: not all collectors are known, so that it may be more. */
  readonly values: ReadonlyMap<number, { readonly percent: number; readonly isLeast: boolean }>
}

/** Returns the recorded shares by key. */
export async function readHeardBy(
  read: ReadStatement,
  announcements: readonly WatchedAnnouncement[],
): Promise<ReadonlyMap<number, RecordedShares>> {
  if (announcements.length === 0) return new Map()
  const [watched, shares] = await Promise.all([
    listWatched(read, announcements),
    listShares(read, announcements),
  ])
  const states = new Map(watched.map((one) => [one.key, one.is_announced]))
  const values = Map.groupBy(shares, ({ key }) => key)
  return new Map(
    announcements.map(({ key }) => [
      key,
      {
        isHeld: states.has(key),
        isAnnounced: states.get(key) ?? false,
        values: new Map(
          (values.get(key) ?? []).map(({ start_ms, percent, is_least: isLeast }) => [
            start_ms,
            { percent, isLeast },
          ]),
        ),
      },
    ]),
  )
}
