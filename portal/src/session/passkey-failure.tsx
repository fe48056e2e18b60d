// A passkey that was not accepted, by the server or by the browser.
import { Alert } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { isConnectionError } from '../api/connection.ts'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'

const refusals = ['invalid_credentials', 'otp_required']

export function PasskeyFailure({ error }: { readonly error: unknown }) {
  const isRefused = error instanceof ProblemError && refusals.includes(error.problem.code)
  if (!isRefused && (error instanceof ProblemError || isConnectionError(error)))
    return <Problem error={error} />
  return (
    <Alert color="bad" role="alert" title={words.passkeyFailed}>
      {words.passkeyFailedText}
    </Alert>
  )
}
