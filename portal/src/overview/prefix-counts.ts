// Prefixes by region, and the most urgent announcements. Pure.
import type { Announcement, AnnouncementStatus } from '@pharos/contract/byoip/announcement'
import { announcedIn } from '../announcements/region-count.ts'

/** Returns the announcements whose route the routers of each region have. */
export function countsByRegion(
  list: readonly Pick<Announcement, 'region_states'>[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const region of list.flatMap((announcement) => announcedIn(announcement) ?? []))
    counts.set(region, (counts.get(region) ?? 0) + 1)
  return counts
}

/** Returns the announcements of each region whose routers differ from the team's settings. */
export function deviationsByRegion(
  list: readonly Pick<Announcement, 'region_states'>[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { region, desired, state } of list.flatMap(({ region_states: states = [] }) => states))
    if (state !== (desired ? 'announced' : 'withdrawn')) counts.set(region, (counts.get(region) ?? 0) + 1)
  return counts
}

const first: readonly AnnouncementStatus[] = [
  'error',
  'suspended',
  'validation_failed',
  'partially_announced',
  'announcing',
  'withdrawing',
  'announced',
]

/** Returns the first `rows`, the most urgent status first, in the order of the API within a status. */
export function urgentFirst<Row extends Pick<Announcement, 'status'>>(
  list: readonly Row[],
  rows: number,
): Row[] {
  const rank = (status: AnnouncementStatus) => {
    const at = first.indexOf(status)
    return at < 0 ? first.length : at
  }
  return list.toSorted((a, b) => rank(a.status) - rank(b.status)).slice(0, rows)
}
