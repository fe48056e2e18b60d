// The frame of a page: its title, which is also that of the window, what can be done, and the content.
import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

type PageProps = { title: string; note?: ReactNode; actions?: ReactNode; children: ReactNode }

export function Page({ title, note, actions, children }: PageProps) {
  useDocumentTitle(`${title} · Pharos`)
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1}>{title}</Title>
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
