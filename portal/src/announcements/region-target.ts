// The regions that enabling an announcement uses, and how fast the routers followed the last change. Pure.
import type { Announcement, Region, RegionStateOfAnnouncement } from '@pharos/contract/byoip/announcement'
import { words } from './words.ts'

const { regions: texts } = words

/** Returns the regions' names, for slugs that are known. */
export const namesOfRegions =
  (known: readonly Pick<Region, 'slug' | 'name'>[]) =>
  (slugs: readonly string[]): string =>
    slugs.map((slug) => known.find((one) => one.slug === slug)?.name ?? slug).join(', ')

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
  open: readonly Pick<Region, 'slug' | 'name'>[],
): string {
  const named = namesOfRegions(open)
  if (enabled) return texts.enabledIn(named(regions))
  if (regions.length > 0) return texts.whenEnabled(named(regions))
  return states.length > 0 ? texts.whenEnabledLast : texts.whenEnabledAll(named(open.map(({ slug }) => slug)))
}

/** Returns the median of the measured times of the last change; undefined without measurements. */
export function medianTook(
  states: readonly Pick<RegionStateOfAnnouncement, 'took_ms'>[],
): { readonly ms: number; readonly count: number } | undefined {
  const measured = states.flatMap(({ took_ms: ms }) => (ms === null ? [] : [ms])).toSorted((a, b) => a - b)
  if (measured.length === 0) return undefined
  const middle = (measured.length - 1) / 2
  const ms = (measured[Math.floor(middle)]! + measured[Math.ceil(middle)]!) / 2
  return { ms, count: measured.length }
}
