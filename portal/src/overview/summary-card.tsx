// A card of the overview: a title, a link to everything, and rows of one line each.
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Section } from '../ui/section.tsx'
import classes from './overview.module.css'

type SummaryCardProps = { readonly title: string; readonly link?: ReactNode; readonly children: ReactNode }

export const SummaryCard = ({ title, link, children }: SummaryCardProps) => (
  <Section title={title} actions={link !== undefined && <span className={classes['all']}>{link}</span>}>
    {children}
  </Section>
)

export const Remark = ({ children }: { children: ReactNode }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
)

/** `link` comes first; the rest is cut if there is no room. */
export const Row = ({ link, children }: { link: ReactNode; children?: ReactNode }) => (
  <li className={classes['line']}>
    {link}
    {children}
  </li>
)

export const Rows = ({ children }: { children: ReactNode }) => (
  <ul className={classes['lines']}>{children}</ul>
)
