// The groups of a traffic view as a table: the color is the legend, and a click on a value filters by it.
import { ActionIcon, Table, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconFilterMinus } from '@tabler/icons-react'
import { formatShare, formatValue, type Unit } from '../charts/units.ts'
import { Spark } from '../charts/spark.tsx'
import { colorVariable } from '../charts/inks.ts'
import { Dimmed } from '../ui/cells.tsx'
import { LazyTooltip } from '../ui/lazy-tooltip.tsx'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { ranks, type Operator, type Rank } from './traffic-view.ts'
import type { TrafficRow } from './traffic-rows.ts'
import classes from './traffic.module.css'
import { words } from './words.ts'

const { table: texts } = words

type TrafficTableProps = {
  readonly rows: readonly TrafficRow[]
  readonly dimensions: readonly { readonly key: string; readonly label: string; readonly isMono: boolean }[]
  readonly unit: Unit
  readonly rank: Rank
  readonly isCompared: boolean
  /** Ids of rows that the chart does not draw. */
  readonly hidden: readonly string[]
  readonly onToggle: (id: string) => void
  readonly onRank: (rank: Rank) => void
  readonly onFilter: (key: string, op: Operator, value: string) => void
}

export function TrafficTable(props: TrafficTableProps) {
  const isPhone = useIsPhone()
  const { rows, dimensions, rank, isCompared, onRank } = props
  return (
    <Table.ScrollContainer
      minWidth={dimensions.length * 130 + (isPhone ? 260 : 560)}
      type="native"
      tabIndex={0}
      role="group"
      aria-label={texts.title}
    >
      <Table highlightOnHover className={classes['table']!}>
        <VisuallyHidden component="caption">{texts.caption}</VisuallyHidden>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className={classes['swatchCell']!}>
              <VisuallyHidden component="span">{words.bar.by}</VisuallyHidden>
            </Table.Th>
            {dimensions.length === 0 && <Table.Th>{words.picture.all}</Table.Th>}
            {dimensions.map(({ key, label }) => (
              <Table.Th key={key}>{label}</Table.Th>
            ))}
            {ranks.map((one) => (
              <Table.Th
                key={one}
                data-number
                data-minor={one !== rank || undefined}
                aria-sort={one === rank ? 'descending' : 'none'}
              >
                <UnstyledButton
                  className={classes['sort']!}
                  aria-label={texts.sort(texts.short[one])}
                  onClick={() => onRank(one)}
                >
                  {one === rank && <IconArrowDown size={12} aria-hidden />}
                  {texts.short[one]}
                </UnstyledButton>
              </Table.Th>
            ))}
            <Table.Th data-number>{texts.share}</Table.Th>
            {isCompared && <Table.Th data-number>{texts.change}</Table.Th>}
            <Table.Th>{texts.trend}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} {...props} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function Row({
  row,
  dimensions,
  unit,
  isCompared,
  rank,
  hidden,
  onToggle,
  onFilter,
}: TrafficTableProps & { readonly row: TrafficRow }) {
  const { series, color, isOthers } = row
  const isHidden = hidden.includes(row.id)
  return (
    <Table.Tr data-others={isOthers || undefined}>
      <Table.Td className={classes['swatchCell']!}>
        <UnstyledButton
          className={classes['toggle']!}
          aria-pressed={!isHidden}
          aria-label={isHidden ? texts.show(row.label) : texts.hide(row.label)}
          onClick={() => onToggle(row.id)}
        >
          <span className={classes['swatch']} style={{ background: colorVariable(color) }} aria-hidden />
        </UnstyledButton>
      </Table.Td>
      {dimensions.length === 0 && <Table.Td>{row.label}</Table.Td>}
      {dimensions.map(({ key, isMono }, at) => (
        <Table.Td key={key}>
          <Value
            name={row.names[at]!}
            value={row.values[at] ?? null}
            isMono={isMono}
            onFilter={(op) => onFilter(key, op, row.values[at]!)}
          />
        </Table.Td>
      ))}
      {ranks.map((one) => (
        <Table.Td key={one} data-number data-minor={one !== rank || undefined}>
          {series[one] === null ? <Dimmed>–</Dimmed> : formatValue(series[one], unit)}
        </Table.Td>
      ))}
      <Table.Td data-number>{formatShare(row.share, 1)}</Table.Td>
      {isCompared && <Table.Td data-number>{changeText(series.avg, row.before?.avg ?? null)}</Table.Td>}
      <Table.Td>
        <Spark label={texts.trendOf(row.label)} values={series.values} unit={unit} color={color} />
      </Table.Td>
    </Table.Tr>
  )
}

type ValueProps = {
  readonly name: string
  readonly value: string | null
  readonly isMono: boolean
  readonly onFilter: (op: 'eq' | 'ne') => void
}

/** All others together, and a value that is not known, cannot be filtered. */
function Value({ name, value, isMono, onFilter }: ValueProps) {
  if (value === null || value === '') return <Dimmed>{name}</Dimmed>
  return (
    <span className={classes['cell']}>
      <UnstyledButton
        className={classes['filterBy']!}
        data-mono={isMono || undefined}
        aria-label={texts.only(name)}
        onClick={() => onFilter('eq')}
      >
        {name}
      </UnstyledButton>
      <LazyTooltip label={() => texts.except(name)}>
        <ActionIcon
          size="sm"
          className={classes['except']!}
          aria-label={texts.except(name)}
          onClick={() => onFilter('ne')}
        >
          <IconFilterMinus size={14} />
        </ActionIcon>
      </LazyTooltip>
    </span>
  )
}

/** Returns `+12 %`; a dash if the earlier period is unknown. */
function changeText(now: number | null, before: number | null): string {
  if (now === null || before === null || before === 0) return '–'
  const percent = (now / before - 1) * 100
  if (Math.abs(percent) < 0.5) return '0 %'
  if (percent > 999) return '>999 %'
  return `${percent > 0 ? '+' : '−'}${Math.round(Math.abs(percent))} %`
}
