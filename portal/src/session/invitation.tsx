// The page that the link of an invitation opens: the team that invites, and the form for a new account if the user has no account yet.
import { Alert, Skeleton, Text } from '@mantine/core'
import {
  acceptInvitationRoute,
  showInvitationRoute,
  type Invitation,
} from '@pharos/contract/session/invitation'
import { describeRoles, rolesText } from '@pharos/contract/role'
import { passwordHint } from '@pharos/contract/session/password'
import { useQuery } from '@tanstack/react-query'
import { callAsGuest } from '../api/call.ts'
import { password, text } from '../ui/form-text-widgets.tsx'
import { Field, Form, useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { StartSingleSignOn } from './single-sign-on.tsx'
import { GuestPage, IncompleteLink, tokenOfLink } from './guest-page.tsx'
import { words } from './words.ts'

const { invitation: t } = words

const declared = {
  first_name: text({ label: words.firstName, autoComplete: 'given-name' }),
  last_name: text({ label: words.lastName, autoComplete: 'family-name' }),
  password: password({
    label: words.password,
    help: `${passwordHint}.`,
    autoComplete: 'new-password',
    required: true,
  }),
}

export function InvitationPage() {
  const token = tokenOfLink()
  const answer = useQuery({
    queryKey: ['invitation', token],
    queryFn: async () => (await callAsGuest(showInvitationRoute, { body: { token } })).body,
    staleTime: Infinity,
    enabled: token !== '',
  })
  return (
    <GuestPage title={answer.data ? t.join(answer.data.team_name) : t.title}>
      {token === '' && <IncompleteLink />}
      {answer.isLoading && <Skeleton height={120} />}
      {answer.error && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.data && <Accept token={token} invitation={answer.data} />}
    </GuestPage>
  )
}

function Accept({ token, invitation }: { token: string; invitation: Invitation }) {
  const { email, team_name, invited_by, roles, expires, has_account, sso } = invitation
  const form = useRequestForm({
    initialValues: { first_name: '', last_name: '', password: '' },
    ...(has_account ? {} : { route: acceptInvitationRoute, declared }),
    request: (account) =>
      callAsGuest(acceptInvitationRoute, { body: { token, ...(has_account ? {} : account) } }),
  })
  if (form.result)
    return (
      <>
        <Alert color="ok">{t.joined(team_name)}</Alert>
        <ButtonLink to="/sign-in">{words.signIn}</ButtonLink>
      </>
    )
  const about = (
    <>
      <Text size="sm">
        {t.text(invited_by, email, rolesText(roles))} {t.expires} <Time at={expires} />.
      </Text>
      <details>
        <Text size="sm" component="summary">
          {t.rights}
        </Text>
        <Text size="sm" c="dimmed" mt={4}>
          {describeRoles(roles)}
        </Text>
      </details>
    </>
  )
  if (sso?.required)
    return (
      <>
        {about}
        <Text size="sm">{t.byProvider}</Text>
        <StartSingleSignOn email={email} returnTo={undefined} />
      </>
    )
  return (
    <Form form={form} action={has_account ? t.accept : t.create} fullWidth>
      {about}
      {sso !== null && (
        <>
          <Text size="sm">{t.byProvider}</Text>
          <StartSingleSignOn email={email} returnTo={undefined} />
          <Text size="sm" c="dimmed">
            {t.byPassword}
          </Text>
        </>
      )}
      {has_account ? (
        <Text size="sm">{t.hasAccount}</Text>
      ) : (
        <>
          <Field form={form} name="first_name" />
          <Field form={form} name="last_name" />
          <Field form={form} name="password" />
        </>
      )}
    </Form>
  )
}
