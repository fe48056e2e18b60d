// In how many regions routers announce a prefix: the same on every page. Pure.
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { targetRegions } from './region-target.ts'
import { words } from './words.ts'

export type Regional = Pick<Announcement, 'enabled' | 'regions' | 'region_states'>

/**
 * Returns how many regions announce the prefix, of the regions it is configured for: `2 of 5`, or `0` if only the server knows which
 * regions enabling it uses. Undefined if the states are not known. `open`: the slugs of all regions that the team can use.
 */
export function regionCount(
  announcement: Regional,
  open: readonly string[],
): { readonly text: string; readonly names: string } | undefined {
  const announced = announcedIn(announcement)
  if (announced === undefined) return undefined
  const target = targetRegions(announcement, open)
  const all = new Set([...target, ...announced])
  return {
    text: target.length === 0 ? String(announced.length) : words.list.regionCount(announced.length, all.size),
    names: words.list.regionNames(announced, target),
  }
}

/** Regions whose routers have the route; undefined if they were not asked for. */
export const announcedIn = ({
  region_states: states,
}: Pick<Announcement, 'region_states'>): readonly string[] | undefined =>
  states?.filter(({ state }) => state === 'announced' || state === 'withdrawing').map(({ region }) => region)
