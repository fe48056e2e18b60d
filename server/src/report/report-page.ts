// The pages of a monthly report. The same report results in the same bytes. Loaded in its thread only: see report-thread.ts.
import { billedText, overageText } from '@pharos/contract/inventory/bill-text'
import { counted } from '@pharos/contract/counted'
import { peakBands, type PeakBand } from '@pharos/contract/events/event'
import { classificationLabel } from '@pharos/contract/events/classification'
import { formatDuration } from '@pharos/contract/duration'
import { networkText } from '@pharos/contract/network-text'
import { formatRate } from '@pharos/contract/rate'
import type { MonthlyReport, ReportAttack, ReportShare } from '@pharos/contract/messages/report'
import {
  monthText,
  noTrafficTexts,
  peakBandTexts,
  peakText,
  rateOrDash,
  reportChangeTexts,
} from '@pharos/contract/messages/report-text'
import type { Series } from '@pharos/contract/timeseries'
import { Temporal } from 'temporal-polyfill'
import { drawAreas, drawShares, drawStackedBars, shareHeight } from './report-chart.ts'
import { contentWidth, ink, page, Sheets } from './report-sheet.ts'

export type ReportPdf = {
  readonly report: MonthlyReport
  /** The color of the provider, as `#1b5fd0`; null for that of Pharos. */
  readonly accent: string | null
}

const accentDefault = '#1b5fd0'

/** Renders the report as a PDF: once to count its pages, and once with their number. */
export function drawPages(content: ReportPdf): Buffer {
  const counted = compose(content)
  counted.close()
  return compose(content, counted.pages).close()
}

function compose({ report, accent }: ReportPdf, pageCount?: number): Sheets {
  const month = monthText(report.month)
  const sheets = new Sheets({
    title: `Monthly report of ${report.team.name}, ${month}`,
    text: JSON.stringify(report),
    accent: accent ?? accentDefault,
    running: [report.team.name, month],
    footer: `Prepared by ${report.provider} on ${timeText(report.prepared, report)} · All times in ${report.timezone}`,
    ...(pageCount === undefined ? {} : { pageCount }),
  })
  drawHead(sheets, report, month)
  drawFigures(sheets, report)
  drawTraffic(sheets, report)
  drawAttacks(sheets, report)
  drawServices(sheets, report)
  drawChanges(sheets, report)
  return sheets
}

function drawHead(sheets: Sheets, { provider, team, complete }: MonthlyReport, month: string): void {
  const right = page.width - page.margin
  sheets.write(provider, page.margin, 40, { size: 11, weight: 700, color: sheets.accent, widthMax: 300 })
  sheets.write('Monthly report', right, 40, { size: 9, color: ink.faint, align: 'right' })
  sheets.write(complete ? month : `${month}, so far`, page.margin, 84, { size: 26, weight: 700 })
  sheets.write(team.name, page.margin, 104, { size: 12, color: ink.soft, widthMax: contentWidth })
  sheets.y = 122
}

type Card = { readonly label: string; readonly value: string; readonly note: string }

function drawFigures(sheets: Sheets, report: MonthlyReport): void {
  const { traffic, attacks } = report
  const rateCard = (direction: 'in' | 'out', label: string, bytes: number | null): Card => ({
    label,
    value: rateOrDash(seriesOf(report, direction)?.p95 ?? null),
    note: bytes === null ? 'no flow records' : `95th percentile, ${formatRate(bytes, 'B')} in total`,
  })
  const largest = attacks.largest[0]
  const cards: Card[] = [
    rateCard('in', 'In', traffic.bytes_in),
    rateCard('out', 'Out', traffic.bytes_out),
    {
      label: 'Attacks',
      value: countText(attacks.count),
      note: `${countText(attacks.count_before)} in the month before`,
    },
    {
      label: 'Largest attack',
      value: largest ? peakText(largest) : '–',
      note: largest ? `on ${networkName(largest.network)}` : 'no attack',
    },
  ]
  const gap = 10
  const width = (contentWidth - gap * (cards.length - 1)) / cards.length
  const { canvas, y } = sheets
  for (const [at, { label, value, note }] of cards.entries()) {
    const x = page.margin + at * (width + gap)
    canvas.fillStyle = ink.ground
    canvas.beginPath()
    canvas.roundRect(x, y, width, 64, 5)
    canvas.fill()
    sheets.write(label, x + 10, y + 17, { size: 8, color: ink.soft })
    sheets.write(value, x + 10, y + 39, { size: 17, weight: 600, widthMax: width - 16 })
    sheets.write(note, x + 10, y + 54, { size: 7, color: ink.faint, widthMax: width - 16 })
  }
  sheets.y += 64
}

