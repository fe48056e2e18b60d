// The regions that enabling an announcement uses, and how fast the routers followed the last change. Pure.
import type { Announcement, RegionStateOfAnnouncement } from '@pharos/contract/byoip'
import { words } from './words.ts'

const { regions: texts } = words

type Target = Pick<Announcement, 'enabled' | 'regions' | 'region_states'>

/** Returns the slugs as far as they are known: which regions were enabled last is known to the server only. */
export function targetRegions(
  { regions, region_states: states = [] }: Target,
  open: readonly string[],
): readonly string[] {
  if (regions.length > 0) return regions
  return states.length > 0 ? [] : open
}

/** Returns the regions that the main switch changes, as a sentence. */
export function targetText(
  { enabled, regions, region_states: states = [] }: Target,
  open: readonly string[],
): string {
  if (enabled) return texts.enabledIn(regions.join(', '))
  if (regions.length > 0) return texts.whenEnabled(regions.join(', '))
  return states.length > 0 ? texts.whenEnabledLast : texts.whenEnabledAll(open.join(', '))
}

/** Returns the median of the measured times of the last change; undefined if none was measured. */
export function medianTook(
  states: readonly Pick<RegionStateOfAnnouncement, 'took_ms'>[],
): { readonly ms: number; readonly count: number } | undefined {
  const measured = states.flatMap(({ took_ms: ms }) => (ms === null ? [] : [ms])).toSorted((a, b) => a - b)
  if (measured.length === 0) return undefined
  const middle = (measured.length - 1) / 2
  const ms = (measured[Math.floor(middle)]! + measured[Math.ceil(middle)]!) / 2
  return { ms, count: measured.length }
}
