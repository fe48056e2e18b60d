// A table of the report.
import type { ReactNode } from 'react'
import classes from './reports.module.css'

type Cell = { readonly content: ReactNode; readonly isNumber?: boolean; readonly isMono?: boolean }

type ReportTableProps = {
  /** The name of the table: on a phone it is scrolled. */
  readonly label: string
  readonly head: readonly { readonly title: string; readonly isNumber?: boolean }[]
  readonly rows: readonly { readonly key: string; readonly cells: readonly Cell[] }[]
}

export const ReportTable = ({ label, head, rows }: ReportTableProps) => (
  <div className={classes['scroll']} role="group" aria-label={label} tabIndex={0}>
    <table className={classes['table']}>
      <thead>
        <tr>
          {head.map(({ title, isNumber }) => (
            <th key={title} scope="col" data-number={isNumber || undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map(({ content, isNumber, isMono }, at) => (
              <td
                key={at}
                data-number={isNumber || undefined}
                className={isMono ? classes['mono'] : undefined}
              >
                {content}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
