// What is shown in the place of a page: while it loads, where it failed, where there is none.
import { Anchor, Container, Skeleton, Stack } from '@mantine/core'
import { isAway } from '../session/away.ts'
import { PageAway } from '../session/away-banner.tsx'
import { Empty } from '../ui/empty.tsx'
import { Problem } from '../ui/problem.tsx'

export const PageWaiting = () => (
  <Stack aria-busy>
    <Skeleton height={24} width={240} />
    <Skeleton height={120} />
    <Skeleton height={240} />
  </Stack>
)

export const PageFailed = ({ error }: { error: unknown }) =>
  isAway(error) ? (
    <PageAway error={error} />
  ) : (
    <Container py="md">
      <Problem error={error} />
    </Container>
  )

export const NotFound = () => (
  <Container py="xl">
    <Empty title="There is nothing at this address">
      It may belong to another team of yours: switch the team and follow the link again, or go to the{' '}
      <Anchor href="/">overview</Anchor>.
    </Empty>
  </Container>
)
