// The rows of a list. Only those on the screen and a few around them are elements of the page. Keys: j and k or the
// arrows move the focus, Enter opens the row.
import { Skeleton, Table, UnstyledButton } from '@mantine/core'
import type { Route } from '@pharos/contract/route'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useRef } from 'react'
import type { PageOf } from './all-rows.ts'
import { useRows, type ListRequest } from './list-requests.ts'
import type { Column, Order } from './list-column.ts'
import { useRemainingHeight } from './use-remaining-height.ts'
import { useGrowingColumns } from './use-growing-columns.ts'
import { useRowKeys } from './use-row-keys.ts'
import classes from './list.module.css'

type ListRowsProps<Row> = Order & {
  readonly route: Route
  readonly request: ListRequest
  readonly page: PageOf<Row> | undefined
  /** When the answer arrived, milliseconds since 1970: cells that depend on the time are rendered again then. */
  readonly asOf: number
  readonly columns: readonly Column<Row>[]
  readonly height: string | undefined
}

/** Must match the style sheet. */
const rowHeight = 34
const rowsWhileLoading = 12
/** Shown even if the rest of the page leaves less room: the page scrolls then. */
const rowsMin = 6

export function ListRows<Row extends object>(props: ListRowsProps<Row>) {
  const { route, request, page, asOf, columns, ordering, onOrdering, height } = props
  const viewport = useRef<HTMLDivElement>(null)
  const count = page?.count ?? 0
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    // The sticky heading would cover a row that is scrolled to the top.
    scrollPaddingStart: rowHeight,
    overscan: 8,
  })
  const items = virtual.getVirtualItems()
  const rowAt = useRows(route, request, page, { first: items[0]?.index ?? 0, last: items.at(-1)?.index ?? 0 })
  useRowKeys(viewport, count, (index) => virtual.scrollToIndex(index))
  useRemainingHeight(viewport)
  useGrowingColumns(viewport, [columns, request])
  const above = items[0]?.start ?? 0
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  return (
    <div
      ref={viewport}
      data-list
      className={classes['viewport']}
      style={{
        minHeight: (Math.min(page ? count : rowsWhileLoading, rowsMin) + 1.2) * rowHeight,
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
            Array.from({ length: rowsWhileLoading }, (_, at) => (
              <LoadingRow key={at} columns={columns.length} />
            ))}
          {above > 0 && <Spacer height={above} />}
          {items.map(({ index }) => {
            const row = rowAt(index)
            if (!row) return <LoadingRow key={index} columns={columns.length} />
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

/** Rendered once for each row that comes into view, not for each pixel scrolled. */
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

function Heading<Row>({ column, ordering, onOrdering }: Order & { column: Column<Row> }) {
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

const LoadingRow = ({ columns }: { columns: number }) => (
  <tr className={classes['row']} aria-busy>
    {Array.from({ length: columns }, (_, at) => (
      <td key={at}>
        <Skeleton height={12} />
      </td>
    ))}
  </tr>
)
