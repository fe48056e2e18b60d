// A column of a list.
import type { ReactNode } from 'react'

export type Column<Row> = {
  readonly id: string
  readonly header: string
  /** One line; overflow is cut, and appears on hover and focus. */
  readonly cell: (row: Row) => ReactNode
  /** The server's key to order by; without it the column cannot be sorted. */
  readonly orderBy?: string
  /** The first click sorts by the largest or latest: rates, times, sizes. */
  readonly largestFirst?: boolean
  readonly hidden?: boolean
  readonly align?: 'right'
  /** Pixels, until a person changes it. */
  readonly width?: number
  /** Takes the remaining width; one column per list. */
  readonly grows?: boolean
  /** Its heading names the time zone. */
  readonly isTime?: true
  /** Stays in view at the right, on narrow screens too. */
  readonly pinned?: true
  /** Where the cell stands on the card that a phone shows for the row. */
  readonly card?: 'primary' | 'secondary' | 'state'
}
