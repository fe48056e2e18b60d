// The actions of an API token in the list: create, edit, revoke.
import { Alert, Button, Stack, Text } from '@mantine/core'
import {
  deleteTokenRoute,
  listTokensRoute,
  overlapHoursByDefault,
  rotateTokenRoute,
  updateTokenRoute,
  type Token,
} from '@pharos/contract/team/token'
import { IconKey } from '@tabler/icons-react'
import { useMemo } from 'react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { expiry, expiryOf, type Expiry } from '../ui/expiry.tsx'
import { changesOf } from '../ui/form-changes.ts'
import { text } from '../ui/form-text-widgets.tsx'
import { networks, number } from '../ui/form-widgets.tsx'
import { AllFields } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { Secret } from '../ui/secret.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { words } from './words.ts'

const { token: t } = words

export const CreateToken = () => (
  <ButtonLink to="/team/tokens/new" leftSection={<IconKey size={14} />}>
    {t.create}
  </ButtonLink>
)

/** A token may end earlier than it does, never later. */
const declaredFor = (latest: Expiry) => ({
  name: text({ label: t.name, help: t.nameHelp }),
  allowed_subnets: networks({ label: t.subnets, help: t.subnetsHelp }),
  expires: expiry({ label: t.expiry, help: t.expiryHelp, latest }),
})

export function EditToken({ token }: { token: Token }) {
  const { id, name, allowed_subnets, expires } = token
  const day: Expiry = expires?.slice(0, 10) ?? null
  const declared = useMemo(() => declaredFor(day), [day])
  return (
    <Dialog
      title={t.editTitle(name)}
      action={words.save}
      route={updateTokenRoute}
      declared={declared}
      initialValues={{
        name,
        allowed_subnets: [...allowed_subnets],
        expires: day,
      }}
      trigger={(open) => (
        <Button variant="subtle" size="compact-xs" onClick={open}>
          {words.edit}
        </Button>
      )}
      onSubmit={async (values, opened) => {
        const { expires: changed, ...rest } = changesOf(opened, values)
        await call(updateTokenRoute, {
          params: { token_id: id },
          body: { ...rest, ...(changed === undefined ? {} : { expires: expiryOf(changed) }) },
        })
        await invalidate(listTokensRoute)
      }}
    >
      {(_fields, form) => (
        <>
          <AllFields form={form} />
          <Text size="xs" c="dimmed">
            {t.fixedScopes(
              token.scopes.map((scope) => t.scope[scope].label.toLowerCase()).join(', '),
              token.is_admin,
            )}
          </Text>
        </>
      )}
    </Dialog>
  )
}

export const RotateToken = ({ token: { id, name } }: { token: Token }) => (
  <Dialog
    title={t.rotateTitle(name)}
    action={t.rotate}
    route={rotateTokenRoute}
    declared={{ overlap_hours: number({ label: t.overlap, unit: t.hours }) }}
    initialValues={{ overlap_hours: overlapHoursByDefault as number }}
    intro={<Text size="sm">{t.rotateText}</Text>}
    trigger={(open) => (
      <Button variant="subtle" size="compact-xs" onClick={open}>
        {t.rotate}
      </Button>
    )}
    onSubmit={async (body) => {
      const { body: rotated } = await call(rotateTokenRoute, { params: { token_id: id }, body })
      await invalidate(listTokensRoute)
      return rotated
    }}
    result={({ token }) => (
      <Stack>
        <Alert color="warn">{t.once}</Alert>
        <Secret text={token} name={t.noun} />
      </Stack>
    )}
  />
)

export const RevokeToken = ({ token: { id, name } }: { token: Token }) => (
  <Dialog
    title={t.revokeTitle(name)}
    action={t.revoke}
    danger
    trigger={(open) => (
      <Button variant="subtle" color="bad" size="compact-xs" onClick={open}>
        {t.revoke}
      </Button>
    )}
    onSubmit={async () => {
      await call(deleteTokenRoute, { params: { token_id: id } })
      await invalidate(listTokensRoute)
      notifySuccess(t.revoked(name))
    }}
  >
    <Text size="sm">{t.revokeText(name)}</Text>
  </Dialog>
)
