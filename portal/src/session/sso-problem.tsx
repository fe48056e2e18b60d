// Why single sign-on failed: one sentence, and the id of the request with which an admin finds the reason.
import { Alert, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'

const { sso: t } = words

export function SsoProblem({ error }: { readonly error: unknown }) {
  if (!(error instanceof ProblemError) || error.problem.code !== 'sso_failed')
    return <Problem error={error} />
  const { detail, request_id: requestId } = error.problem
  return (
    <Alert color="bad" title={t.failed} role="alert">
      <Text size="sm">{detail}</Text>
      <Text size="xs" c="dimmed" mt={4}>
        {t.requestId} {requestId}
      </Text>
    </Alert>
  )
}
