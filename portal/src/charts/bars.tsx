// Shares of a total as horizontal bars, the largest first.
import { RowLink } from '../ui/row-link.tsx'
import type { ChartColor } from './chart-props.ts'
import classes from './charts.module.css'
import { colorVariable } from './inks.ts'
import { shareRows, type Share } from './shapes.ts'
import { formatValue, type Unit } from './units.ts'
import { words } from './words.ts'

type BarsProps = {
  readonly label: string
  readonly items: readonly Share[]
  readonly unit: Unit
  /** Set if the items are only a part of the total. */
  readonly total?: number
  readonly rowsMax?: number
  readonly color?: ChartColor
  /** Labels that are addresses, prefixes or ports. */
  readonly isMono?: boolean
  readonly emptyText?: string
}

/** Draws a row for each share, with its value and percent. */
export function Bars({
  label,
  items,
  unit,
  total,
  rowsMax = 5,
  color = 1,
  isMono = false,
  emptyText = words.empty,
}: BarsProps) {
  const rows = shareRows(items, rowsMax, total)
  if (rows.length === 0) return <p className={classes['none']}>{emptyText}</p>
  return (
    <ul className={classes['bars']} aria-label={label}>
      {rows.map(({ label: name, secondary, value, href, share, percent, isOthers }) => (
        <li key={name} data-others={isOthers || undefined}>
          <div className={classes['barText']}>
            <span className={classes['barLabel']}>
              <span className={isMono && !isOthers ? classes['mono'] : undefined}>
                {href === undefined ? name : <RowLink to={href}>{name}</RowLink>}
              </span>
              {secondary !== undefined && <span className={classes['secondary']}>{secondary}</span>}
            </span>
            <span className={classes['barValue']}>{formatValue(value, unit)}</span>
            <span className={classes['barShare']}>{share}</span>
          </div>
          <div className={classes['track']} aria-hidden>
            <span style={{ width: `${percent}%`, background: colorVariable(isOthers ? 8 : color) }} />
          </div>
        </li>
      ))}
    </ul>
  )
}
