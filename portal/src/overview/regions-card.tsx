// The regions on a map: whether their routers are in sync, and how many prefixes of the team they have.
import { Skeleton, Text } from '@mantine/core'
import type { Region } from '@pharos/contract/byoip'
import { placeOf } from '../announcements/region-places.ts'
import { RegionMap, type MapRegion } from '../charts/region-map.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import type { Answer } from './figures.tsx'
import { words } from './words.ts'

const { regions: texts } = words

type Props = {
  readonly answer: Answer<{ readonly results: readonly Region[] }>
  /** Undefined if they are not known: there are too many announcements to read for it. */
  readonly counts: ReadonlyMap<string, number> | undefined
  /** Prefixes that are out of sync; undefined if they are not known. */
  readonly deviations: ReadonlyMap<string, number> | undefined
}

export const RegionsCard = ({ answer, counts, deviations }: Props) => (
  <Section
    title={texts.title}
    note={answer.data && <Summary regions={answer.data.results} deviations={deviations} />}
    fill
  >
    {answer.data ? (
      <Shown regions={answer.data.results} counts={counts} deviations={deviations} />
    ) : answer.error ? (
      <Problem error={answer.error} retry={() => answer.refetch()} />
    ) : (
      <Skeleton height={200} />
    )}
  </Section>
)

type ShownProps = Pick<Props, 'deviations'> & { readonly regions: readonly Region[] }

function Summary({ regions, deviations }: ShownProps) {
  const behind = regions.filter(({ last_check_result: result }) => result === false).length
  const unknown = regions.filter(({ last_check_result: result }) => result === null).length
  if (regions.length === 0) return null
  if (behind > 0) return <StatePill color="warn">{texts.someBehind(behind)}</StatePill>
  if (unknown > 0) return <StatePill color="idle">{texts.someUnknown(unknown)}</StatePill>
  if (!deviations) return <StatePill color="ok">{texts.allChecked}</StatePill>
  return deviations.size > 0 ? (
    <StatePill color="warn">{texts.someDiffer(deviations.size)}</StatePill>
  ) : (
    <StatePill color="ok">{texts.allInSync}</StatePill>
  )
}

function Shown({ regions, counts, deviations }: ShownProps & Pick<Props, 'counts'>) {
  const shown = regions.map((region) => ({ region, place: placeOf(region) }))
  const missing = shown.filter(({ place }) => place === undefined).map(({ region }) => region.name)
  if (regions.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {texts.none}
      </Text>
    )
  return (
    <>
      <RegionMap
        label={texts.label}
        regions={shown.flatMap(({ region, place }): MapRegion[] => {
          if (!place) return []
          const { slug, name } = region
          return [
            {
              ...place,
              ...stateOf(region, deviations),
              code: slug.toUpperCase(),
              name,
              ...(counts ? { countText: texts.prefixes(counts.get(slug) ?? 0) } : {}),
              href: `/announcements?region=${encodeURIComponent(slug)}&enabled=true`,
            },
          ]
        })}
      />
      {missing.length > 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          {texts.noPlace(missing.join(', '))}
        </Text>
      )}
    </>
  )
}

function stateOf(
  { slug, last_check_result: result }: Region,
  deviations: Props['deviations'],
): Pick<MapRegion, 'state' | 'stateText'> {
  if (result === null) return { state: 'idle', stateText: texts.unknown }
  if (!result) return { state: 'warn', stateText: texts.behind }
  if (!deviations) return { state: 'ok', stateText: texts.checked }
  const count = deviations.get(slug) ?? 0
  return count > 0
    ? { state: 'warn', stateText: texts.outOfSync(count) }
    : { state: 'ok', stateText: texts.inSync }
}
