// Why a section of the profile is not shown. A session of an identity provider opens none of them: the first says how to sign in, the others only that it is needed.
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
