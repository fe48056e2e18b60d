// A copy of what is stored about the account, and its deletion.
import { Button, Group, List, Stack, Text } from '@mantine/core'
import { counted } from '@pharos/contract/counted'
import {
  deleteAccountRoute,
  exportAccountRoute,
  type DeletedAccount,
} from '@pharos/contract/session/personal-data'
import { createSignInOptionsRoute } from '@pharos/contract/session/passkey'
import type { User } from '@pharos/contract/session/session'
import { useMutation, type UseMutationResult } from '@tanstack/react-query'
import { call, resultOf } from '../api/call.ts'
import { findPasskeyObstacle, getCredential } from '../api/passkey.ts'
import { session } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/export-file.ts'
import { password } from '../ui/form-text-widgets.tsx'
import { FormSection } from '../ui/form.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'

const { data: t } = words

export function PersonalData({ user }: { readonly user: User }) {
  // Before the dialog opens: what would be deleted; or why the account cannot be, such as a team without another admin.
  const trial = useMutation({
    mutationFn: async () => {
      const { body } = await call(deleteAccountRoute, { body: {}, query: { dry_run: true } as object })
      return resultOf<DeletedAccount>(body)
    },
  })
  return (
    <FormSection title={t.title} help={t.help}>
      <Group>
        <ExportButton user={user} />
        <DeleteDialog user={user} trial={trial} />
      </Group>
      {trial.error && <Problem error={trial.error} />}
    </FormSection>
  )
}

function ExportButton({ user: { id } }: { readonly user: User }) {
  const exporting = useMutation({
    mutationFn: () => call(exportAccountRoute, {}),
    onSuccess: ({ body }) =>
      download(`account-${id}.json`, new Blob([JSON.stringify(body, null, 2)], { type: 'application/json' })),
    onError: notifyProblem,
  })
  return (
    <Button variant="default" loading={exporting.isPending} onClick={() => exporting.mutate()}>
      {t.export}
    </Button>
  )
}

const declared = {
  current_password: password({
    label: words.currentPassword,
    ...(findPasskeyObstacle() === undefined ? { help: t.passkeyHelp } : { required: true }),
    autoComplete: 'current-password',
  }),
}

type DeleteProps = {
  readonly user: User
  readonly trial: UseMutationResult<DeletedAccount, Error, void>
}

const DeleteDialog = ({ user: { email }, trial }: DeleteProps) => (
  <Dialog
    title={t.deleteTitle(email)}
    action={t.delete}
    danger
    route={deleteAccountRoute}
    declared={declared}
    intro={trial.data && <Consequences deleted={trial.data} />}
    initialValues={{ current_password: '' }}
    trigger={(open) => (
      <Button
        variant="default"
        color="bad"
        loading={trial.isPending}
        onClick={() => trial.mutate(undefined, { onSuccess: open })}
      >
        {t.delete}
      </Button>
    )}
    onSubmit={async ({ current_password }) => {
      await call(deleteAccountRoute, { body: await proofOf(current_password) })
      await session.signOut()
    }}
  />
)

/** Without a password, a passkey of the account. */
async function proofOf(current_password: string) {
  if (current_password !== '' || findPasskeyObstacle() !== undefined) return { current_password }
  const { public_key: options } = (await call(createSignInOptionsRoute, {})).body
  return { passkey: await getCredential(options) }
}

const Consequences = ({ deleted }: { readonly deleted: DeletedAccount }) => (
  <Stack gap="xs">
    <Text size="sm">{t.deleteText}</Text>
    <List size="sm">
      {partsOf(deleted).map((part) => (
        <List.Item key={part}>{part}</List.Item>
      ))}
    </List>
    <Text size="sm">{t.stays}</Text>
  </Stack>
)

function partsOf({ teams, sessions, passkeys, identities, notifications }: DeletedAccount): string[] {
  const tokens = teams.reduce((sum, { api_tokens_revoked: revoked }) => sum + revoked, 0)
  const invitations = teams.reduce((sum, { invitations_withdrawn: withdrawn }) => sum + withdrawn, 0)
  const counts: readonly (readonly [number, string, string?])[] = [
    [tokens, 'API token'],
    [invitations, 'invitation that you sent', 'invitations that you sent'],
    [passkeys, 'passkey'],
    [identities, 'linked identity', 'linked identities'],
    [notifications, 'notification'],
    [sessions, 'session'],
  ]
  return [
    ...(teams.length === 0 ? [] : [t.membershipOf(teams.map(({ name }) => name).join(', '))]),
    ...counts.filter(([count]) => count > 0).map(([count, one, many]) => counted(count, one, many)),
  ]
}
