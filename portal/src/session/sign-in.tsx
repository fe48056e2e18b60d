// Sign-in: e-mail and password, then the code of the second factor if the account has one.
import { Alert, PasswordInput, Text, TextInput } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { session } from '../api/session.ts'
import { useSession } from '../api/use-session.ts'
import { Form, useRequestForm } from '../ui/form.tsx'
import { TextLink } from '../ui/link.tsx'
import { GuestPage } from './guest-page.tsx'

const asksForCode = (error: unknown) => error instanceof ProblemError && error.problem.code === 'otp_required'

type Credentials = { readonly email: string; readonly password: string; readonly otp: string }

/**
 * Signs in. Returns `needs_code` for the first answer that requires a code, which is not an error. Throws any other
 * problem.
 */
async function signIn({ email, password, otp }: Credentials): Promise<'signed_in' | 'needs_code'> {
  try {
    await session.signIn({ email, password, ...(otp === '' ? {} : { otp: otp.trim() }) })
    return 'signed_in'
  } catch (error) {
    if (asksForCode(error) && otp === '') return 'needs_code'
    throw error
  }
}

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const state = useSession()
  const [needsCode, setNeedsCode] = useState(false)
  const form = useRequestForm({
    initialValues: { email: '', password: '', otp: '' },
    request: signIn,
    onSuccess: (outcome) => (outcome === 'needs_code' ? setNeedsCode(true) : navigate({ href: to ?? '/' })),
  })
  const { fields } = form
  const hasExpired = state.kind === 'out' && state.reason === 'expired'
  return (
    <GuestPage title="Sign in">
      <Form form={form} action="Sign in" size="sm">
        {hasExpired && form.error === null && (
          <Alert color="info">Your session has expired. Sign in to continue.</Alert>
        )}
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          autoFocus
          {...fields.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          {...fields.getInputProps('password')}
        />
        {needsCode && (
          <TextInput
            label="Authentication code"
            description="From your authenticator app, or a recovery code"
            autoComplete="one-time-code"
            inputMode="text"
            required
            autoFocus
            {...fields.getInputProps('otp')}
          />
        )}
      </Form>
      <Text size="sm">
        <TextLink to="/reset-password">Forgot password?</TextLink>
      </Text>
    </GuestPage>
  )
}
