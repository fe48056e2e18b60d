// Replaces the pages of a team that opens with its identity provider. The sign-in starts by itself once; if the provider does not answer, an admin opens the team
// with a recovery code.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { recoverSessionRoute } from '@pharos/contract/session/sso'
import { IconBuilding } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../api/call.ts'
import { session, StillSignedIn } from '../api/session.ts'
import { mayStartByItself } from '../api/single-sign-on.ts'
import { hasUnsaved } from '../api/unsaved.ts'
import { useUser } from '../api/use-session.ts'
import { text } from '../ui/form-text-widgets.tsx'
import { Field, Form, useRequestForm } from '../ui/form.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { usePolling } from '../ui/use-polling.ts'
import { SsoProblem } from './sso-problem.tsx'
import { retryGatedTeam, type Gate } from './team-gate.ts'
import { words } from './words.ts'

const { signInGate: t } = words

const pollMs = 1_000

export function SignInRequired({ provider }: Pick<Gate, 'provider'>) {
  const user = useUser()
  if (!user) return null
  const { current_team: team, teams } = user
  return (
    <Page title={t.title} note={team.name}>
      <Stack maw={640}>
        <Alert color="info" title={t.required(team.name)}>
          <Text size="sm">{provider === undefined ? t.without : t.text}</Text>
        </Alert>
        {provider === undefined ? <SignOut /> : <Continue provider={provider} teamId={team.id} />}
        {provider !== undefined && team.is_admin && <Recover teamId={team.id} />}
        {teams.some(({ id }) => id !== team.id) && (
          <Text size="sm" c="dimmed">
            {words.gate.others}
          </Text>
        )}
      </Stack>
    </Page>
  )
}

function Continue({ provider, teamId }: { readonly provider: string; readonly teamId: number }) {
  const start = useMutation({
    mutationFn: () =>
      session.startSingleSignOn({ provider, return_to: `${location.pathname}${location.search}` }),
  })
  const { mutate } = start
  // Once, so that a provider that refuses the person is not asked again and again.
  useEffect(() => {
    if (!hasUnsaved() && mayStartByItself(teamId)) mutate()
  }, [mutate, teamId])
  return (
    <>
      {start.error && <SsoProblem error={start.error} />}
      <Group>
        <Button
          leftSection={<IconBuilding size={16} />}
          loading={start.isPending || start.isSuccess}
          onClick={() => mutate()}
        >
          {words.singleSignOn}
        </Button>
      </Group>
    </>
  )
}

const SignOut = () => (
  <Group>
    <Button
      onClick={() =>
        void session
          .signOut()
          .catch((error: unknown) => notifyProblem(error instanceof StillSignedIn ? error.cause : error))
      }
    >
      {t.signOut}
    </Button>
  </Group>
)

const declared = {
  code: text({ label: t.code, help: t.codeHelp, required: true }),
}

function Recover({ teamId }: { readonly teamId: number }) {
  const form = useRequestForm({
    initialValues: { code: '' },
    route: recoverSessionRoute,
    declared,
    request: async ({ code }) =>
      (await call(recoverSessionRoute, { body: { team_id: teamId, code: code.trim() } })).body,
  })
  // The server may have cached the session for a moment.
  usePolling(form.result !== undefined, pollMs, retryGatedTeam)
  return (
    <Section title={t.recovery}>
      <Text size="sm" mb="xs">
        {t.recoveryText}
      </Text>
      <Form form={form} action={t.recover}>
        <Field form={form} name="code" />
      </Form>
    </Section>
  )
}
