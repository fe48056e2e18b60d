// The report of a month, for the screen and for paper: traffic with its 95th percentile, attacks, and changes of announcements.
// Printing leaves out the frame; the browser saves it as PDF.
import { Button, NativeSelect, Skeleton, Text } from '@mantine/core'
import { getFlowTimeseriesRoute, type FlowTimeseries } from '@pharos/contract/flow'
import { listRelatedEventsRoute } from '@pharos/contract/analysis'
import { listAnnouncementHistoryRoute, listAnnouncementsRoute } from '@pharos/contract/byoip'
import { classificationLabel } from '@pharos/contract/classification'
import { IconPrinter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answerOf, queryClient, teamIdNow, useAnswer } from '../api/queries.ts'
import { useHasModule, useUser } from '../api/use-session.ts'
import { Bars } from '../charts/bars.tsx'
import { Chart } from '../charts/chart.tsx'
import { formatCount } from '../charts/units.ts'
import { AttacksByDay } from '../events/attacks-by-day.tsx'
import { durationOf } from '../events/event-duration.ts'
import { networkText } from '../events/network-text.ts'
import { FlowProblem } from '../traffic/flow-problem.tsx'
import { brand } from '../ui/brand.ts'
import { Figure } from '../ui/figure.tsx'
import { TextLink } from '../ui/link.tsx'
import { Grid, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { formatDuration, formatTime, Time, useZone, zoneName } from '../ui/time.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { monthAt, monthText, spanOfMonth, type MonthSpan } from './month.ts'
import classes from './reports.module.css'
import { words } from './words.ts'

/** Months that can be chosen: hourly sums are kept for 400 days. */
const monthsShown = 13
const hourSeconds = 3600

export function Report() {
  const { search, setSearch } = usePageSearch('/reports')
  const [zone] = useZone()
  const timeZone = zoneName(zone)
  const user = useUser()
  const hasEvents = useHasModule('lighthouse')
  const hasAnnouncements = useHasModule('ipam')
  const now = Date.now()
  const months = Array.from({ length: monthsShown }, (_, at) => monthAt(-at, now, timeZone))
  const wanted = spanOfMonth(String(search.month ?? ''), timeZone)
  const span = wanted ?? spanOfMonth(months[1]!, timeZone)!
  const isSoFar = Date.parse(span.end) > now
  const name = isSoFar ? words.soFar(monthText(span.month)) : monthText(span.month)
  return (
    <Page
      title={words.title}
      note={words.note(user?.current_team.name ?? '', name)}
      actions={
        <>
          <NativeSelect
            size="xs"
            aria-label={words.month}
            value={span.month}
            data={[...new Set([...months, span.month])].map((value) => ({ value, label: monthText(value) }))}
            onChange={({ currentTarget }) => setSearch({ month: currentTarget.value })}
          />
          <Button size="xs" leftSection={<IconPrinter size={14} />} onClick={() => window.print()}>
            {words.print}
          </Button>
        </>
      }
    >
      <div className={classes['report']} data-report>
        {hasEvents && <Traffic span={span} timeZone={timeZone} />}
        {hasEvents && <Attacks span={span} />}
        {hasAnnouncements && <Changes span={span} />}
        <Text size="xs" c="dimmed">
          {words.prepared(brand.name, formatTime(new Date(now).toISOString(), zone))}
        </Text>
      </div>
    </Page>
  )
}

function useMonthOfFlows(
  span: MonthSpan,
  timezone: string,
  by: 'direction' | 'protocol' | 'remote_asn' | 'service_port',
) {
  return useQuery({
    ...answerOf(getFlowTimeseriesRoute, {
      body: {
        start: span.start,
        end: span.end,
        interval: by === 'direction' ? hourSeconds : 24 * hourSeconds,
        timezone,
        metric: by === 'direction' ? 'bps' : 'bytes',
        group_by: [by],
        limit: 6,
      },
    }),
    staleTime: 300_000,
  })
}

const sum = (values: readonly (number | null)[]) =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)

