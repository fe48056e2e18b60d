// Values over time, the one way in which the portal plots. The drawing library is loaded with the first plot; the same
// values are a description for screen readers and a table.
import { ColorSwatch, Group, ScrollArea, Skeleton, Table, Text } from '@mantine/core'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import classes from './plot.module.css'
import type { PlotProps, PlotUnit } from './plot-props.ts'
import { formatRate } from './rate.ts'
import { formatTime, useZone } from './time.tsx'

const Canvas = lazy(() => import('./plot-canvas.tsx'))

export function Plot(props: PlotProps) {
  const { label, height = 240 } = props
  const [zone] = useZone()
  const [index, setIndex] = useState<number>()
  const timeText = (time: number) => formatTime(new Date(time).toISOString(), zone)
  return (
    <figure className={classes['figure']} aria-label={label}>
      <Reading {...props} index={index} timeText={timeText} />
      <div role="img" aria-label={descriptionOf(props, timeText)}>
        <Suspense fallback={<Skeleton height={height} />}>
          <Canvas {...props} height={height} onIndex={setIndex} />
        </Suspense>
      </div>
      <DataTable {...props} timeText={timeText} />
    </figure>
  )
}

type WithTime = PlotProps & { readonly timeText: (time: number) => string }

/** The values at the pointer; without one, the highest of each series. */
function Reading({
  times,
  series,
  pointText,
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
          </Text>
          <Text size="xs" fw={600}>
            {valueText(at === undefined ? highestOf(values) : values[index!], unit, at === undefined)}
          </Text>
        </Group>
      ))}
      {at !== undefined && (
        <Text size="xs" c="dimmed">
          {timeText(at)}
          {pointText ? ` · ${pointText(index!)}` : ''}
        </Text>
      )}
    </Group>
  )
}

function valueText(value: number | null | undefined, unit: PlotUnit, isHighest: boolean): string {
  if (value === null || value === undefined) return '–'
  return `${isHighest ? 'max ' : ''}${formatRate(value, unit)}`
}

function highestOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>(
    (best, value) => (value !== null && value > (best ?? -1) ? value : best),
    null,
  )
}

/** For screen readers: how many values, and the highest of each series. */
function descriptionOf(
  { label, times, series, marks = [] }: PlotProps,
  timeText: (time: number) => string,
): string {
  const highs = series.flatMap(({ label: name, unit, values }) => {
    const highest = highestOf(values)
    if (highest === null) return []
    return [`${name} max ${formatRate(highest, unit)} at ${timeText(times[values.indexOf(highest)]!)}`]
  })
  const events = marks.map(({ at, label: what }) => `${what} at ${timeText(at)}`)
  return [label, `${times.length} values`, ...highs, ...events].join('. ')
}

function DataTable({ label, times, series, pointText, timeText }: WithTime): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} className={classes['table']}>
      <summary>Show as table</summary>
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
                {pointText && <Table.Th>Attack</Table.Th>}
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
                  {pointText && <Table.Td>{pointText(at)}</Table.Td>}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea.Autosize>
      )}
    </details>
  )
}
