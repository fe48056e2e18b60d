// Names and values in the side panel of a list.
import type { ReactNode } from 'react'
import classes from './list.module.css'

/** A fact without a name takes the whole width. */
export const PanelFacts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <div className={classes['facts']}>
    {facts
      .filter(([, value]) => value !== '' && value !== null && value !== undefined)
      .map(([name, value]) => (
        <div key={name} className={classes['fact']}>
          {name !== '' && <div className={classes['factName']}>{name}</div>}
          <div className={classes['factValue']}>{value}</div>
        </div>
      ))}
  </div>
)
