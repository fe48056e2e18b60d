// Names and values of one thing, as a description list.
import type { ReactNode } from 'react'
import classes from './facts.module.css'

/** A value of undefined or an empty text leaves the fact out; null shows a dash. A fact without a label is as wide as the list. */
export type Fact = readonly [label: string, value: ReactNode]

export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className={classes['facts']}>
    {facts
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([label, value]) => (
        <div key={label} className={classes['fact']} data-wide={label === '' || undefined}>
          {label !== '' && <dt>{label}</dt>}
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
  </dl>
)
