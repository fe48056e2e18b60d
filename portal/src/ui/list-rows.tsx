// The rows of a list: only those on the screen and some around them are elements of the page. They are walked with j and
// k, or the arrows, and opened with Enter.
import { Skeleton, Table, UnstyledButton } from '@mantine/core'
import type { Route } from '@pharos/contract/route'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useRef } from 'react'
import type { PageOf } from './all-rows.ts'
import { useRows, type Asked } from './list-pages.ts'
import type { Column, ListProps } from './list.tsx'
import { useFilledPage } from './use-filled-page.ts'
import { useGrowingColumns } from './use-growing-columns.ts'
import { useRowKeys } from './use-row-keys.ts'
import classes from './list.module.css'

type ListRowsProps<Row> = Pick<ListProps<Row>, 'route' | 'ordering' | 'onOrdering'> & {
  readonly route: Route
  readonly asked: Asked
  readonly page: PageOf<Row> | undefined
  /** When the answer came, milliseconds since 1970: what depends on the time is written anew then. */
  readonly asOf: number
  readonly columns: readonly Column<Row>[]
  readonly height: string | undefined
}

/** As in the style sheet. */
const rowHeight = 34
const rowsWaiting = 12
/** However little room the rest of the page leaves: then the page scrolls as well. */
const rowsAtLeast = 6

export function ListRows<Row extends object>(props: ListRowsProps<Row>) {
  const { route, asked, page, asOf, columns, ordering, onOrdering, height } = props
  const viewport = useRef<HTMLDivElement>(null)
  const count = page?.count ?? 0
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    // The heading covers the first of them when a row is brought into view.
    scrollPaddingStart: rowHeight,
    overscan: 8,
  })
  const items = virtual.getVirtualItems()
  const rowAt = useRows(route, asked, page, { first: items[0]?.index ?? 0, last: items.at(-1)?.index ?? 0 })
  useRowKeys(viewport, count, (index) => virtual.scrollToIndex(index))
  useFilledPage(viewport)
  useGrowingColumns(viewport, [columns, asked])
  const above = items[0]?.start ?? 0
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  return (
    <div
      ref={viewport}
      data-list
      className={classes['viewport']}
      style={{
        minHeight: (Math.min(page ? count : rowsWaiting, rowsAtLeast) + 1.2) * rowHeight,
        ...(height === undefined ? {} : { maxHeight: height }),
      }}
    >
      <Table stickyHeader aria-rowcount={count + 1} className={classes['table']!}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Heading key={column.id} column={column} ordering={ordering} onOrdering={onOrdering} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {!page &&
            Array.from({ length: rowsWaiting }, (_, at) => <Waiting key={at} columns={columns.length} />)}
          {above > 0 && <Spacer height={above} />}
          {items.map(({ index }) => {
            const row = rowAt(index)
            if (!row) return <Waiting key={index} columns={columns.length} />
            return <OneRow key={index} index={index} row={row} columns={columns as AnyColumns} asOf={asOf} />
          })}
          {below > 0 && <Spacer height={below} />}
        </Table.Tbody>
      </Table>
    </div>
  )
}

type AnyColumns = readonly Column<object>[]

const classOf = (align: 'right' | undefined, pinned: true | undefined): string | undefined =>
  [align && classes[align], pinned && classes['pinned']].filter(Boolean).join(' ') || undefined

/** Written once for each row that comes into view, not for each pixel that is scrolled. */
const OneRow = memo(function OneRow(props: {
  index: number
  row: object
  columns: AnyColumns
  asOf: number
}) {
  const { index, row, columns } = props
  return (
    <tr className={classes['row']} aria-rowindex={index + 2} tabIndex={-1}>
      {columns.map(({ id, cell, align, pinned }) => (
        <td key={id} className={classOf(align, pinned)}>
          {cell(row)}
        </td>
      ))}
    </tr>
  )
})

function Heading<Row>({
  column,
  ordering,
  onOrdering,
}: Pick<ListProps<Row>, 'ordering' | 'onOrdering'> & { column: Column<Row> }) {
  const { header, orderBy, align, pinned } = column
  const look = { className: classOf(align, pinned) ?? '' }
  const direction = ordering === orderBy ? 'ascending' : ordering === `-${orderBy}` ? 'descending' : 'none'
  if (orderBy === undefined) return <Table.Th {...look}>{header}</Table.Th>
  return (
    <Table.Th aria-sort={direction} {...look}>
      <UnstyledButton
        className={classes['order']!}
        onClick={() => onOrdering(direction === 'ascending' ? `-${orderBy}` : orderBy)}
      >
        {header}
        {direction === 'ascending' && <IconArrowUp size={12} />}
        {direction === 'descending' && <IconArrowDown size={12} />}
      </UnstyledButton>
    </Table.Th>
  )
}

const Spacer = ({ height }: { height: number }) => (
  <tr aria-hidden>
    <td style={{ height, padding: 0 }} />
  </tr>
)

const Waiting = ({ columns }: { columns: number }) => (
  <tr className={classes['row']} aria-busy>
    {Array.from({ length: columns }, (_, at) => (
      <td key={at}>
        <Skeleton height={12} />
      </td>
    ))}
  </tr>
)