const seriesOf = ({ traffic }: MonthlyReport, direction: 'in' | 'out'): Series | undefined =>
  traffic.hours?.series.find(({ key }) => key['direction'] === direction)

const directions = [
  ['in', 'In', ink.series[0]],
  ['out', 'Out', ink.series[1]],
] as const

const [wide, number] = [
  (title: string, width: number) => ({ title, width }),
  (title: string, width: number) => ({ title, width, align: 'right' as const }),
]

function drawTraffic(sheets: Sheets, report: MonthlyReport): void {
  const { traffic } = report
  sheets.heading('Traffic', traffic.hours ? 240 : 20)
  if (traffic.state !== 'measured' || traffic.hours === null) {
    sheets.paragraph(noTrafficTexts[traffic.state === 'measured' ? 'no_flows' : traffic.state], {
      color: ink.soft,
    })
    return
  }
  const { hours } = traffic
  const shown = directions.flatMap(([direction, label, color]) => {
    const series = seriesOf(report, direction)
    return series ? [{ label, color, series }] : []
  })
  const largest = shown.toSorted((a, b) => (b.series.p95 ?? 0) - (a.series.p95 ?? 0))[0]
  drawAreas(
    sheets,
    {
      borders: [...hours.timestamps, hours.end].map((at) => Date.parse(at)),
      series: shown.map(({ label, color, series }) => ({ label, color, values: series.values })),
      days: markedDays(report),
      height: 165,
      valueText: (value) => formatRate(value, 'bps'),
    },
    largest?.series.p95
      ? [
          {
            value: largest.series.p95,
            label: `95th percentile, ${largest.label.toLowerCase()}`,
            color: ink.soft,
          },
        ]
      : [],
  )
  const rest = (contentWidth - 120) / 4
  sheets.table(
    [
      wide('Direction', 120),
      ...['Average', '95th percentile', 'Peak', 'Total'].map((title) => number(title, rest)),
    ],
    shown.map(({ label, series }) => [
      label,
      ...[series.avg, series.p95, series.max].map(rateOrDash),
      formatRate((label === 'Out' ? traffic.bytes_out : traffic.bytes_in) ?? 0, 'B'),
    ]),
  )
  drawTrafficShares(sheets, traffic)
  sheets.paragraph(
    [
      'Figures are of averages over one hour, from flow records; bills count otherwise.',
      ...(hours.sampled
        ? ['Routers record a sample of the packets, and figures are multiplied by its rate.']
        : []),
      ...(hours.partial
        ? [
            'A part of the month is missing or was counted without its sampling rate: real traffic may be higher.',
          ]
        : []),
    ].join(' '),
    { size: 7.5, color: ink.faint },
  )
}

function drawTrafficShares(sheets: Sheets, traffic: MonthlyReport['traffic']): void {
  drawGroups(sheets, [
    ['Protocols', traffic.protocols],
    ['Applications', traffic.applications],
    ['Remote networks', traffic.networks],
  ])
  drawGroups(sheets, [
    ['Address families', traffic.families],
    ['Facilities', traffic.facilities],
  ])
}

/** Draws groups side by side; one without shares is left out. */
function drawGroups(sheets: Sheets, groups: readonly (readonly [string, readonly ReportShare[]])[]): void {
  const bars = groups
    .filter(([, shares]) => shares.length > 0)
    .map(([title, shares]) => ({ title, color: sheets.accent, bars: barsOf(shares) }))
  if (bars.length === 0) return
  sheets.need(shareHeight(bars) + 8)
  drawShares(sheets, bars)
}

const barsOf = (shares: readonly ReportShare[]) =>
  shares.map(({ label, bytes }) => ({ label, value: bytes, text: formatRate(bytes, 'B') }))

/** One hue, as in the portal: the larger, the darker. */
const bandColors: Readonly<Record<PeakBand, string>> = {
  below_1g: '#94b8f0',
  from_1g: '#4f86dd',
  from_10g: '#2455a8',
  from_100g: '#102c5e',
}

