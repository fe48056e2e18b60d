// The frame of pages that stand alone: signing in, and what a link of a mail leads to.
import { Card, Center, Stack, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

export function AloneFrame({ title, children }: { title: string; children: ReactNode }) {
  useDocumentTitle(`${title} · Pharos`)
  return (
    <Center mih="100dvh" p="md" component="main">
      <Card w="100%" maw={400}>
        <Stack>
          <Title order={1}>{title}</Title>
          {children}
        </Stack>
      </Card>
    </Center>
  )
}

/** The token of a mail's link: behind the `#`, so that it is in no log; it leaves the address bar at once. */
const token = location.hash.slice(1)
if (/^\/(confirm-email|reset-password|invitation)$/.test(location.pathname) && token !== '')
  history.replaceState(history.state, '', location.pathname)

export const tokenOfLink = (): string => token
