// The request of an edited announcement: only the fields that differ. Pure.
import type { updateAnnouncementRoute } from '@pharos/contract/byoip/announcement'
import type { BodyOf } from '@pharos/contract/route'
import { differentDetails, type DetailValues } from './details.ts'

/** Named as the request names them. */
export type Edited = { readonly regions: string[] } & DetailValues

/** Returns the regions that were added, removed and kept, each in its own order. */
export function regionChanges(before: readonly string[], after: readonly string[]) {
  return {
    added: after.filter((slug) => !before.includes(slug)),
    removed: before.filter((slug) => !after.includes(slug)),
    kept: before.filter((slug) => after.includes(slug)),
  }
}

/**
 * Returns the request body: the values that differ from when the form was opened. Regions are
 * sent as a whole set: additions and removals are applied to the current regions.
 */
export function changesOf(
  opened: Edited,
  edited: Edited,
  regionsNow: readonly string[],
): BodyOf<typeof updateAnnouncementRoute> {
  const { added, removed } = regionChanges(opened.regions, edited.regions)
  const kept = regionsNow.filter((slug) => !removed.includes(slug) && !added.includes(slug))
  const details = differentDetails(opened, edited)
  return {
    ...details,
    ...(details.as_set === '' ? { as_set: null } : {}),
    ...(added.length + removed.length === 0 ? {} : { regions: [...kept, ...added] }),
  }
}
