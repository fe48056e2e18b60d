// Shown in place of a page: while it loads, if it failed, if its address is unknown or not open to the user.
import { Anchor, Container, Skeleton, Stack, Text } from '@mantine/core'
import { isConnectionError } from '../api/connection.ts'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { PageUnreachable } from './connection-banner.tsx'
import { words } from './words.ts'

const { states: t } = words

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
  <Page title={t.notFound}>
    <Stack gap={4}>
      <Text size="sm">{t.notFoundText}</Text>
      <Anchor href="/">{t.toOverview}</Anchor>
    </Stack>
  </Page>
)

/** The user's role does not open the page. */
export const RoleMissing = ({ label, role }: { label: string; role: 'admin' | 'staff' }) => (
  <Page title={label}>
    <Empty title={role === 'staff' ? t.staffOnly : t.adminsOnly}>
      {role === 'staff' ? t.staffOnlyText : t.adminsOnlyText}
    </Empty>
  </Page>
)
