// One part of the profile.
import { Card, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card component="section" aria-label={title}>
    <Text fw={600} mb="sm">
      {title}
    </Text>
    {children}
  </Card>
)
