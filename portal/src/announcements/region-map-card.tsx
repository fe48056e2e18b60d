// Where the announcement is, or will be, on a map, and how long the last change took.
import type { Announcement, Region, RegionStateOfAnnouncement } from '@pharos/contract/byoip/announcement'
import { Text } from '@mantine/core'
import { RegionMap, type MapRegion } from '../charts/region-map.tsx'
import { TextLink } from '../ui/link.tsx'
import { Section } from '../ui/section.tsx'
import { regionStateShown } from '../ui/status.tsx'
import { formatDuration } from '../ui/time.tsx'
import { placeOf } from './region-places.ts'
import { medianTook, targetRegions } from './region-target.ts'
import { words } from './words.ts'

const { map: texts } = words

type Props = { announcement: Announcement; regions: readonly Region[] }

export function RegionMapCard({ announcement, regions }: Props) {
  const { id, enabled, region_states: states = [] } = announcement
  const target = new Set(
    targetRegions(
      announcement,
      regions.map(({ slug }) => slug),
    ),
  )
  const bySlug = new Map(states.map((state) => [state.region, state]))
  const shown = regions.map((region) => ({ region, place: placeOf(region) }))
  const missing = shown.filter(({ place }) => place === undefined).map(({ region }) => region.name)
  const placed = shown.flatMap(({ region, place }): MapRegion[] =>
    place === undefined
      ? []
      : [
          {
            ...place,
            ...shownAt(bySlug.get(region.slug), target.has(region.slug), enabled),
            ...named(region),
          },
        ],
  )
  const took = medianTook(states)
  return (
    <Section
      title={enabled ? texts.where : texts.whereNot}
      actions={
        <TextLink to="/announcements/$id" params={{ id: String(id) }} search={{ tab: 'regions' }} size="sm">
          {texts.choose}
        </TextLink>
      }
    >
      <RegionMap label={texts.label} regions={placed} />
      <Text size="sm" c="dimmed" mt="xs">
        {target.size === 0
          ? texts.none
          : target.size === regions.length
            ? texts.all(target.size)
            : texts.some(target.size, regions.length)}{' '}
        {took !== undefined && texts.took(formatDuration(took.ms), took.count)}{' '}
        {missing.length > 0 && texts.noPlace(missing.join(', '))}
      </Text>
    </Section>
  )
}

const named = ({ slug, name }: Region) => ({ code: slug.toUpperCase(), name })

/** A region that the announcement does not use is idle, without being a deviation. */
function shownAt(state: RegionStateOfAnnouncement | undefined, isTarget: boolean, enabled: boolean) {
  if (state && (state.desired || state.state !== 'withdrawn')) {
    const { color, label } = regionStateShown(state.state)
    return { state: color, stateText: label }
  }
  return isTarget && !enabled
    ? { state: 'info' as const, stateText: texts.selected }
    : { state: 'idle' as const, stateText: texts.unselected }
}
