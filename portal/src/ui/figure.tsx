// A key figure of a page: its name, its value, and a line that compares it.
import { Card } from '@mantine/core'
import type { ReactNode } from 'react'
import type { StateColor } from './status.tsx'
import classes from './figure.module.css'

type FigureProps = {
  readonly label: string
  /** Undefined: unknown, rendered as such. A link leads to exactly the counted rows. */
  readonly value: ReactNode
  /** After the value, smaller: "of 11". */
  readonly unit?: string
  readonly note?: ReactNode
  readonly color?: StateColor
}

export const Figure = ({ label, value, unit, note, color }: FigureProps) => (
  <Card padding={0} className={classes['figure']!} data-figure data-color={color}>
    <div className={classes['label']}>{label}</div>
    <div className={classes['value']}>
      {value ?? <span className={classes['unknown']}>Unknown</span>}
      {unit !== undefined && value !== undefined && <span className={classes['unit']}> {unit}</span>}
    </div>
    <div className={classes['note']}>{note}</div>
  </Card>
)