function drawAttacks(sheets: Sheets, report: MonthlyReport): void {
  const { attacks } = report
  sheets.heading('Attacks', attacks.count > 0 ? 190 : 20)
  if (attacks.count === 0) {
    sheets.paragraph('No attacks were detected in this month.', { color: ink.soft })
    return
  }
  const { days } = attacks
  drawStackedBars(sheets, {
    borders: [...days.timestamps, days.end].map((at) => Date.parse(at)),
    series: (Object.keys(peakBands) as PeakBand[]).flatMap((band) => {
      const found = days.series.find(({ key }) => key['peak_bps'] === band)
      if (!found?.values.some((value) => (value ?? 0) > 0)) return []
      return [{ label: peakBandTexts[band], color: bandColors[band], values: found.values }]
    }),
    days: markedDays(report),
    height: 90,
    valueText: countText,
  })
  sheets.table(
    [
      wide('Target', 118),
      wide('Kind', 158),
      number('Peak', 68),
      wide('', 14),
      wide('Started', 80),
      number('Duration', 69.28),
    ],
    attacks.largest.map((attack) => [
      networkName(attack.network),
      classificationLabel(attack.classification_key),
      peakText(attack),
      '',
      dayText(attack.start, report),
      durationText(attack),
    ]),
  )
  if (attacks.count > attacks.largest.length)
    sheets.paragraph(`The largest of ${countText(attacks.count)} attacks.`, { size: 7.5, color: ink.faint })
  const kinds = attacks.kinds.map(({ classification_key, count }) => ({
    label: classificationLabel(classification_key),
    value: count,
    text: countText(count),
  }))
  if (kinds.length < 2) return
  const group = [{ title: 'Kinds of attacks', color: sheets.accent, bars: kinds }]
  sheets.need(shareHeight(group) + 8)
  drawShares(sheets, group)
}

function drawServices(sheets: Sheets, report: MonthlyReport): void {
  const { services } = report
  if (services === null || services.length === 0) return
  sheets.heading('Services', 80)
  const rest = (contentWidth - 190) / 5
  const titles = ['Commit', '95th in', '95th out', 'Billed', 'Above commit']
  sheets.table(
    [wide('Service and port', 190), ...titles.map((title) => number(title, rest))],
    services.flatMap(({ name, ports }) =>
      ports.map((port) => [
        port.port_id === null ? name : `${name} · ${port.name}`,
        rateOrDash(port.commit_bps),
        rateOrDash(port.p95_in_bps),
        rateOrDash(port.p95_out_bps),
        billedText(port) ?? '–',
        overageText(port) ?? '–',
      ]),
    ),
  )
  const isOpen = services.some(({ ports }) => ports.some(({ closed }) => closed === null))
  sheets.paragraph(
    `From the counters of the ports, in buckets of 5 minutes, in the time zone of each service.${isOpen ? ' Not all services are closed yet: figures may change.' : ''}`,
    { size: 7.5, color: ink.faint },
  )
}

const changesShown = 60

function drawChanges(sheets: Sheets, report: MonthlyReport): void {
  const { changes, change_count: count } = report
  if (changes === null) return
  sheets.heading('Changes', changes.length > 0 ? 60 : 20)
  if (changes.length === 0) {
    sheets.paragraph('Announcements and shield rules were not changed.', { color: ink.soft })
    return
  }
  const shown = changes.slice(0, changesShown)
  sheets.table(
    [wide('Time', 90), wide('Prefix', 150), wide('Change', contentWidth - 240)],
    shown.map(({ at, prefix, kind, rules }) => [
      dayText(at, report),
      prefix,
      rules === null || kind === 'shield_removed'
        ? reportChangeTexts[kind]
        : `${reportChangeTexts[kind]} (${counted(rules, 'rule')})`,
    ]),
  )
  if (count > shown.length)
    sheets.paragraph(`And ${countText(count - shown.length)} more.`, { size: 7.5, color: ink.faint })
}

/** The first day of the month and every fifth one. */
function markedDays({ month, timezone }: MonthlyReport): { at: number; label: string }[] {
  const first = Temporal.PlainYearMonth.from(month)
  const days = Array.from({ length: first.daysInMonth }, (_, at) => at + 1)
  return days
    .filter((day) => day === 1 || (day % 5 === 0 && day < 31))
    .map((day) => ({
      at: first.toPlainDate({ day }).toZonedDateTime(timezone).epochMilliseconds,
      label: String(day),
    }))
}

const countText = (count: number): string => count.toLocaleString('en')

const networkName = (network: string): string =>
  network === '' ? 'an unknown network' : networkText(network)

const durationText = ({ start, end }: ReportAttack): string =>
  end === null ? 'Ongoing' : formatDuration(Math.max(0, Date.parse(end) - Date.parse(start)))

const dayFormat = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const

/** Returns `3 Mar, 14:05` in the time zone of the report. */
const dayText = (at: string, { timezone }: MonthlyReport): string =>
  new Intl.DateTimeFormat('en-GB', { ...dayFormat, timeZone: timezone }).format(new Date(at))

/** Returns `3 Mar 2026, 14:05`. */
const timeText = (at: string, { timezone }: MonthlyReport): string =>
  new Intl.DateTimeFormat('en-GB', { ...dayFormat, year: 'numeric', timeZone: timezone }).format(new Date(at))
