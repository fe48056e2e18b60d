// The request of an edited announcement: only the fields that differ. Pure.
import type { updateAnnouncementRoute } from '@pharos/contract/byoip'
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

/** Returns the body of the request; empty if nothing has changed. */
export function changesOf(before: Edited, after: Edited): BodyOf<typeof updateAnnouncementRoute> {
  const { added, removed } = regionChanges(before.regions, after.regions)
  const asSet = after.as_set.trim()
  return {
    ...(after.description === before.description ? {} : { description: after.description }),
    ...(asSet === before.as_set ? {} : { as_set: asSet === '' ? null : asSet }),
    ...(added.length + removed.length === 0 ? {} : { regions: after.regions }),
    ...(after.loa_signatory === before.loa_signatory ? {} : { loa_signatory: after.loa_signatory.trim() }),
    ...(after.delegate_loa === before.delegate_loa ? {} : { delegate_loa: after.delegate_loa }),
  }
}
