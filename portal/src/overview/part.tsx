// A part of the overview: its title, a way to all of it, and rows of one line each.
import { Anchor, Card, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './overview.module.css'

type PartProps = { title: string; to?: string; search?: object; all?: string; children: ReactNode }

export const Part = ({ title, to, search, all = 'All', children }: PartProps) => (
  <Card component="section" aria-label={title}>
    <Group justify="space-between" mb="xs">
      <Text fw={600} component="h2" size="md">
        {title}
      </Text>
      {to !== undefined && (
        <Anchor
          component={Link}
          to={to as never}
          search={(search ?? {}) as never}
          size="sm"
          className={classes['all']!}
        >
          {all}
        </Anchor>
      )}
    </Group>
    {children}
  </Card>
)

export const Quiet = ({ children }: { children: ReactNode }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
)

/** What it is, a link to it; the rest beside it, cut where there is no room. */
export const Row = ({ link, children }: { link: ReactNode; children?: ReactNode }) => (
  <li className={classes['line']}>
    {link}
    {children}
  </li>
)

export const Rows = ({ children }: { children: ReactNode }) => (
  <ul className={classes['lines']}>{children}</ul>
)
