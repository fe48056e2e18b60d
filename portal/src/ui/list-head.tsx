// The headings of a list: a click sorts, and the edge between two of them is dragged or moved with the arrow keys.
import { UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import type { KeyboardEvent, ReactNode } from 'react'
import type { Column } from './list-column.ts'
import { widthMax, widthMin, type ListHeader, type ListLayout } from './list-layout.ts'
import classes from './list.module.css'
import { useZoneOfColumn } from './time.tsx'
import { words } from './words.ts'

/** Returns the order after a click: by the column, then reversed. */
export function nextSort(
  { orderBy, largestFirst }: Pick<Column<never>, 'orderBy' | 'largestFirst'>,
  sort?: string,
): string {
  const [up, down] = [orderBy!, `-${orderBy!}`]
  if (sort === up) return down
  if (sort === down) return up
  return largestFirst ? down : up
}

type HeadProps = {
  readonly layout: ListLayout
  readonly sort: string | undefined
  readonly onSort: (sort: string) => void
  /** The checkbox of all rows, if rows can be selected. */
  readonly select: ReactNode
  /** The column that has no width of its own. */
  readonly growing: string | undefined
}

export function ListHead({ layout, sort, onSort, select, growing }: HeadProps) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        {select !== undefined && <th className={classes['select']}>{select}</th>}
        {layout.headers.map((header, at) => (
          <Heading
            key={header.id}
            header={header}
            column={layout.shown[at]!}
            isFirst={at === 0}
            sort={sort}
            onSort={onSort}
            layout={layout}
            filler={
              growing === undefined && header.column.getIsPinned() !== 'end' && isLastBefore(layout, at)
            }
          />
        ))}
      </tr>
    </thead>
  )
}

/** Reports whether the unused width stands after this column: the last that is not pinned at the right. */
const isLastBefore = ({ headers }: ListLayout, at: number): boolean => {
  const next = headers[at + 1]
  return next === undefined || next.column.getIsPinned() === 'end'
}

type HeadingProps = {
  readonly header: ListHeader
  readonly column: Column<object>
  readonly isFirst: boolean
  readonly sort: string | undefined
  readonly onSort: (sort: string) => void
  readonly layout: ListLayout
  readonly filler: boolean
}

function Heading({ header, column, isFirst, sort, onSort, layout, filler }: HeadingProps) {
  const { header: name, orderBy, align, pinned, isTime } = column
  const zone = useZoneOfColumn()
  const title = isTime && zone !== undefined ? `${name} (${zone})` : name
  const direction = sort === orderBy ? 'ascending' : sort === `-${orderBy}` ? 'descending' : 'none'
  return (
    <>
      <th
        className={cellClass(align, pinned, isFirst)}
        data-column={column.id}
        // Without it the name would contain that of the edge.
        aria-label={title}
        {...(orderBy === undefined ? {} : { 'aria-sort': direction })}
      >
        {orderBy === undefined ? (
          <span className={classes['title']}>{title}</span>
        ) : (
          <UnstyledButton className={classes['order']!} onClick={() => onSort(nextSort(column, sort))}>
            <span className={classes['title']}>{title}</span>
            {direction === 'ascending' && <IconArrowUp size={12} />}
            {direction === 'descending' && <IconArrowDown size={12} />}
          </UnstyledButton>
        )}
        {!pinned && <Edge header={header} title={title} layout={layout} />}
      </th>
      {filler && <td className={classes['filler']} />}
    </>
  )
}

const step = 16

function Edge({ header, title, layout }: { header: ListHeader; title: string; layout: ListLayout }) {
  const { column } = header
  const width = column.getSize()
  const drag = header.getResizeHandler()
  function onKey(event: KeyboardEvent) {
    const by = event.key === 'ArrowRight' ? step : event.key === 'ArrowLeft' ? -step : 0
    if (by === 0) return
    event.preventDefault()
    event.stopPropagation()
    layout.setWidth(column.id, width + by)
  }
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={words.list.widthOf(title)}
      aria-valuenow={width}
      aria-valuemin={widthMin}
      aria-valuemax={widthMax}
      tabIndex={0}
      className={classes['edge']}
      data-active={column.getIsResizing() || undefined}
      onMouseDown={drag}
      onTouchStart={drag}
      onDoubleClick={() => layout.resetWidth(column.id)}
      onKeyDown={onKey}
    />
  )
}

/** Returns the classes of a cell. */
export const cellClass = (align: 'right' | undefined, pinned: true | undefined, isFirst: boolean): string =>
  [align && classes[align], pinned && classes['pinned'], isFirst && classes['first']]
    .filter(Boolean)
    .join(' ')
