// The own account: who one is, the password, the second factor, the sessions that are open.
import { Button, Card, Group, PasswordInput, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { changeEmail, changePassword, updateUser } from '@pharos/contract/account'
import type { User } from '@pharos/contract/session'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { useUser } from '../shell/use-session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Page } from '../ui/page.tsx'
import { fieldError, Problem, tell } from '../ui/problem.tsx'
import { SecondFactorCard } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'

export function Profile() {
  const user = useUser()
  if (!user) return null
  return (
    <Page title="Profile" note={user.email}>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Names user={user} />
        <Stack>
          <Section title="Signing in">
            <Group>
              <ChangePassword />
              <ChangeEmail email={user.email} />
            </Group>
          </Section>
          <SecondFactorCard />
        </Stack>
      </SimpleGrid>
      <Sessions />
    </Page>
  )
}

export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card component="section" aria-label={title}>
    <Text fw={600} mb="sm">
      {title}
    </Text>
    {children}
  </Card>
)

function Names({ user }: { user: User }) {
  const { first_name, last_name, display_name, country } = user
  const [draft, setDraft] = useState({ first_name, last_name, display_name, country })
  const save = useMutation({
    mutationFn: () => call(updateUser, { body: draft }),
    onSuccess: ({ body }) => {
      session.takeUser(body)
      tell('Saved.')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const field = (name: keyof typeof draft, label: string, rest: object = {}) => (
    <TextInput
      label={label}
      value={draft[name]}
      error={fieldError(save.error, name)}
      onChange={(event) => setDraft({ ...draft, [name]: event.currentTarget.value })}
      {...rest}
    />
  )
  return (
    <Section title="You">
      <form onSubmit={submit}>
        <Stack gap="xs">
          {field('first_name', 'First name', { autoComplete: 'given-name' })}
          {field('last_name', 'Last name', { autoComplete: 'family-name' })}
          {field('display_name', 'Shown as')}
          {field('country', 'Country', { description: 'two capital letters, such as NL', maxLength: 2 })}
          {save.error && <Problem error={save.error} />}
          <Group>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

function ChangePassword() {
  const [draft, setDraft] = useState({ current_password: '', new_password: '' })
  return (
    <Dialog
      title="Change the password"
      action="Change it"
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          Change password
        </Button>
      )}
      onClose={() => setDraft({ current_password: '', new_password: '' })}
      onSubmit={async () => {
        const { body } = await call(changePassword, { body: draft, headers: session.cookieMode })
        session.take(body)
        tell('The password was changed; all other sessions were ended.')
      }}
    >
      {(error) => (
        <>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            data-autofocus
            value={draft.current_password}
            onChange={(event) => setDraft({ ...draft, current_password: event.currentTarget.value })}
          />
          <PasswordInput
            label="New password"
            description="12 characters or more"
            autoComplete="new-password"
            required
            value={draft.new_password}
            error={fieldError(error, 'new_password')}
            onChange={(event) => setDraft({ ...draft, new_password: event.currentTarget.value })}
          />
        </>
      )}
    </Dialog>
  )
}

function ChangeEmail({ email }: { email: string }) {
  const [draft, setDraft] = useState({ email: '', current_password: '' })
  return (
    <Dialog
      title="Change the e-mail address"
      action="Send a link"
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          Change e-mail
        </Button>
      )}
      onSubmit={async () => {
        await call(changeEmail, { body: draft })
        tell(`A link was sent to ${draft.email}. The address changes when it is followed.`)
      }}
    >
      {(error) => (
        <>
          <Text size="sm">It is {email} now.</Text>
          <TextInput
            label="New address"
            type="email"
            required
            data-autofocus
            value={draft.email}
            error={fieldError(error, 'email')}
            onChange={(event) => setDraft({ ...draft, email: event.currentTarget.value })}
          />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            value={draft.current_password}
            onChange={(event) => setDraft({ ...draft, current_password: event.currentTarget.value })}
          />
        </>
      )}
    </Dialog>
  )
}
