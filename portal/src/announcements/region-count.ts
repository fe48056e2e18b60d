// In how many regions routers announce a prefix: the same on every page. Pure.
import type { Announcement } from '@pharos/contract/byoip'

/** Regions whose routers have the route; undefined if they were not asked for. */
export const announcedIn = ({
  region_states: states,
}: Pick<Announcement, 'region_states'>): readonly string[] | undefined =>
  states?.filter(({ state }) => state === 'announced' || state === 'withdrawing').map(({ region }) => region)
