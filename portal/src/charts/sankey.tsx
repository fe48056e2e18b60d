// Flows between columns, such as source AS, region and prefix. The layout library is loaded with the first diagram.
import { lazy, Suspense, useState } from 'react'
import { RowLink } from '../ui/row-link.tsx'
import classes from './charts.module.css'
import type { SankeyProps } from './sankey-layout.ts'
import { formatShare, formatValue } from './units.ts'
import { words } from './words.ts'

const Drawing = lazy(() => import('./sankey-drawing.tsx'))

/** Draws flows as bands between nodes, with a table of the same values. */
export function Sankey(props: SankeyProps) {
  const { label, flows, unit, height = 300 } = props
  const [isTable, setTable] = useState(false)
  if (flows.every(({ value }) => value <= 0)) return <p className={classes['none']}>{words.empty}</p>
  return (
    <figure className={classes['figure']} aria-label={label}>
      <Suspense fallback={<div style={{ height }} role="status" aria-label={words.loading} />}>
        <Drawing {...props} height={height} />
      </Suspense>
      <div className={classes['foot']}>
        <button
          type="button"
          className={classes['button']}
          aria-expanded={isTable}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? words.hideTable : words.showTable}
        </button>
      </div>
      {isTable && <FlowTable label={label} flows={flows} unit={unit} />}
    </figure>
  )
}

function FlowTable({ label, flows, unit }: Pick<SankeyProps, 'label' | 'flows' | 'unit'>) {
  const targets = new Set(flows.map(({ to }) => to))
  const total = flows.reduce((sum, { from, value }) => sum + (targets.has(from) ? 0 : value), 0)
  return (
    <div className={classes['tableArea']} tabIndex={0} role="group" aria-label={label}>
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">{words.from}</th>
            <th scope="col">{words.to}</th>
            <th scope="col" data-number>
              {words.value}
            </th>
            <th scope="col" data-number>
              {words.share}
            </th>
          </tr>
        </thead>
        <tbody>
          {flows.map(({ from, to, value, href }) => (
            <tr key={`${from} ${to}`}>
              <td>{href === undefined ? from : <RowLink to={href}>{from}</RowLink>}</td>
              <td>{to}</td>
              <td data-number>{formatValue(value, unit)}</td>
              <td data-number>{formatShare(value, total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
