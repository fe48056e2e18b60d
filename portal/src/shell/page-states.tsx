// Shown in place of a page: while it loads, if it failed, if its address is unknown or not open to the user.
import { Anchor, Container, Skeleton, Stack } from '@mantine/core'
import { isConnectionError } from '../api/connection.ts'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { PageUnreachable } from './connection-banner.tsx'

export const PageWaiting = () => (
  <Stack aria-busy>
    <Skeleton height={24} width={240} />
    <Skeleton height={120} />
    <Skeleton height={240} />
  </Stack>
)

export const PageFailed = ({ error }: { error: unknown }) =>
  isConnectionError(error) ? (
    <PageUnreachable error={error} />
  ) : (
    <Container py="md">
      <Problem error={error} />
    </Container>
  )

export const NotFound = () => (
  <Container py="xl">
    <Empty title="Page not found">
      It may belong to another of your teams. Switch teams and open the link again, or go to the{' '}
      <Anchor href="/">overview</Anchor>.
    </Empty>
  </Container>
)

/** The user's role does not open the page. */
export const RoleMissing = ({ label, role }: { label: string; role: 'admin' | 'staff' }) => (
  <Page title={label}>
    <Empty title={role === 'staff' ? 'For provider staff only' : 'For team admins only'}>
      {role === 'staff'
        ? 'This page is for staff of your provider.'
        : 'Ask an admin of your team for access.'}
    </Empty>
  </Page>
)
