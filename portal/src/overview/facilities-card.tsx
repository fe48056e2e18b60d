// The ports of the team and their traffic now, by facility.
import { listPortsRoute } from '@pharos/contract/inventory/port'
import { Skeleton, Text } from '@mantine/core'
import { busyFrom, percentOf } from '../inventory/load-trend.ts'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import { facilitySums, type FacilitySum } from './facility-sums.ts'
import classes from './overview.module.css'
import { words } from './words.ts'

const { facilities: texts } = words
const refetchMs = 60_000

type Props = {
  readonly title?: string
  /** Renders only for a team with ports. */
  readonly isOptional: boolean
}

export function FacilitiesCard({ title = texts.title, isOptional }: Props) {
  const answer = useAllRows(listPortsRoute, { query: { ordering: 'name' } }, refetchMs)
  const sums = facilitySums(answer.data ?? [])
  if (isOptional && answer.data && sums.length === 0) return null
  return (
    <Section
      title={title}
      fill
      flush
      actions={
        <TextLink to="/ports" size="sm">
          {texts.all}
        </TextLink>
      }
    >
      {!answer.data ? (
        <div className={classes['padded']}>
          {answer.error ? (
            <Problem error={answer.error} retry={() => answer.refetch()} />
          ) : (
            <Skeleton height={120} />
          )}
        </div>
      ) : sums.length === 0 ? (
        <Text size="sm" c="dimmed" className={classes['padded']!}>
          {texts.none}
        </Text>
      ) : (
        <table className={classes['table']}>
          <thead>
            <tr>
              <th scope="col">{texts.facility}</th>
              <th scope="col" data-wide>
                {texts.up}
              </th>
              <th scope="col" data-number>
                {texts.in}
              </th>
              <th scope="col" data-number>
                {texts.out}
              </th>
              <th scope="col" data-number>
                {texts.busiest}
              </th>
            </tr>
          </thead>
          <tbody>
            {sums.map((sum) => (
              <Row key={sum.name ?? ''} sum={sum} />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}

const rateText = (bps: number | null) => (bps === null ? '–' : formatRate(bps, 'bps'))

const Row = ({ sum: { name, up, ports, inBps, outBps, busiest } }: { readonly sum: FacilitySum }) => (
  <tr>
    <td>
      {name === undefined ? (
        texts.unknown
      ) : (
        <TextLink to="/ports" search={{ location: [name] }} size="sm">
          {name}
        </TextLink>
      )}
    </td>
    <td data-wide>{texts.of(up, ports)}</td>
    <td data-number>{rateText(inBps)}</td>
    <td data-number>{rateText(outBps)}</td>
    <td data-number title={busiest?.name}>
      {busiest === undefined ? (
        '–'
      ) : (
        <TextLink to="/ports/$id" params={{ id: String(busiest.id) }} size="sm">
          {busiest.load >= busyFrom ? (
            <StatePill color="warn">{percentOf(busiest.load)}</StatePill>
          ) : (
            percentOf(busiest.load)
          )}
        </TextLink>
      )}
    </td>
  </tr>
)
