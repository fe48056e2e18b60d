// The request of an edited announcement: only the fields that differ. Pure.
import type { updateAnnouncementRoute } from '@pharos/contract/byoip/announcement'
import type { BodyOf } from '@pharos/contract/route'

/** Named as the request names them. */
export type Edited = {
  readonly description: string
  readonly as_set: string
  readonly regions: string[]
  readonly loa_signatory: string
  readonly delegate_loa: boolean
}

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
  const asSet = edited.as_set.trim()
  return {
    ...(edited.description === opened.description ? {} : { description: edited.description }),
    ...(asSet === opened.as_set ? {} : { as_set: asSet === '' ? null : asSet }),
    ...(added.length + removed.length === 0 ? {} : { regions: [...kept, ...added] }),
    ...(edited.loa_signatory === opened.loa_signatory ? {} : { loa_signatory: edited.loa_signatory.trim() }),
    ...(edited.delegate_loa === opened.delegate_loa ? {} : { delegate_loa: edited.delegate_loa }),
  }
}
