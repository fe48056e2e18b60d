// An empty place says what would be here, and what to do about it.
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
