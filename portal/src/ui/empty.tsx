// The empty state of a page or list: its reason, and what to do.
import { Center, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Center py="xl">
      <Stack gap="xs" align="center" maw={440} ta="center">
        <Title order={2} size="h3">
          {title}
        </Title>
        <Text size="sm" c="dimmed" component="div">
          {children}
        </Text>
      </Stack>
    </Center>
  )
}
