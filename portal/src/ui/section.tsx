// A card with a heading, the part that a page is made of.
import { Card } from '@mantine/core'
import { useId, type ReactNode } from 'react'
import classes from './section.module.css'

type SectionProps = {
  /** Text, or a link whose text is the title. */
  readonly title: ReactNode
  /** Beside the title: a count, a state. */
  readonly note?: ReactNode
  readonly actions?: ReactNode
  /** As high as its row. */
  readonly fill?: boolean
  /** The content reaches the edges of the card: a table, a map. */
  readonly flush?: boolean
  readonly children: ReactNode
}

export function Section({ title, note, actions, fill = false, flush = false, children }: SectionProps) {
  const id = useId()
  return (
    <Card component="section" aria-labelledby={id} padding={0} {...(fill ? { h: '100%' } : {})}>
      <header className={classes['head']}>
        <h2 id={id} className={classes['title']}>
          {title}
        </h2>
        {note}
        {actions !== undefined && <div className={classes['actions']}>{actions}</div>}
      </header>
      <div className={classes['body']} data-flush={flush || undefined}>
        {children}
      </div>
    </Card>
  )
}
