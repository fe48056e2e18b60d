// The frame of pages outside the portal's own: sign-in, and the pages that links in e-mails open.
import { Alert, Card, Center, Stack, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

export function GuestPage({ title, children }: { title: string; children: ReactNode }) {
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

/** The token of an e-mailed link. It follows the `#`, so that no log holds it, and leaves the address bar at once. */
const token = location.hash.slice(1)
if (/^\/(confirm-email|reset-password|invitation)$/.test(location.pathname) && token !== '')
  history.replaceState(history.state, '', location.pathname)

export const tokenOfLink = (): string => token

export const IncompleteLink = () => (
  <Alert color="warn">This link is incomplete. Open the full link from the e-mail.</Alert>
)
