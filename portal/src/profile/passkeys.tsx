// The passkeys of the account: added, renamed and removed.
import { Alert, Button, Group, Skeleton, Text } from '@mantine/core'
import {
  createPasskeyOptionsRoute,
  createPasskeyRoute,
  deletePasskeyRoute,
  listPasskeysRoute,
  updatePasskeyRoute,
  type Passkey,
} from '@pharos/contract/session/passkey'
import { getSecondFactorRoute } from '@pharos/contract/session/second-factor'
import type { ResponseOf } from '@pharos/contract/route'
import { IconFingerprint } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { createCredential, findPasskeyObstacle, isCancelled, isKnownAuthenticator } from '../api/passkey.ts'
import { invalidate } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { password, text } from '../ui/form-text-widgets.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { DeviceError } from '../ui/problem-text.ts'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import { deviceOf } from './device.ts'
import classes from './profile.module.css'
import { Codes } from './second-factor.tsx'
import { SectionProblem } from './section-problem.tsx'
import { words } from './words.ts'

const { passkeys: t } = words

const nameField = text({ label: t.name, required: true })
const passwordField = password({
  label: words.currentPassword,
  autoComplete: 'current-password',
  required: true,
})

type PasskeysProps = {
  /** Called when the dialog opens and closes; it shows the recovery codes after the passkey was added. */
  readonly onSetUp?: (isOpen: boolean) => void
}

export function Passkeys({ onSetUp }: PasskeysProps) {
  const answer = useAllRows(listPasskeysRoute, {})
  const obstacle = findPasskeyObstacle()
  return (
    <>
      {answer.error && !answer.data && <SectionProblem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={60} />}
      {answer.data?.length === 0 && <Text size="sm">{t.none}</Text>}
      {answer.data && answer.data.length > 0 && (
        <ul className={classes['sessions']}>
          {answer.data.map((one) => (
            <Row key={one.id} passkey={one} />
          ))}
        </ul>
      )}
      {obstacle !== undefined && (
        <Alert color="info" role="note">
          {t.obstacles[obstacle](location)}
        </Alert>
      )}
      <Group>{obstacle === undefined && <Add {...(onSetUp ? { onSetUp } : {})} />}</Group>
    </>
  )
}

const Row = ({ passkey }: { readonly passkey: Passkey }) => (
  <li className={`${classes['session']} ${classes['passkey']}`}>
    <IconFingerprint size={20} stroke={1.5} className={classes['device']} />
    <div className={classes['about']}>
      <div className={classes['name']}>
        <span>{passkey.name}</span>
        {passkey.synced && <StatePill color="info">{t.synced}</StatePill>}
        {!passkey.usable && <StatePill color="warn">{t.otherHost}</StatePill>}
      </div>
      <Text size="xs" c="dimmed">
        {t.added} <Time at={passkey.created} /> ·{' '}
        {passkey.last_used === null ? (
          t.unused
        ) : (
          <>
            {t.used} <Time at={passkey.last_used} />
          </>
        )}
      </Text>
    </div>
    <Group gap="xs">
      <Rename passkey={passkey} />
      <Remove passkey={passkey} />
    </Group>
  </li>
)

const reload = () => Promise.all([invalidate(listPasskeysRoute), invalidate(getSecondFactorRoute)])

type Added = ResponseOf<typeof createPasskeyRoute>

/** The dialog of the browser follows the password. Closing it keeps this one open. */
async function add({ name, current_password }: { name: string; current_password: string }): Promise<Added> {
  const { body } = await call(createPasskeyOptionsRoute, { body: { current_password } })
  const response = await createCredential(body.public_key).catch((error: unknown) => {
    if (isKnownAuthenticator(error)) throw new DeviceError(t.known, error)
    throw isCancelled(error) ? new DeviceError(t.cancelled, error) : error
  })
  return session.replace(createPasskeyRoute, { name: name.trim(), response })
}

const Add = ({ onSetUp }: PasskeysProps) => (
  <Dialog
    title={t.add}
    action={t.next}
    declared={{ name: nameField, current_password: passwordField }}
    intro={<Text size="sm">{t.addText}</Text>}
    initialValues={{ name: deviceOf(navigator.userAgent).name, current_password: '' }}
    trigger={(open) => (
      <Button
        onClick={() => {
          onSetUp?.(true)
          open()
        }}
      >
        {t.add}
      </Button>
    )}
    onSubmit={add}
    onClose={() => {
      onSetUp?.(false)
      void reload()
    }}
    result={({ recovery_codes: codes }) => (
      <>
        <Alert color="ok" role="status">
          {t.isAdded}
        </Alert>
        {codes && <Codes codes={codes} />}
      </>
    )}
  />
)

const Rename = ({ passkey: { id, name } }: { readonly passkey: Passkey }) => (
  <Dialog
    title={t.rename}
    action={t.rename}
    route={updatePasskeyRoute}
    declared={{ name: nameField }}
    initialValues={{ name }}
    trigger={(open) => (
      <Button variant="default" size="compact-sm" aria-label={t.renameOf(name)} onClick={open}>
        {t.rename}
      </Button>
    )}
    onSubmit={async (values) => {
      await call(updatePasskeyRoute, { params: { passkey_id: id }, body: { name: values.name.trim() } })
      await invalidate(listPasskeysRoute)
    }}
  />
)

const Remove = ({ passkey: { id, name } }: { readonly passkey: Passkey }) => (
  <Dialog
    title={t.removeTitle(name)}
    action={t.remove}
    danger
    route={deletePasskeyRoute}
    declared={{ current_password: passwordField }}
    intro={<Text size="sm">{t.removeText}</Text>}
    initialValues={{ current_password: '' }}
    trigger={(open) => (
      <Button variant="default" size="compact-sm" aria-label={t.removeOf(name)} onClick={open}>
        {t.remove}
      </Button>
    )}
    onSubmit={async (values) => {
      await session.replace(deletePasskeyRoute, values, { passkey_id: id })
      await reload()
      notifySuccess(t.isRemoved)
    }}
  />
)
