// A page whose record is not loaded yet: a placeholder, or the error with Retry.
import { Skeleton } from '@mantine/core'
import { Page } from './page.tsx'
import { Problem } from './problem.tsx'

type PendingPageProps = {
  readonly title: string
  readonly answer: { readonly error: unknown; readonly refetch: () => unknown }
}

export const PendingPage = ({ title, answer }: PendingPageProps) => (
  <Page title={title}>
    {answer.error ? (
      <Problem error={answer.error} retry={() => answer.refetch()} />
    ) : (
      <Skeleton height={240} radius="lg" />
    )}
  </Page>
)
