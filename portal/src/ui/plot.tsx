// Values over time: the one way in which the portal plots. The library that draws is loaded with the first plot; what it
// draws is said in words too, and all of it stands in a table for those who do not see it or want the figures.
import { ColorSwatch, Group, ScrollArea, Skeleton, Table, Text } from '@mantine/core'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import classes from './plot.module.css'
import { formatRate } from './rate.ts'
import { formatTime, useZone } from './time.tsx'

export type PlotUnit = Parameters<typeof formatRate>[1]

export type PlotSeries = {
  readonly label: string
  readonly unit: PlotUnit
  /** One for each of the times; null where there is none. */
  readonly values: readonly (number | null)[]
  readonly color: 'blue' | 'orange' | 'red'
  /** Told from another one without its colour: a dashed line, larger points. */
  readonly isDashed?: boolean
}

export type PlotProps = {
  readonly label: string
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[]
  /** Those of one unit share an axis; there may be two units. */
  readonly series: readonly PlotSeries[]
  /** What happened when: an upright line with a word. */
  readonly marks?: readonly { readonly at: number; readonly label: string }[]
  readonly thresholds?: readonly { readonly value: number; readonly unit: PlotUnit; readonly label: string }[]
  /** From when to when; left out: as far as there are values. */
  readonly range?: readonly [number, number]
  /** Single points on a logarithmic scale, for values that have nothing to do with each other. */
  readonly isScatter?: boolean
  /** What else is known of a point. */
  readonly wordsOf?: (index: number) => string
  readonly onPick?: (index: number) => void
  readonly height?: number
}

const Canvas = lazy(() => import('./plot-canvas.tsx'))

export function Plot(props: PlotProps) {
  const { label, height = 240 } = props
  const [zone] = useZone()
  const [index, setIndex] = useState<number>()
  const timeText = (time: number) => formatTime(new Date(time).toISOString(), zone)
  return (
    <figure className={classes['figure']} aria-label={label}>
      <Reading {...props} index={index} timeText={timeText} />
      <div role="img" aria-label={wordsFor(props, timeText)}>
        <Suspense fallback={<Skeleton height={height} />}>
          <Canvas {...props} height={height} onIndex={setIndex} />
        </Suspense>
      </div>
      <AsTable {...props} timeText={timeText} />
    </figure>
  )
}

type WithTime = PlotProps & { readonly timeText: (time: number) => string }

/** What is under the pointer; while it is elsewhere, the highest of each. */
function Reading({
  times,
  series,
  isScatter,
  wordsOf,
  index,
  timeText,
}: WithTime & { readonly index: number | undefined }) {
  const at = index === undefined ? undefined : times[index]
  return (
    <Group gap="md" mih={22} aria-hidden className={classes['reading']!}>
      {series.map(({ label, unit, values, color, isDashed }) => (
        <Group key={label} gap={6} wrap="nowrap">
          <ColorSwatch
            size={10}
            radius={isDashed ? 'xl' : 0}
            color={`var(--mantine-color-${color}-filled)`}
          />
          <Text size="xs" c="dimmed">
            {label}
            {isDashed ? (isScatter ? ' (larger)' : ' (dashed)') : ''}
          </Text>
          <Text size="xs" fw={600}>
            {valueText(at === undefined ? highestOf(values) : values[index!], unit, at === undefined)}
          </Text>
        </Group>
      ))}
      {at !== undefined && (
        <Text size="xs" c="dimmed">
          {timeText(at)}
          {wordsOf ? ` · ${wordsOf(index!)}` : ''}
        </Text>
      )}
    </Group>
  )
}

function valueText(value: number | null | undefined, unit: PlotUnit, isHighest: boolean): string {
  if (value === null || value === undefined) return '–'
  return `${isHighest ? 'at most ' : ''}${formatRate(value, unit)}`
}

function highestOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>(
    (best, value) => (value !== null && value > (best ?? -1) ? value : best),
    null,
  )
}

/** For those who hear the page: how much there is, and where it was highest. */
function wordsFor(
  { label, times, series, marks = [] }: PlotProps,
  timeText: (time: number) => string,
): string {
  const highs = series.flatMap(({ label: name, unit, values }) => {
    const highest = highestOf(values)
    if (highest === null) return []
    return [`${name} at most ${formatRate(highest, unit)}, at ${timeText(times[values.indexOf(highest)]!)}`]
  })
  const events = marks.map(({ at, label: what }) => `${what} at ${timeText(at)}`)
  return [label, `${times.length} values`, ...highs, ...events].join('. ')
}

function AsTable({ label, times, series, wordsOf, timeText }: WithTime): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} className={classes['table']}>
      <summary>As a table</summary>
      {isOpen && (
        <ScrollArea.Autosize mah={260} viewportProps={{ tabIndex: 0, 'aria-label': label }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Time</Table.Th>
                {series.map(({ label: name }) => (
                  <Table.Th key={name} ta="right">
                    {name}
                  </Table.Th>
                ))}
                {wordsOf && <Table.Th>What</Table.Th>}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {times.map((time, at) => (
                <Table.Tr key={`${time} ${at}`}>
                  <Table.Td>{timeText(time)}</Table.Td>
                  {series.map(({ label: name, unit, values }) => (
                    <Table.Td key={name} ta="right">
                      {valueText(values[at], unit, false)}
                    </Table.Td>
                  ))}
                  {wordsOf && <Table.Td>{wordsOf(at)}</Table.Td>}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea.Autosize>
      )}
    </details>
  )
}
