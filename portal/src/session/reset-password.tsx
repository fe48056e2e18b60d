// A forgotten password: requesting the e-mail, and the page that its link opens.
import { Alert, PasswordInput, Text, TextInput } from '@mantine/core'
import { requestPasswordResetRoute, resetPasswordRoute } from '@pharos/contract/account'
import { passwordHint } from '@pharos/contract/password'
import { callAsGuest } from '../api/call.ts'
import { Form, useRequestForm } from '../ui/form.tsx'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { GuestPage, tokenOfLink } from './guest-page.tsx'

export const ResetPassword = () => (
  <GuestPage title="Reset your password">
    {tokenOfLink() === '' ? <RequestLink /> : <SetPassword token={tokenOfLink()} />}
  </GuestPage>
)

function RequestLink() {
  const form = useRequestForm({
    initialValues: { email: '' },
    request: (values) => callAsGuest(requestPasswordResetRoute, { body: values }),
  })
  const { fields, result } = form
  if (result)
    return (
      <Alert color="ok">
        If an account exists for {fields.values.email}, we sent a reset link. It expires in 1 hour.
      </Alert>
    )
  return (
    <>
      <Form form={form} action="Send reset link" size="sm">
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          autoFocus
          {...fields.getInputProps('email')}
        />
      </Form>
      <TextLink to="/sign-in" size="sm">
        Back to sign-in
      </TextLink>
    </>
  )
}

function SetPassword({ token }: { token: string }) {
  const form = useRequestForm({
    initialValues: { new_password: '' },
    request: (values) => callAsGuest(resetPasswordRoute, { body: { token, ...values } }),
  })
  if (form.result)
    return (
      <>
        <Alert color="ok">Password changed. You were signed out everywhere.</Alert>
        <ButtonLink to="/sign-in">Sign in</ButtonLink>
      </>
    )
  return (
    <Form form={form} action="Set new password" size="sm">
      <PasswordInput
        label="New password"
        description={passwordHint}
        autoComplete="new-password"
        required
        autoFocus
        {...form.fields.getInputProps('new_password')}
      />
      <Text size="xs" c="dimmed">
        Two-factor authentication stays on.
      </Text>
    </Form>
  )
}
