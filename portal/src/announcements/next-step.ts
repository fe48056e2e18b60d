// The next step in a region that is not in the desired state, and who can take it: a text for each reason. Pure.
import type { RegionStateOfAnnouncement } from '@pharos/contract/byoip/announcement'
import { words } from './words.ts'

type Seen = Pick<RegionStateOfAnnouncement, 'state' | 'desired' | 'reason'>

/** Returns undefined if the region is in the desired state. */
export function nextStep({ state, desired, reason }: Seen): string | undefined {
  if (reason !== null) return words.nextStep[reason]
  if (state === (desired ? 'announced' : 'withdrawn')) return undefined
  return words.nextStep.automatic
}
