// The error of a section of the profile. If an identity provider opened the session, the first section explains how to sign in, and the others refer to it.
import { Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'

export function SectionProblem({ error, retry }: { readonly error: unknown; readonly retry: () => unknown }) {
  if (!(error instanceof ProblemError) || error.problem.code !== 'local_sign_in_required')
    return <Problem error={error} retry={retry} />
  return (
    <Text size="sm" c="dimmed">
      {words.needsLocal}
    </Text>
  )
}
