// Names and values of one thing, as a description list.
import type { ReactNode } from 'react'
import classes from './facts.module.css'

/** A value of undefined leaves the fact out; null shows a dash. */
export type Fact = readonly [label: string, value: ReactNode]

export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className={classes['facts']}>
    {facts
      .filter(([, value]) => value !== undefined)
      .map(([label, value]) => (
        <div key={label} className={classes['fact']}>
          <dt>{label}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
  </dl>
)
