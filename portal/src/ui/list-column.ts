// A column of a list.
import type { ReactNode } from 'react'

export type Column<Row> = {
  readonly id: string
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** The server's key to order by; without it the column cannot be sorted. */
  readonly orderBy?: string
  readonly hidden?: boolean
  readonly align?: 'right'
  /** Stays in view at the right, on narrow screens too. */
  readonly pinned?: true
}

/** The order of the list, as the API writes it: `-start` is descending. */
export type Order = {
  readonly ordering: string | undefined
  readonly onOrdering: (ordering: string) => void
}
