// Provisioning with SCIM by an identity provider: the base URL and the token to enter there, and the number of users and groups received.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { counted } from '@pharos/contract/counted'
import {
  createScimTokenRoute,
  deleteScimTokenRoute,
  listProvidersRoute,
  type CreatedScimToken,
  type Provider,
  type ProviderScim,
} from '@pharos/contract/team/provider'
import { overlapHoursByDefault } from '@pharos/contract/team/token'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { networks, number } from '../ui/form-widgets.tsx'
import { Secret } from '../ui/secret.tsx'
import { Time } from '../ui/time.tsx'
import classes from './team.module.css'
import { words } from './words.ts'

const {
  provider: { scim: t },
  token: { hours },
} = words

type ProviderProps = { readonly provider: Provider }

const paramsOf = ({ id }: Provider) => ({ team_id: 'current', provider_id: id }) as const

export const Provisioning = ({ provider }: ProviderProps) => (
  <section className={classes['part']}>
    <h4>{t.title}</h4>
    <Text size="xs" c="dimmed">
      {provider.scim === null ? t.off : t.on}
    </Text>
    {provider.scim !== null && <Record scim={provider.scim} />}
    <Group>
      {provider.scim === null ? <TurnOn provider={provider} /> : <Rotate provider={provider} />}
      {provider.scim !== null && <TurnOff provider={provider} />}
    </Group>
  </section>
)

const Record = ({ scim }: { readonly scim: ProviderScim }) => (
  <dl className={classes['record']}>
    <dt>{t.baseUrl}</dt>
    <dd>
      {scim.base_url}
      <CopyIcon text={scim.base_url} label={t.copyBaseUrl} />
    </dd>
    <dt>{t.networks}</dt>
    <dd>{scim.allowed_subnets.join(', ') || t.anywhere}</dd>
    <dt>{t.lastUsed}</dt>
    <dd>
      <Time at={scim.last_used} none={t.never} />
      {scim.last_used_address !== null && ` ${t.from(scim.last_used_address)}`}
    </dd>
    <dt>{t.provisioned}</dt>
    <dd>
      {t.counts(
        counted(scim.users, ...t.users),
        counted(scim.members, ...t.members),
        counted(scim.groups, ...t.groups),
      )}
    </dd>
    {scim.previous_secret_until !== null && (
      <>
        <dt>{t.formerUntil}</dt>
        <dd>
          <Time at={scim.previous_secret_until} />
        </dd>
      </>
    )}
  </dl>
)

/** The list is read again when the dialog closes: it would be replaced before the token was copied. */
const shared = {
  onClose: () => void invalidate(listProvidersRoute),
  result: ({ token, base_url: baseUrl }: CreatedScimToken) => (
    <Stack>
      <Alert color="warn">{t.once}</Alert>
      <Text size="sm">
        {t.baseUrl}: <code>{baseUrl}</code> <CopyIcon text={baseUrl} label={t.copyBaseUrl} />
      </Text>
      <Secret text={token} name={t.noun} />
    </Stack>
  ),
}

const TurnOn = ({ provider }: ProviderProps) => (
  <Dialog
    {...shared}
    title={t.turnOnTitle}
    action={t.turnOn}
    route={createScimTokenRoute}
    declared={{ allowed_subnets: networks({ label: t.networks, help: t.networksHelp }) }}
    initialValues={{ allowed_subnets: [] as string[] }}
    intro={<Text size="sm">{t.turnOnText}</Text>}
    trigger={(open) => (
      <Button variant="default" size="compact-sm" onClick={open}>
        {t.turnOn}
      </Button>
    )}
    onSubmit={async (body) => (await call(createScimTokenRoute, { params: paramsOf(provider), body })).body}
  />
)

const Rotate = ({ provider }: ProviderProps) => (
  <Dialog
    {...shared}
    title={t.rotateTitle}
    action={t.rotate}
    route={createScimTokenRoute}
    declared={{ overlap_hours: number({ label: t.overlap, unit: hours }) }}
    initialValues={{ overlap_hours: overlapHoursByDefault as number }}
    intro={<Text size="sm">{t.rotateText}</Text>}
    trigger={(open) => (
      <Button variant="default" size="compact-sm" onClick={open}>
        {t.rotate}
      </Button>
    )}
    onSubmit={async (body) => (await call(createScimTokenRoute, { params: paramsOf(provider), body })).body}
  />
)

const TurnOff = ({ provider }: ProviderProps) => (
  <Dialog
    title={t.turnOffTitle}
    action={t.turnOff}
    danger
    trigger={(open) => (
      <Button variant="default" size="compact-sm" onClick={open}>
        {t.turnOff}
      </Button>
    )}
    onSubmit={async () => {
      await call(deleteScimTokenRoute, { params: paramsOf(provider) })
      await invalidate(listProvidersRoute)
    }}
  >
    <Text size="sm">{t.turnOffText}</Text>
  </Dialog>
)
