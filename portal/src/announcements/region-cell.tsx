// In how many regions routers announce a prefix, of those that are chosen for it: the same on every page.
import type { Announcement } from '@pharos/contract/byoip'
import { Dimmed } from '../ui/cells.tsx'
import { announcedIn } from './region-count.ts'
import { words } from './words.ts'

type Regional = Pick<Announcement, 'regions' | 'region_states'>

export function RegionCount({ announcement }: { announcement: Regional }) {
  const { regions } = announcement
  const announced = announcedIn(announcement)
  if (announced === undefined) return '–'
  if (regions.length === 0 && announced.length === 0) return <Dimmed>{words.list.noRegions}</Dimmed>
  return (
    <span title={words.list.regionNames(announced, regions)}>
      {words.list.regionCount(announced.length, regions.length)}
    </span>
  )
}
