// The page of an installation without an account: its operator creates the first one with the setup code.
import { Alert, Code, Stack, Text } from '@mantine/core'
import { createFirstAccountRoute, showSetupRoute } from '@pharos/contract/operator/setup'
import { passwordHint } from '@pharos/contract/session/password'
import { useQuery } from '@tanstack/react-query'
import { callAsGuest } from '../api/call.ts'
import { session } from '../api/session.ts'
import { GuestPage, tokenOfLink } from '../session/guest-page.tsx'
import { words as sessionWords } from '../session/words.ts'
import { email, password, text } from '../ui/form-text-widgets.tsx'
import { Field, Form, useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { Grid } from '../ui/page.tsx'
import { words } from './words.ts'

const { first: t } = words

const declared = {
  code: text({ label: t.code, autoComplete: 'off', mono: true, placeholder: 'k3mzq-7ahwd-xk5ve-2pjtn' }),
  provider: text({ label: t.provider, help: t.providerHelp, autoComplete: 'organization' }),
  first_name: text({ label: sessionWords.firstName, autoComplete: 'given-name' }),
  last_name: text({ label: sessionWords.lastName, autoComplete: 'family-name' }),
  email: email({ label: t.email, autoComplete: 'username' }),
  password: password({
    label: sessionWords.password,
    help: `${passwordHint}.`,
    autoComplete: 'new-password',
  }),
}

export function FirstAccountPage() {
  const setup = useQuery({
    queryKey: ['setup'],
    queryFn: async () => (await callAsGuest(showSetupRoute, {})).body,
  })
  return (
    <GuestPage title={t.title} name={t.product}>
      {setup.data?.open === false ? (
        <>
          <Alert color="ok">{t.closed}</Alert>
          <ButtonLink to="/sign-in">{sessionWords.signIn}</ButtonLink>
        </>
      ) : (
        <FirstAccountForm />
      )}
    </GuestPage>
  )
}

function FirstAccountForm() {
  const form = useRequestForm({
    initialValues: {
      code: tokenOfLink(),
      provider: '',
      first_name: '',
      last_name: '',
      email: '',
      password: '',
    },
    route: createFirstAccountRoute,
    declared,
    async request(body) {
      await callAsGuest(createFirstAccountRoute, { body })
      await session.signIn({ email: body.email, password: body.password })
    },
    // The name of the provider is in the page itself.
    onSuccess: () => location.assign('/staff/setup'),
  })
  return (
    <Form form={form} action={t.create} fullWidth>
      <Text size="sm">{t.text}</Text>
      {!isSecureContext && <Alert color="warn">{t.insecure}</Alert>}
      <Field form={form} name="code" autoFocus={tokenOfLink() === ''} />
      <Stack gap={4}>
        <Text size="xs" c="dimmed">
          {t.whereText}
        </Text>
        <Code block>{t.command}</Code>
      </Stack>
      <Field form={form} name="provider" autoFocus={tokenOfLink() !== ''} />
      <Grid min={140}>
        <Field form={form} name="first_name" />
        <Field form={form} name="last_name" />
      </Grid>
      <Field form={form} name="email" />
      <Field form={form} name="password" />
    </Form>
  )
}
