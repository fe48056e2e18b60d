// The traffic of the report: rates with their 95th percentile, and the largest shares.
import { Text } from '@mantine/core'
import { formatRate } from '@pharos/contract/rate'
import type { MonthlyReport } from '@pharos/contract/messages/report'
import { noTrafficTexts, rateOrDash } from '@pharos/contract/messages/report-text'
import { Bars } from '../charts/bars.tsx'
import { directionColors } from '../charts/chart-props.ts'
import { Chart } from '../charts/chart.tsx'
import { useExplorer } from '../traffic/use-traffic.ts'
import { defaultView } from '../traffic/traffic-view.ts'
import { Figure } from '../ui/figure.tsx'
import { Grid } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { ReportTable } from './report-table.tsx'
import classes from './reports.module.css'
import { words } from './words.ts'

const { traffic: texts } = words

/** Both directions, as the chart of the report. */
const view = { ...defaultView, direction: 'both', by: ['direction'], chart: 'lines' } as const

type FlowRates = NonNullable<MonthlyReport['traffic']['hours']>['series'][number]

export function Traffic({ report: { traffic, start, end } }: { readonly report: MonthlyReport }) {
  const { opens } = useExplorer(view, { from: start, to: end })
  if (traffic.state !== 'measured' || traffic.hours === null) {
    const state = traffic.state === 'measured' ? 'no_flows' : traffic.state
    return (
      <Section title={texts.title}>
        <Text size="sm">{noTrafficTexts[state]}</Text>
      </Section>
    )
  }
  const { hours } = traffic
  const directions = [
    { key: 'in', title: texts.received, color: directionColors.in, bytes: traffic.bytes_in },
    { key: 'out', title: texts.sent, color: directionColors.out, bytes: traffic.bytes_out },
  ] as const
  const shown = directions.flatMap((direction) => {
    const series = hours.series.find(({ key }) => key['direction'] === direction.key)
    return series ? [{ ...direction, series }] : []
  })
  return (
    <Section title={texts.title}>
      <Grid min={180}>
        {shown.map(({ key, title, series, bytes }) => (
          <Figure
            key={key}
            label={`${title}, ${texts.p95}`}
            value={series.p95 === null ? undefined : formatRate(series.p95, 'bps')}
            note={bytes !== null && texts.volume(formatRate(bytes, 'B'))}
          />
        ))}
      </Grid>
      <div className={classes['chart']}>
        <Chart
          label={texts.chart}
          kind="area"
          times={hours.timestamps.map((at) => Date.parse(at))}
          series={shown.map(({ title, color, series }) => ({
            label: title,
            unit: 'bps',
            color,
            values: series.values,
          }))}
          range={[Date.parse(start), Date.parse(end)]}
          opens={opens}
          height={240}
        />
      </div>
      <Rates shown={shown} />
      <Text size="xs" c="dimmed" mb="md">
        {[texts.resolution, hours.sampled && texts.sampled, hours.partial && texts.partial]
          .filter(Boolean)
          .join(' ')}
      </Text>
      <Shares traffic={traffic} />
    </Section>
  )
}

type Rated = { readonly key: string; readonly title: string; readonly series: FlowRates }

const Rates = ({ shown }: { readonly shown: readonly Rated[] }) => (
  <ReportTable
    label={texts.title}
    head={[
      { title: texts.direction },
      { title: texts.average, isNumber: true },
      { title: texts.p95, isNumber: true },
      { title: texts.peak, isNumber: true },
    ]}
    rows={shown.map(({ key, title, series }) => ({
      key,
      cells: [
        { content: title },
        ...[series.avg, series.p95, series.max].map((value) => ({
          content: rateOrDash(value),
          isNumber: true,
        })),
      ],
    }))}
  />
)

function Shares({ traffic }: { readonly traffic: MonthlyReport['traffic'] }) {
  const shares = [
    [words.top.protocols, traffic.protocols],
    [words.top.services, traffic.applications],
    [words.top.networks, traffic.networks],
    [words.top.families, traffic.families],
    [words.top.facilities, traffic.facilities],
  ] as const
  return (
    <Grid min={300}>
      {shares.map(([title, items]) => (
        <section key={title} aria-label={title} className={classes['top']}>
          <h3>{title}</h3>
          <Bars
            label={title}
            unit="bytes"
            rowsMax={6}
            emptyText={words.top.none}
            items={items.map(({ label, bytes }) => ({ label, value: bytes }))}
            total={(traffic.bytes_in ?? 0) + (traffic.bytes_out ?? 0)}
          />
        </section>
      ))}
    </Grid>
  )
}
