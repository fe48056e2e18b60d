// Signing in: e-mail and password, then the code of the second factor where there is one.
import { Alert, Anchor, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { session } from '../api/session.ts'
import { useSession } from '../shell/use-session.ts'
import { Problem } from '../ui/problem.tsx'
import { AloneFrame } from './frame.tsx'
import { SubmitButton } from './submit-button.tsx'

const asksForCode = (error: unknown) => error instanceof ProblemError && error.problem.code === 'otp_required'

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const state = useSession()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [otp, setOtp] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const signIn = useMutation({
    mutationFn: () =>
      session.signIn({ email, password, ...(needsCode && otp !== '' ? { otp: otp.trim() } : {}) }),
    onSuccess: () => navigate({ to: to ?? '/' }),
    onError: (error) => asksForCode(error) && setNeedsCode(true),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    signIn.mutate()
  }
  const ended = state.kind === 'out' && state.reason === 'ended'
  return (
    <AloneFrame title="Sign in">
      <form onSubmit={submit}>
        <Stack>
          {ended && signIn.isIdle && (
            <Alert color="blue">Your session has ended. Sign in to go on where you were.</Alert>
          )}
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {needsCode && (
            <TextInput
              label="Code of the second factor"
              description="Six digits of your authenticator, or a recovery code"
              autoComplete="one-time-code"
              inputMode="text"
              required
              autoFocus
              value={otp}
              onChange={(event) => setOtp(event.currentTarget.value)}
            />
          )}
          {signIn.error && !(asksForCode(signIn.error) && otp === '') && <Problem error={signIn.error} />}
          <SubmitButton error={signIn.error} isPending={signIn.isPending}>
            Sign in
          </SubmitButton>
          <Text size="sm">
            <Anchor component={Link} to="/reset-password">
              Forgotten the password?
            </Anchor>
          </Text>
        </Stack>
      </form>
    </AloneFrame>
  )
}
