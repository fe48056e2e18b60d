// The events of a chart whose labels have no room in it, as a list below.
import { useState } from 'react'
import { RowLink } from '../ui/row-link.tsx'
import type { ChartMark } from './chart-props.ts'
import classes from './charts.module.css'
import { words } from './words.ts'

type MarkListProps = {
  readonly marks: readonly ChartMark[]
  readonly timeText: (time: number) => string
}

const shownAtFirst = 3

export function MarkList({ marks, timeText }: MarkListProps) {
  const [isWhole, setWhole] = useState(false)
  if (marks.length === 0) return null
  const sorted = marks.toSorted((a, b) => a.at - b.at)
  const shown = isWhole ? sorted : sorted.slice(0, shownAtFirst)
  return (
    <div className={classes['marks']} role="group" aria-label={words.marks}>
      <ul>
        {shown.map(({ at, label, href }, place) => (
          <li key={`${at} ${label} ${place}`}>
            <span className={classes['markTime']}>{timeText(at)}</span>{' '}
            {href === undefined ? label : <RowLink to={href}>{label}</RowLink>}
          </li>
        ))}
      </ul>
      {marks.length > shownAtFirst && (
        <button
          type="button"
          className={classes['button']}
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? words.fewerMarks : words.moreMarks(marks.length - shownAtFirst)}
        </button>
      )}
    </div>
  )
}
