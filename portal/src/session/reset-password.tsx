// A forgotten password: asking for the mail, and the link in it.
import { Alert, Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { requestPasswordResetRoute, resetPasswordRoute } from '@pharos/contract/account'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { callAsGuest } from '../api/call.ts'
import { fieldError, Problem } from '../ui/problem.tsx'
import { AloneFrame, tokenOfLink } from './frame.tsx'
import { SubmitButton } from './submit-button.tsx'

export const ResetPassword = () => (
  <AloneFrame title="Reset your password">
    {tokenOfLink() === '' ? <AskForMail /> : <ChooseNew token={tokenOfLink()} />}
  </AloneFrame>
)

function AskForMail() {
  const [email, setEmail] = useState('')
  const ask = useMutation({ mutationFn: () => callAsGuest(requestPasswordResetRoute, { body: { email } }) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    ask.mutate()
  }
  if (ask.isSuccess)
    return (
      <Alert color="teal">
        If there is an account with {email}, a mail is on its way. Its link works for an hour.
      </Alert>
    )
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        {ask.error && <Problem error={ask.error} />}
        <SubmitButton error={ask.error} isPending={ask.isPending}>
          Send me a link
        </SubmitButton>
        <Anchor component={Link} to="/sign-in" size="sm">
          Back to signing in
        </Anchor>
      </Stack>
    </form>
  )
}

function ChooseNew({ token }: { token: string }) {
  const [password, setPassword] = useState('')
  const reset = useMutation({
    mutationFn: () => callAsGuest(resetPasswordRoute, { body: { token, new_password: password } }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    reset.mutate()
  }
  if (reset.isSuccess)
    return (
      <>
        <Alert color="teal">
          The password of {reset.data.body.email} was changed. All sessions were ended.
        </Alert>
        <Button component={Link} to="/sign-in">
          Sign in
        </Button>
      </>
    )
  return (
    <form onSubmit={submit}>
      <Stack>
        <PasswordInput
          label="New password"
          description="12 characters or more"
          autoComplete="new-password"
          required
          autoFocus
          value={password}
          error={fieldError(reset.error, 'new_password')}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {reset.error && <Problem error={reset.error} />}
        <Text size="xs" c="dimmed">
          The second factor stays as it is.
        </Text>
        <SubmitButton error={reset.error} isPending={reset.isPending}>
          Set the password
        </SubmitButton>
      </Stack>
    </form>
  )
}
