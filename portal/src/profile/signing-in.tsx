// The address and the password that the user signs in with. A new address counts once its link is followed.
import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useSessionStorage } from '@mantine/hooks'
import { changeEmailRoute, changePasswordRoute } from '@pharos/contract/account'
import type { User } from '@pharos/contract/session'
import { passwordHint } from '@pharos/contract/password'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { CurrentPassword } from './current-password.tsx'

/** The lifetime of a confirmation link, as confirmEmailRoute documents it. */
const linkLifetimeMs = 24 * 3_600_000

type PendingEmail = { readonly userId: number; readonly email: string; readonly at: string }

export function SigningIn({ user }: { user: User }) {
  const [pending, setPending] = useSessionStorage<PendingEmail | null>({
    key: 'pharos-pending-email',
    defaultValue: null,
    getInitialValueInEffect: false,
  })
  return (
    <Section title="Sign-in">
      <Stack gap="sm">
        <Text size="sm">
          You sign in with <b>{user.email}</b> and a password.
        </Text>
        {pending && isPending(pending, user) && <PendingNotice pending={pending} />}
        <Group>
          <ChangePassword />
          <ChangeEmail
            email={user.email}
            onRequested={(email) => setPending({ userId: user.id, email, at: new Date().toISOString() })}
          />
        </Group>
      </Stack>
    </Section>
  )
}

const expiryOf = ({ at }: PendingEmail): string =>
  new Date(new Date(at).getTime() + linkLifetimeMs).toISOString()

/** The API does not report a pending change: this tab remembers its own. */
function isPending(pending: PendingEmail, { id, email }: User): boolean {
  const hasExpired = new Date(expiryOf(pending)) <= new Date()
  return pending.userId === id && pending.email.toLowerCase() !== email.toLowerCase() && !hasExpired
}

const PendingNotice = ({ pending }: { pending: PendingEmail }) => (
  <Alert color="info" title={`Confirm ${pending.email}`}>
    <Text size="sm">
      We sent a link to that address; it expires <Time at={expiryOf(pending)} />. Until then, keep signing in
      with your current address. No e-mail? Check the spelling and try again.
    </Text>
  </Alert>
)

const ChangePassword = () => (
  <Dialog
    title="Change password"
    action="Change password"
    initialValues={{ current_password: '', new_password: '' }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        Change password
      </Button>
    )}
    onSubmit={async (values) => {
      await session.replace(changePasswordRoute, values)
      notifySuccess('Password changed. Other sessions were signed out.')
    }}
  >
    {(fields) => (
      <>
        <CurrentPassword data-autofocus {...fields.getInputProps('current_password')} />
        <PasswordInput
          label="New password"
          description={passwordHint}
          autoComplete="new-password"
          required
          {...fields.getInputProps('new_password')}
        />
        <Text size="xs" c="dimmed">
          This signs you out everywhere else.
        </Text>
      </>
    )}
  </Dialog>
)

const ChangeEmail = ({ email, onRequested }: { email: string; onRequested: (email: string) => void }) => (
  <Dialog
    title="Change e-mail address"
    action="Send link"
    initialValues={{ email: '', current_password: '' }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        Change e-mail
      </Button>
    )}
    onSubmit={async (values) => {
      await call(changeEmailRoute, { body: values })
      onRequested(values.email.trim())
      notifySuccess(`Check ${values.email} for a confirmation link.`)
    }}
  >
    {(fields) => (
      <>
        <Text size="sm">Current address: {email}</Text>
        <TextInput
          label="New address"
          type="email"
          autoComplete="email"
          required
          data-autofocus
          {...fields.getInputProps('email')}
        />
        <CurrentPassword {...fields.getInputProps('current_password')} />
        <Text size="xs" c="dimmed">
          Confirming the new address signs you out everywhere.
        </Text>
      </>
    )}
  </Dialog>
)
