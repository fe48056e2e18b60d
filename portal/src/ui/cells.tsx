// The building blocks of cells in lists and tables. Lists render them by the hundred, so they are plain elements.
import type { ReactNode } from 'react'
import classes from './list.module.css'
import type { Column } from './list-column.ts'
import { Time } from './time.tsx'

/** Prefixes, addresses, ids: text that is compared character by character. */
export const Mono = ({ children }: { children: ReactNode }) => (
  <span className={classes['mono']}>{children}</span>
)

/** Secondary text: a value that is not set, or a remark beside a value. */
export const Dimmed = ({ children }: { children: ReactNode }) => (
  <span className={classes['dimmed']}>{children}</span>
)

/** The value, or a dash for an empty one. */
export const OrDash = ({ children }: { children: ReactNode }) =>
  children === '' || children === null || children === undefined ? <Dimmed>–</Dimmed> : children

/** The buttons of a row. */
export const RowActions = ({ children }: { children: ReactNode }) => (
  <div className={classes['actions']}>{children}</div>
)

type ColumnOptions = Omit<Partial<Column<never>>, 'id' | 'header' | 'cell'> & { readonly none?: string }

/** A column of times; `none` is the text for null. */
export const timeColumn = <Row,>(
  id: string,
  header: string,
  timeOf: (row: Row) => string | null,
  { none = '–', ...rest }: ColumnOptions = {},
): Column<Row> => ({
  id,
  header,
  width: 180,
  largestFirst: true,
  isTime: true,
  ...rest,
  cell: (row) => <Time at={timeOf(row)} none={none} />,
})

/** A column of ids or keys. */
export const monoColumn = <Row,>(
  id: string,
  header: string,
  textOf: (row: Row) => ReactNode,
  rest: Omit<ColumnOptions, 'none'> = {},
): Column<Row> => ({ id, header, ...rest, cell: (row) => <Mono>{textOf(row)}</Mono> })

/** The column of a row's buttons: always in view, on narrow screens too. */
export const actionsColumn = <Row,>(
  header: string,
  cell: (row: Row) => ReactNode,
  width = 90,
): Column<Row> => ({
  id: 'actions',
  header,
  align: 'right',
  pinned: true,
  width,
  cell,
})
