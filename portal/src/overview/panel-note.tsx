// A panel of the overview that cannot show what it is for, and why.
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Section } from '../ui/section.tsx'

type Props = { readonly title: string; readonly children: ReactNode }

export const PanelNote = ({ title, children }: Props) => (
  <Section title={title} fill>
    <Text size="sm" c="dimmed" component="div" role="note">
      {children}
    </Text>
  </Section>
)
