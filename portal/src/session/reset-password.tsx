// A forgotten password: requesting the e-mail, and the page that its link opens.
import { Alert, Text } from '@mantine/core'
import { requestPasswordResetRoute, resetPasswordRoute } from '@pharos/contract/session/account'
import { passwordHint } from '@pharos/contract/session/password'
import { callAsGuest } from '../api/call.ts'
import { email, password } from '../ui/form-text-widgets.tsx'
import { Field, Form, useRequestForm } from '../ui/form.tsx'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { GuestPage, tokenOfLink } from './guest-page.tsx'
import { words } from './words.ts'

const requestFields = {
  email: email({ label: words.email, help: words.resetHelp, autoComplete: 'username' }),
}
const passwordFields = {
  new_password: password({
    label: words.newPassword,
    help: `${passwordHint}.`,
    autoComplete: 'new-password',
  }),
}

export const ResetPassword = () => (
  <GuestPage title={words.resetTitle}>
    {tokenOfLink() === '' ? <RequestLink /> : <SetPassword token={tokenOfLink()} />}
  </GuestPage>
)

function RequestLink() {
  const form = useRequestForm({
    initialValues: { email: '' },
    route: requestPasswordResetRoute,
    declared: requestFields,
    request: (values) => callAsGuest(requestPasswordResetRoute, { body: values }),
  })
  const { fields, result } = form
  if (result) return <Alert color="ok">{words.linkSent(fields.values.email)}</Alert>
  return (
    <>
      <Form form={form} action={words.sendLink} fullWidth>
        <Field form={form} name="email" autoFocus />
      </Form>
      <TextLink to="/sign-in" size="sm">
        {words.backToSignIn}
      </TextLink>
    </>
  )
}

function SetPassword({ token }: { token: string }) {
  const form = useRequestForm({
    initialValues: { new_password: '' },
    route: resetPasswordRoute,
    declared: passwordFields,
    request: (values) => callAsGuest(resetPasswordRoute, { body: { token, ...values } }),
  })
  if (form.result)
    return (
      <>
        <Alert color="ok">{words.passwordChanged}</Alert>
        <ButtonLink to="/sign-in">{words.signIn}</ButtonLink>
      </>
    )
  return (
    <Form form={form} action={words.setPassword} fullWidth>
      <Field form={form} name="new_password" autoFocus />
      <Text size="xs" c="dimmed">
        {words.factorStays}
      </Text>
    </Form>
  )
}
