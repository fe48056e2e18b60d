// The address and the password that the user signs in with. A new address counts once its link is followed.
import { Alert, Button, Group, Text } from '@mantine/core'
import { useSessionStorage } from '@mantine/hooks'
import { changeEmailRoute, changePasswordRoute } from '@pharos/contract/session/account'
import type { User } from '@pharos/contract/session/session'
import { passwordHint } from '@pharos/contract/session/password'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { email as emailField, password } from '../ui/form-text-widgets.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { FormSection } from '../ui/form.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'

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
    <FormSection title={words.signIn} help={words.signInHelp}>
      <Text size="sm">{words.signInWith(user.email)}</Text>
      {pending && isPending(pending, user) && <PendingNotice pending={pending} />}
      <Group>
        <ChangePassword />
        <ChangeEmail
          email={user.email}
          onRequested={(email) => setPending({ userId: user.id, email, at: new Date().toISOString() })}
        />
      </Group>
    </FormSection>
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
  <Alert color="info" title={words.confirm(pending.email)}>
    <Text size="sm">
      {words.linkExpires} <Time at={expiryOf(pending)} />. {words.untilConfirmed}
    </Text>
  </Alert>
)

const passwordFields = {
  current_password: password({ label: words.currentPassword, autoComplete: 'current-password' }),
  new_password: password({
    label: words.newPassword,
    help: `${passwordHint}.`,
    autoComplete: 'new-password',
  }),
}
const emailFields = {
  email: emailField({ label: words.newAddress, autoComplete: 'email' }),
  current_password: password({ label: words.currentPassword, autoComplete: 'current-password' }),
}

const ChangePassword = () => (
  <Dialog
    title={words.changePassword}
    action={words.changePassword}
    route={changePasswordRoute}
    declared={passwordFields}
    intro={<Text size="sm">{words.signsOutElsewhere}</Text>}
    initialValues={{ current_password: '', new_password: '' }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {words.changePassword}
      </Button>
    )}
    onSubmit={async (values) => {
      await session.replace(changePasswordRoute, values)
      notifySuccess(words.passwordChanged)
    }}
  />
)

const ChangeEmail = ({ email, onRequested }: { email: string; onRequested: (email: string) => void }) => (
  <Dialog
    title={words.changeEmailTitle}
    action={words.sendLink}
    route={changeEmailRoute}
    declared={emailFields}
    intro={
      <Text size="sm">
        {words.currentAddress(email)}. {words.confirmingSignsOut}
      </Text>
    }
    initialValues={{ email: '', current_password: '' }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {words.changeEmail}
      </Button>
    )}
    onSubmit={async (values) => {
      await call(changeEmailRoute, { body: values })
      onRequested(values.email.trim())
      notifySuccess(words.checkMail(values.email))
    }}
  />
)