function Traffic({ span, timeZone }: { readonly span: MonthSpan; readonly timeZone: string }) {
  const { traffic: texts } = words
  const answer = useMonthOfFlows(span, timeZone, 'direction')
  const data = answer.data
  if (answer.error && !data) return <FlowProblem error={answer.error} retry={() => answer.refetch()} />
  if (!data) return <Skeleton height={320} aria-busy />
  const series = data.series.filter(({ key }) => key['direction'] === 'in' || key['direction'] === 'out')
  const isEmpty = series.every(({ max }) => (max ?? 0) === 0)
  return (
    <Section title={texts.title}>
      {!isEmpty && (
        <Grid min={180}>
          {series.map(({ key, p95, values }) => (
            <Figure
              key={key['direction']}
              label={`${key['direction'] === 'in' ? texts.received : texts.sent}, ${texts.p95}`}
              value={p95 === null ? undefined : formatRate(p95, 'bps')}
              note={texts.volume(formatRate((sum(values) * data.interval) / 8, 'B'))}
            />
          ))}
        </Grid>
      )}
      <div className={classes['chart']}>
        <Chart
          label={texts.chart}
          kind="area"
          times={data.timestamps.map((at) => Date.parse(at))}
          series={
            isEmpty
              ? []
              : series.map(({ key, values }) => ({
                  label: key['direction'] === 'in' ? texts.in : texts.out,
                  unit: 'bps' as const,
                  color: key['direction'] === 'in' ? (1 as const) : (2 as const),
                  values,
                }))
          }
          range={[Date.parse(span.start), Date.parse(span.end)]}
          height={240}
          emptyText={texts.none}
        />
      </div>
      {!isEmpty && (
        <>
          <table className={classes['table']}>
            <thead>
              <tr>
                <th scope="col">{texts.direction}</th>
                <th scope="col" data-number>
                  {texts.average}
                </th>
                <th scope="col" data-number>
                  {texts.p95}
                </th>
                <th scope="col" data-number>
                  {texts.peak}
                </th>
              </tr>
            </thead>
            <tbody>
              {series.map(({ key, avg, p95, max }) => (
                <tr key={key['direction']}>
                  <td>{key['direction'] === 'in' ? texts.in : texts.out}</td>
                  {[avg, p95, max].map((value, at) => (
                    <td key={at} data-number>
                      {value === null ? '–' : formatRate(value, 'bps')}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <Quality data={data} />
          <Top span={span} timeZone={timeZone} />
        </>
      )}
    </Section>
  )
}

const Quality = ({ data: { interval, sampled, partial } }: { readonly data: FlowTimeseries }) => (
  <Text size="xs" c="dimmed" mb="md">
    {[
      words.traffic.resolution(formatDuration(interval * 1000)),
      sampled && words.traffic.sampled,
      partial && words.traffic.partial,
    ]
      .filter(Boolean)
      .join(' ')}
  </Text>
)

const tops = [
  ['protocol', 'protocols'],
  ['service_port', 'services'],
  ['remote_asn', 'networks'],
] as const

const Top = (props: { readonly span: MonthSpan; readonly timeZone: string }) => (
  <Grid min={240}>
    {tops.map(([by, title]) => (
      <TopOf key={by} by={by} title={words.top[title]} {...props} />
    ))}
  </Grid>
)

type TopOfProps = {
  readonly span: MonthSpan
  readonly timeZone: string
  readonly by: (typeof tops)[number][0]
  readonly title: string
}

function TopOf({ span, timeZone, by, title }: TopOfProps) {
  const answer = useMonthOfFlows(span, timeZone, by)
  return (
    <section aria-label={title} className={classes['top']}>
      <h3>{title}</h3>
      {answer.error && !answer.data ? (
        <FlowProblem error={answer.error} retry={() => answer.refetch()} />
      ) : answer.data ? (
        <Bars
          label={title}
          unit="bytes"
          rowsMax={6}
          emptyText={words.top.none}
          items={answer.data.series
            .filter(({ key }) => key[by] !== null)
            .map(({ label, values }) => ({ label, value: sum(values) }))
            .filter(({ value }) => value > 0)}
          total={sum(answer.data.series.flatMap(({ values }) => values))}
        />
      ) : (
        <Skeleton height={140} aria-busy />
      )}
    </section>
  )
}

const listed = 10

function Attacks({ span }: { readonly span: MonthSpan }) {
  const { attacks: texts } = words
  const navigate = useNavigate()
  const window = { start: span.start, end: span.end }
  const answer = useAnswer(listRelatedEventsRoute, {
    query: { ...window, ordering: '-affected_bps', limit: listed },
  })
  const length = Date.parse(span.end) - Date.parse(span.start)
  const before = useAnswer(listRelatedEventsRoute, {
    query: { start: new Date(Date.parse(span.start) - length).toISOString(), end: span.start, limit: 1 },
  })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={320} aria-busy />
  const { results, count } = answer.data
  const largest = results[0]
  return (
    <Section title={texts.title}>
      {count === 0 ? (
        <Text size="sm">{texts.none}</Text>
      ) : (
        <>
          <Grid min={180}>
            <Figure
              label={texts.count}
              value={formatCount(count)}
              note={before.data && texts.before(formatCount(before.data.count))}
            />
            <Figure
              label={texts.largest}
              value={
                largest && largest.affected_bps > 0
                  ? formatRate(largest.affected_bps, 'bps')
                  : texts.noneLargest
              }
              note={largest && networkText(largest.affected_network)}
            />
          </Grid>
          <div className={classes['chart']}>
            <AttacksByDay
              label={texts.chart}
              span={window}
              height={180}
              onPeriod={(range) => void navigate({ to: '/events', search: range })}
            />
          </div>
          <h3 className={classes['heading']}>{texts.list}</h3>
          <table className={classes['table']}>
            <thead>
              <tr>
                <th scope="col">{texts.network}</th>
                <th scope="col">{texts.type}</th>
                <th scope="col" data-number>
                  {texts.peak}
                </th>
                <th scope="col">{texts.started}</th>
                <th scope="col" data-number>
                  {texts.duration}
                </th>
              </tr>
            </thead>
            <tbody>
              {results.map((event) => (
                <tr key={event.id}>
                  <td>
                    <TextLink to="/events/$id" params={{ id: event.id }} ff="monospace" size="sm">
                      {networkText(event.affected_network)}
                    </TextLink>
                  </td>
                  <td>{classificationLabel(event.classification_key)}</td>
                  <td data-number>{event.affected_bps > 0 ? formatRate(event.affected_bps, 'bps') : '–'}</td>
                  <td>
                    <Time at={event.start} />
                  </td>
                  <td data-number>{durationOf(event)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Section>
  )
}

const announcementsMax = 50
const changesMax = 100
const kinds = ['enabled', 'disabled', 'suspended', 'resumed'] as const
type Kind = (typeof kinds)[number]

function Changes({ span }: { readonly span: MonthSpan }) {
  const { changes: texts } = words
  const answer = useQuery({
    queryKey: [teamIdNow(), 'report-changes', span.start, span.end],
    staleTime: 300_000,
    queryFn: () => changesOf(span),
  })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={160} aria-busy />
  const { list, isWhole } = answer.data
  return (
    <Section title={texts.title}>
      {list.length === 0 ? (
        <Text size="sm">{texts.none}</Text>
      ) : (
        <table className={classes['table']}>
          <thead>
            <tr>
              <th scope="col">{texts.time}</th>
              <th scope="col">{texts.prefix}</th>
              <th scope="col">{texts.change}</th>
            </tr>
          </thead>
          <tbody>
            {list.map(({ at, cidr, kind }) => (
              <tr key={`${at} ${cidr} ${kind}`}>
                <td>
                  <Time at={at} />
                </td>
                <td className={classes['mono']}>{cidr}</td>
                <td>{texts[kind]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!isWhole && (
        <Text size="xs" c="dimmed">
          {texts.limited(announcementsMax)}
        </Text>
      )}
    </Section>
  )
}

async function changesOf({ start, end }: MonthSpan) {
  const announcements = await queryClient.fetchQuery(
    answerOf(listAnnouncementsRoute, { query: { limit: announcementsMax, ordering: 'cidr' } }),
  )
  const histories = await Promise.all(
    announcements.results.map(async ({ id, cidr }) => {
      const { results } = await queryClient.fetchQuery(
        answerOf(listAnnouncementHistoryRoute, {
          params: { announcement_id: id },
          query: { kind: [...kinds], limit: changesMax },
        }),
      )
      return results
        .filter(({ at }) => at >= start && at < end)
        .map(({ at, kind }) => ({ at, cidr, kind: kind as Kind }))
    }),
  )
  return {
    list: histories.flat().toSorted((a, b) => a.at.localeCompare(b.at)),
    isWhole: announcements.count <= announcements.results.length,
  }
}
