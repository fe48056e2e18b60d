// A card with a heading, the part that a page is made of.
import { Card, Group, Title } from '@mantine/core'
import type { ReactNode } from 'react'

type SectionProps = {
  readonly title: string
  readonly actions?: ReactNode
  /** As high as its row. */
  readonly fill?: boolean
  readonly children: ReactNode
}

export const Section = ({ title, actions, fill = false, children }: SectionProps) => (
  <Card component="section" aria-label={title} {...(fill ? { h: '100%' } : {})}>
    <Group justify="space-between" mb="xs">
      <Title order={2} size="md">
        {title}
      </Title>
      {actions}
    </Group>
    {children}
  </Card>
)
