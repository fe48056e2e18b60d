// The frame of a page: title, state, actions and content. After navigation the title has the focus, so that a screen reader
// announces it.
import { Group, Stack, Title } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef, type ReactNode } from 'react'
import { isTyping } from './key-events.ts'
import { setPageTitle } from './page-title.ts'
import classes from './page.module.css'

type PageProps = {
  readonly title: string
  /** The title is a prefix, an address, an ASN or a name of a machine. */
  readonly mono?: boolean
  /** State pills beside the title. */
  readonly state?: ReactNode
  /** One line below the title. */
  readonly note?: ReactNode
  /** At most one primary action, on the right; further ones in a menu. */
  readonly actions?: ReactNode
  /** Fills large screens with further columns; other pages are as wide as can be read. */
  readonly wide?: boolean
  readonly children: ReactNode
}

/** The first page keeps the browser's focus. */
let isFirst = true

export function Page({ title, mono = false, state, note, actions, wide = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { href } = useLocation()
  useEffect(() => setPageTitle(title), [title])
  useEffect(() => {
    if (!isFirst && !isTyping(document.activeElement)) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <Stack gap="md" className={classes['page']!} data-page data-href={href} data-wide={wide || undefined}>
      <div className={classes['head']}>
        <div className={classes['titles']}>
          <Group gap="xs">
            <Title
              order={1}
              ref={heading}
              tabIndex={-1}
              className={classes['title']!}
              data-mono={mono || undefined}
            >
              {title}
            </Title>
            {state}
          </Group>
          {note !== undefined && <div className={classes['note']}>{note}</div>}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </div>
      {children}
    </Stack>
  )
}

/** The page kind "detail": pictures and tables at the left, facts at the right; below each other if there is no room. */
export const Columns = ({ rail, children }: { rail: ReactNode; children: ReactNode }) => (
  <div className={classes['columns']}>
    <Stack gap="md" className={classes['main']!}>
      {children}
    </Stack>
    <Stack gap="md" className={classes['rail']!}>
      {rail}
    </Stack>
  </div>
)

/** Cards side by side, as many as fit: `min` is the least width of one in pixels. */
export const Grid = ({ min = 240, children }: { min?: number; children: ReactNode }) => (
  <div className={classes['grid']} style={{ '--grid-min': `${min}px` } as React.CSSProperties}>
    {children}
  </div>
)
