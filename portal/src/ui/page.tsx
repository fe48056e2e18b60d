// The frame of a page: title (also of the window), actions and content. After navigation the title has the focus, so
// that a screen reader announces it.
import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useEffect, useRef, type ReactNode } from 'react'
import { isTyping } from './key-events.ts'
import classes from './page.module.css'

type PageProps = { title: string; note?: ReactNode; actions?: ReactNode; children: ReactNode }

/** The first page keeps the browser's focus. */
let isFirst = true

export function Page({ title, note, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useDocumentTitle(`${title} · Pharos`)
  useEffect(() => {
    if (!isFirst && !isTyping(document.activeElement)) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <Stack gap="md" className={classes['page']!} data-page>
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1} ref={heading} tabIndex={-1} className={classes['title']!}>
            {title}
          </Title>
          {note !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              {note}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
