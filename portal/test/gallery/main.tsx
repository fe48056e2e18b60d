// Every chart with invented data, for screenshots and the browser tests of charts. It is not part of the portal.
import '@fontsource-variable/geist-mono'
import '@fontsource-variable/inter'
import '../../src/theme/tokens.css'
import '../../src/theme/global.css'
import './gallery.css'
import { createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { Bars } from '../../src/charts/bars.tsx'
import type { ChartSeries } from '../../src/charts/chart-props.ts'
import { Chart } from '../../src/charts/chart.tsx'
import { PortGrid, type PortState } from '../../src/charts/port-grid.tsx'
import { RegionMap } from '../../src/charts/region-map.tsx'
import { Sankey } from '../../src/charts/sankey.tsx'
import { Spark } from '../../src/charts/spark.tsx'

const dayMs = 86_400_000
const now = Date.UTC(2026, 10, 22, 0, 12)
let seed = 7
const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
const list = <T,>(count: number, valueAt: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => valueAt(at))
const timesOf = (count: number, stepMs: number) => list(count, (at) => now - (count - 1 - at) * stepMs)

const dark = new URLSearchParams(location.search).get('scheme') === 'dark'
document.documentElement.dataset['mantineColorScheme'] = dark ? 'dark' : 'light'

const days = list(30, (at) => Date.UTC(2026, 9, 24) + at * dayMs)
const counts = days.map(() => Math.round(random() * 9 * (random() > 0.25 ? 1 : 0)))
const large = counts.map((count) => Math.round(count * random() * 0.25))
const medium = counts.map((count, at) => Math.round((count - large[at]!) * random() * 0.6))
const attacksByDay: ChartSeries[] = [
  {
    label: 'Under 5 Gbps',
    unit: 'count',
    color: 'scale-1',
    values: counts.map((count, at) => count - large[at]! - medium[at]!),
  },
  { label: '5–20 Gbps', unit: 'count', color: 'scale-2', values: medium },
  { label: 'Over 20 Gbps', unit: 'count', color: 'scale-3', values: large },
]
const dayText = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

const attackTimes = timesOf(71, 9000)
const attackRate = (at: number, isPassed: boolean) => {
  const attack = at < 28 ? 0 : Math.min(1, (at - 27) / 7) * (8.4 + random() * 1.1)
  return (0.35 + random() * 0.08 + attack * (isPassed && at > 37 ? 0.03 : 1)) * 1e9
}
const attack: ChartSeries[] = [
  {
    label: 'Dropped',
    unit: 'bps',
    color: 'bad',
    values: list(71, (at) => (at > 60 ? null : attackRate(at, false))),
  },
  {
    label: 'Passed to you',
    unit: 'bps',
    color: 1,
    values: list(71, (at) => (at > 60 ? null : attackRate(at, true))),
  },
]

const flowTimes = timesOf(144, 600_000)
const wave = (at: number) => 0.55 - 0.45 * Math.cos(((at - 24) / 144) * 2 * Math.PI)
const sources = ['AS65010', 'AS65044', 'AS65102', 'AS65120', 'AS65200', 'Others']
const traffic = sources.map((label, order): ChartSeries => ({
  label,
  unit: 'bps',
  color: order === 5 ? 8 : ((order + 1) as 1),
  values: list(144, (at) => {
    const peak = order === 0 && at > 100 && at < 114 ? 2 : 1
    return (wave(at) * (1 + random() * 0.12) * peak * 4.4e9) / (1 + order * 0.55)
  }),
}))

const level = list(96, (at) => -2.6 - at * 0.015 - random() * 0.25)
const optics: ChartSeries[] = [
  {
    label: 'Receive level',
    unit: 'dBm',
    color: 3,
    values: level.map((value, at) => (at > 40 && at < 46 ? null : value)),
    low: level.map((value, at) => (at > 40 && at < 46 ? null : value - 0.5 - random() * 0.3)),
    high: level.map((value, at) => (at > 40 && at < 46 ? null : value + 0.4 + random() * 0.2)),
  },
]

const scatterTimes = list(120, () => now - random() * 30 * dayMs).toSorted((a, b) => a - b)
const peaks = scatterTimes.map(() => 10 ** (6.5 + random() * 4))

const openDay = (index: number) => `/events?day=${new Date(days[index]!).toISOString().slice(0, 10)}`
const sourcesOf = [
  { label: '198.19.10.53', secondary: 'AS65010', value: 3.4e9, href: '/events?source=1' },
  { label: '198.19.77.8', secondary: 'AS65044', value: 2.2e9, href: '/events?source=2' },
  { label: '198.19.20.9', secondary: 'AS65010', value: 1.4e9 },
  { label: '198.19.4.120', secondary: 'AS65102', value: 0.9e9 },
]
const ports = [
  { label: '53', secondary: 'DNS', value: 970 },
  { label: '123', secondary: 'NTP', value: 20 },
  { label: '389', secondary: 'CLDAP', value: 6 },
  { label: '1900', secondary: 'SSDP', value: 4 },
]
const flows = [
  ...[
    ['AS65010', 6, 3, 1, 1],
    ['AS65044', 3, 2, 1.5, 0.5],
    ['AS65102', 2, 1.5, 1, 0.6],
    ['AS65120', 1.5, 1, 0.6, 0.3],
    ['Others', 2.5, 1, 1, 0.8],
  ].flatMap(([from, ...values]) =>
    ['AMS', 'FRA', 'NYC', 'SIN'].map((to, at) => ({
      from: String(from),
      to,
      value: Number(values[at]) * 1e9,
      href: `/events?as=${from}`,
    })),
  ),
  ...['AMS', 'FRA', 'NYC', 'SIN'].flatMap((from, at) => [
    { from, to: '203.0.113.0/24', value: [9, 5, 3.4, 1.6][at]! * 1e9 },
    { from, to: '203.0.113.64/26', value: [6, 3.5, 1.7, 1.6][at]! * 1e9 },
  ]),
]
const regions = [
  {
    code: 'AMS',
    name: 'Amsterdam',
    latitude: 52.4,
    longitude: 4.9,
    state: 'bad',
    stateText: 'attack',
    countText: 'attack',
  },
  {
    code: 'LON',
    name: 'London',
    latitude: 51.5,
    longitude: -0.1,
    state: 'ok',
    stateText: 'announced',
    countText: '3 prefixes',
  },
  {
    code: 'FRA',
    name: 'Frankfurt',
    latitude: 50.1,
    longitude: 8.7,
    state: 'ok',
    stateText: 'announced',
    countText: '5 prefixes',
  },
  {
    code: 'NYC',
    name: 'New York',
    latitude: 40.7,
    longitude: -74,
    state: 'warn',
    stateText: 'withdrawing',
    countText: '3 prefixes',
  },
  {
    code: 'SIN',
    name: 'Singapore',
    latitude: 1.35,
    longitude: 103.8,
    state: 'idle',
    stateText: 'withdrawn',
    countText: '0 prefixes',
  },
] as const
const portStates: PortState[] = [
  'ok',
  'ok',
  'ok',
  'idle',
  'ok',
  'bad',
  'ok',
  'ok',
  'warn',
  'ok',
  'idle',
  'idle',
  'ok',
  'unknown',
  'ok',
  'info',
]
const portsOf = (count: number, prefix: string) =>
  list(count, (at) => ({
    id: `${prefix}${at}`,
    label: `${prefix}/0/${at}`,
    state: portStates[(at * 7) % portStates.length]!,
    description: at % 3 === 0 ? 'Transit, AS65010' : 'Customer 4711',
    detail: `rx ${(-2 - random() * 3).toFixed(1)} dBm, tx -1.9 dBm`,
    href: `/ports/${prefix}${at}`,
  }))

function Gallery() {
  return (
    <main>
      <h1>Charts</h1>
      <Card title="Attacks by day and peak">
        <Chart
          label="Attacks by day and peak"
          kind="stacked-bars"
          times={days}
          series={attacksByDay}
          timeText={(time) => dayText.format(time)}
          hrefOf={openDay}
        />
      </Card>
      <Card title="Traffic to 203.0.113.77">
        <Chart
          label="Traffic to 203.0.113.77"
          kind="area"
          times={attackTimes}
          series={attack}
          thresholds={[{ value: 2e9, unit: 'bps', label: 'threshold' }]}
          marks={[
            { at: attackTimes[28]!, label: 'detected' },
            { at: attackTimes[37]!, until: attackTimes[60]!, label: 'blackhole', state: 'info' },
            ...[6, 7, 8, 9].map((id) => ({
              at: attackTimes[id]!,
              label: `UDP flood 203.0.113.${id}`,
              href: `/events/${id}`,
              isMinor: true,
            })),
          ]}
          range={[attackTimes[0]!, now]}
        />
      </Card>
      <Card title="Inbound traffic by source AS">
        <Chart
          label="Inbound traffic by source AS"
          kind="stacked-area"
          times={flowTimes}
          series={traffic}
          height={280}
        />
      </Card>
      <Card title="Source AS → region → prefix">
        <Sankey label="Traffic by source AS, region and prefix" flows={flows} unit="bps" height={280} />
      </Card>
      <Card title="Attacks by start and peak rate">
        <Chart
          label="Attacks by start and peak rate"
          kind="scatter"
          isLog
          times={scatterTimes}
          series={[
            {
              label: 'Ended',
              unit: 'bps',
              color: 1,
              values: peaks.map((peak, at) => (at > 116 ? null : peak)),
            },
            {
              label: 'Ongoing',
              unit: 'bps',
              color: 'bad',
              isDashed: true,
              values: peaks.map((peak, at) => (at > 116 ? peak : null)),
            },
          ]}
          pointText={(index) => `203.0.113.${index}, DNS amplification, ${index + 1} min`}
          hrefOf={(index) => `/events/${index}`}
        />
      </Card>
      <Card title="Lines, dashed, two units">
        <Chart
          label="Bits and packets"
          kind="lines"
          times={flowTimes}
          series={[
            { ...traffic[0]!, label: 'Bits per second' },
            {
              label: 'Packets per second',
              unit: 'pps',
              color: 2,
              isDashed: true,
              values: traffic[1]!.values.map((value) => value! / 9000),
            },
          ]}
        />
      </Card>
      <Card title="Receive level of xe-0/0/3">
        <Chart
          label="Receive level of xe-0/0/3"
          kind="band"
          times={timesOf(96, 3_600_000)}
          series={optics}
          thresholds={[{ value: -7, unit: 'dBm', label: 'low warning', color: 'bad' }]}
          marks={[{ at: now - 3 * dayMs, label: 'module replaced' }]}
        />
      </Card>
      <Card title="Webhook deliveries">
        <Chart
          label="Webhook deliveries"
          kind="bars"
          times={days.slice(-10)}
          series={[
            {
              label: 'Delivered',
              unit: 'count',
              color: 'ok',
              values: [40, 52, 38, 61, 44, 57, 49, 66, 71, 53],
            },
            { label: 'Failed', unit: 'count', color: 'bad', values: [0, 3, 0, 0, 12, 5, 0, 1, 0, 2] },
          ]}
        />
      </Card>
      <Card title="One measurement" third>
        <Chart
          label="One measurement"
          kind="area"
          times={[now - 240_000]}
          series={[{ label: 'Bits per second', unit: 'bps', color: 1, values: [9.5e9] }]}
          range={[now - 300_000, now]}
          heldUntil={now - 30_000}
          marks={[{ at: now - 30_000, label: 'ended' }]}
          height={180}
        />
      </Card>
      <Card title="Loading, empty" third>
        <Chart label="Loading" kind="bars" times={[]} series={[]} height={90} isLoading />
        <Chart
          label="Empty"
          kind="bars"
          times={[]}
          series={[]}
          height={80}
          emptyText="No attacks in the last 30 days"
        />
      </Card>
      <Card title="Failed" third>
        <Chart
          label="Failed"
          kind="bars"
          times={[]}
          series={[]}
          height={180}
          error="The server did not answer in time."
          onRetry={() => {}}
        />
      </Card>
      <Card title="Top sources" third>
        <Bars label="Top sources" items={sourcesOf} unit="bps" total={10e9} isMono />
      </Card>
      <Card title="Source ports" third>
        <Bars label="Source ports" items={ports} unit="packets" rowsMax={2} isMono />
      </Card>
      <Card title="Traffic, 24 h" third>
        <table className="sparks">
          <tbody>
            {traffic.slice(0, 3).map(({ label, values, color }) => (
              <tr key={label}>
                <td>{label}</td>
                <td>
                  <Spark label={`${label}, 24 h`} values={values} unit="bps" color={color} />
                </td>
              </tr>
            ))}
            <tr>
              <td>AS65999</td>
              <td>
                <Spark label="AS65999, 24 h" values={[null]} unit="bps" />
              </td>
            </tr>
          </tbody>
        </table>
      </Card>
      <Card title="Regions">
        <RegionMap
          label="Regions"
          regions={regions.map((region) => ({ ...region, href: `/regions/${region.code}` }))}
        />
      </Card>
      <Card title="Ports of ams-edge-1">
        <PortGrid
          label="Ports of ams-edge-1"
          groups={[
            { speed: '100 Gbps', ports: portsOf(8, 'et-0') },
            { speed: '10 Gbps', ports: portsOf(32, 'xe-1') },
          ]}
        />
      </Card>
    </main>
  )
}

const Card = ({
  title,
  third = false,
  children,
}: {
  title: string
  third?: boolean
  children: ReactNode
}) => (
  <section className={third ? 'card third' : 'card'} aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

const root = createRootRoute()
const routeTree = root.addChildren([
  createRoute({ getParentRoute: () => root, path: '$', component: Gallery }),
])
createRoot(document.getElementById('gallery')!).render(
  <RouterProvider router={createRouter({ routeTree }) as never} />,
)
