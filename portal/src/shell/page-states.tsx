// States that replace a page: loading, failed, unknown address, or not open to the user.
import { Anchor, Container, Skeleton, Stack, Text } from '@mantine/core'
import type { Grant } from '@pharos/contract/role'
import type { StaffGrant } from '@pharos/contract/staff-role'
import { isConnectionError } from '../api/connection.ts'
import { onlyWith } from '../api/use-grant.ts'
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

export const StaffOnly = ({ label }: { label: string }) => (
  <Page title={label}>
    <Empty title={t.staffOnly}>{t.staffOnlyText}</Empty>
  </Page>
)

/** The user's roles do not permit the page. */
export const GrantMissing = ({ label, grant }: { label: string; grant: Grant | StaffGrant }) => (
  <Page title={label}>
    <Empty title={t.grantMissing}>{onlyWith(grant)}</Empty>
  </Page>
)
