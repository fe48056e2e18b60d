// The regions: whether their routers are in sync, how many prefixes of the team they have, and when that was last compared; on a large
// screen with a map.
import { Skeleton, Text } from '@mantine/core'
import type { Region } from '@pharos/contract/byoip/announcement'
import { placeOf } from '../announcements/region-places.ts'
import { RegionMap, type MapRegion } from '../charts/region-map.tsx'
import { Problem } from '../ui/problem.tsx'
import { TextLink } from '../ui/link.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Ago } from '../ui/task-row.tsx'
import type { Answer } from './figures.tsx'
import classes from './overview.module.css'
import { words } from './words.ts'

const { regions: texts } = words

type Props = {
  readonly answer: Answer<{ readonly results: readonly Region[] }>
  /** Undefined if they are not known: there are too many announcements to read for it. */
  readonly counts: ReadonlyMap<string, number> | undefined
  /** Prefixes that are out of sync; undefined if they are not known. */
  readonly deviations: ReadonlyMap<string, number> | undefined
  readonly hasMap: boolean
  readonly title?: string
}

export const RegionsCard = ({ answer, counts, deviations, hasMap, title = texts.title }: Props) => (
  <Section
    title={title}
    note={answer.data && <Summary regions={answer.data.results} deviations={deviations} />}
    fill
    flush
  >
    {answer.data ? (
      <Shown regions={answer.data.results} counts={counts} deviations={deviations} hasMap={hasMap} />
    ) : (
      <div className={classes['padded']}>
        {answer.error ? (
          <Problem error={answer.error} retry={() => answer.refetch()} />
        ) : (
          <Skeleton height={200} />
        )}
      </div>
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

function Shown({ regions, counts, deviations, hasMap }: ShownProps & Pick<Props, 'counts' | 'hasMap'>) {
  if (regions.length === 0)
    return (
      <Text size="sm" c="dimmed" className={classes['padded']!}>
        {texts.none}
      </Text>
    )
  return (
    <>
      {hasMap && (
        <div className={classes['map']}>
          <RegionMap
            label={texts.label}
            regions={regions.flatMap((region): MapRegion[] => {
              const place = placeOf(region)
              if (!place) return []
              const { slug, name } = region
              const text = counts && { countText: texts.prefixes(counts.get(slug) ?? 0) }
              return [
                {
                  ...place,
                  ...stateOf(region, deviations),
                  code: slug.toUpperCase(),
                  name,
                  ...text,
                  href: `/announcements?region=${encodeURIComponent(slug)}&enabled=true`,
                },
              ]
            })}
          />
        </div>
      )}
      <table className={classes['table']} aria-label={texts.title}>
        <thead>
          <tr>
            <th scope="col">{texts.region}</th>
            <th scope="col">{texts.state}</th>
            <th scope="col" data-number>
              {texts.announced}
            </th>
            <th scope="col" data-wide>
              {texts.compared}
            </th>
          </tr>
        </thead>
        <tbody>
          {regions.map((region) => {
            const { slug, name, last_check: compared } = region
            const { state, stateText } = stateOf(region, deviations)
            return (
              <tr key={slug}>
                <td>
                  <TextLink to="/announcements" search={{ region: [slug], enabled: true }} size="sm">
                    {name}
                  </TextLink>
                </td>
                <td data-wraps>
                  <StatePill color={state}>{stateText}</StatePill>
                </td>
                <td data-number>{counts ? (counts.get(slug) ?? 0).toLocaleString('en') : '–'}</td>
                <td data-wide>{compared === null ? texts.never : <Ago at={compared} />}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
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
