// What one signs in with: the address and the password. A change of the address waits for a link to be followed.
import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useSessionStorage } from '@mantine/hooks'
import { changeEmailRoute, changePasswordRoute } from '@pharos/contract/account'
import type { User } from '@pharos/contract/session'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { fieldError, tell } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { CurrentPassword } from './current-password.tsx'
import { Section } from './section.tsx'

/** As confirmEmail says of its mails. */
const linkLivesMs = 24 * 3_600_000

type PendingEmail = { readonly userId: number; readonly email: string; readonly at: string }

export function SigningIn({ user }: { user: User }) {
  const [pending, setPending] = useSessionStorage<PendingEmail | null>({
    key: 'pharos-pending-email',
    defaultValue: null,
    getInitialValueInEffect: false,
  })
  return (
    <Section title="Signing in">
      <Stack gap="sm">
        <Text size="sm">
          With <b>{user.email}</b> and a password.
        </Text>
        {pending && isWaiting(pending, user) && <Waiting pending={pending} />}
        <Group>
          <ChangePassword />
          <ChangeEmail
            email={user.email}
            onAsked={(email) => setPending({ userId: user.id, email, at: new Date().toISOString() })}
          />
        </Group>
      </Stack>
    </Section>
  )
}

const endOf = ({ at }: PendingEmail): string => new Date(new Date(at).getTime() + linkLivesMs).toISOString()

/** The API tells nobody of a change that waits: this tab remembers what was asked for in it. */
function isWaiting(pending: PendingEmail, { id, email }: User): boolean {
  const isOver = new Date(endOf(pending)) <= new Date()
  return pending.userId === id && pending.email.toLowerCase() !== email.toLowerCase() && !isOver
}

function Waiting({ pending }: { pending: PendingEmail }) {
  return (
    <Alert color="blue" title={`${pending.email} waits to be confirmed`}>
      <Text size="sm">
        Follow the link in the mail there until <Time at={endOf(pending)} />. Until then you sign in with the
        old address, which was told of the change. No mail? Look at the spelling, and ask again.
      </Text>
    </Alert>
  )
}

const noPasswords = { current_password: '', new_password: '' }

function ChangePassword() {
  const [draft, setDraft] = useState(noPasswords)
  return (
    <Dialog
      title="Change the password"
      action="Change it"
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          Change password
        </Button>
      )}
      onClose={() => setDraft(noPasswords)}
      onSubmit={async () => {
        await session.replace(changePasswordRoute, draft)
        tell('The password was changed. All other sessions were signed out.')
      }}
    >
      {(error) => (
        <>
          <CurrentPassword
            first
            value={draft.current_password}
            onChange={(current_password) => setDraft({ ...draft, current_password })}
          />
          <PasswordInput
            label="New password"
            description="12 to 128 characters; no pattern, not your address, and none that many people have"
            autoComplete="new-password"
            required
            value={draft.new_password}
            error={fieldError(error, 'new_password')}
            onChange={(event) => setDraft({ ...draft, new_password: event.currentTarget.value })}
          />
          <Text size="xs" c="dimmed">
            All your other sessions are signed out.
          </Text>
        </>
      )}
    </Dialog>
  )
}

const noEmail = { email: '', current_password: '' }

function ChangeEmail({ email, onAsked }: { email: string; onAsked: (email: string) => void }) {
  const [draft, setDraft] = useState(noEmail)
  return (
    <Dialog
      title="Change the e-mail address"
      action="Send a link"
      trigger={(open) => (
        <Button variant="default" onClick={open}>
          Change e-mail
        </Button>
      )}
      onClose={() => setDraft(noEmail)}
      onSubmit={async () => {
        await call(changeEmailRoute, { body: draft })
        onAsked(draft.email.trim())
        tell(
          `A link was sent to ${draft.email}. Following it changes the address and signs you out everywhere.`,
        )
      }}
    >
      {(error) => (
        <>
          <Text size="sm">It is {email} now.</Text>
          <TextInput
            label="New address"
            type="email"
            autoComplete="email"
            required
            data-autofocus
            value={draft.email}
            error={fieldError(error, 'email')}
            onChange={(event) => setDraft({ ...draft, email: event.currentTarget.value })}
          />
          <CurrentPassword
            value={draft.current_password}
            onChange={(current_password) => setDraft({ ...draft, current_password })}
          />
        </>
      )}
    </Dialog>
  )
}
