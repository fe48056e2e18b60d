// Creating an API token: purpose, permissions, allowed networks, lifetime. Its secret appears once, with a request that
// tests it.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { createTokenRoute, listTokensRoute } from '@pharos/contract/team/token'
import { adminNeeds, type Scope } from '@pharos/contract/scope'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { CopyBlock } from '../ui/copy.tsx'
import { expiry, dayFromNow, expiryOf, type Expiry } from '../ui/expiry.tsx'
import { FormPage } from '../ui/form-page.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { checkboxes, networks, number, toggle } from '../ui/form-widgets.tsx'
import { Field, FormSection, useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { hiddenSecret, Secret } from '../ui/secret.tsx'
import { Section } from '../ui/section.tsx'
import { noResources, resourcePicker, resourcesOf, type PickedResources } from './resource-picker.tsx'
import { serviceAccount } from './service-account-select.tsx'
import { curlOf, presets, readScopes, writeScopes, type PresetName } from './scope-presets.ts'
import { words } from './words.ts'

const { token: t } = words
const optionsOf = (list: readonly Scope[]) =>
  list.map((value) => {
    const { label, help } = t.scope[value]
    return { value, label, help: `${help}${t.needsAdmin[adminNeeds[value]]}` }
  })

const declared = {
  name: text({ label: t.name, help: t.nameHelp, autoComplete: 'off' }),
  expires: expiry({ label: t.expiry, help: t.expiryHelp }),
  max_unused_days: number({ label: t.unused, help: t.unusedHelp, unit: t.days }),
  scopes: checkboxes({
    label: t.scopes,
    groups: [
      { title: t.reading, options: optionsOf(readScopes) },
      { title: t.writing, options: optionsOf(writeScopes) },
    ],
  }),
  is_admin: toggle({ label: t.admin, help: t.adminHelp }),
  resources: resourcePicker(['zones', 'prefixes', 'ports', 'services']),
  service_account_id: serviceAccount(t.account, t.accountHelp),
  allowed_subnets: networks({ label: t.subnets, help: t.subnetsHelp }),
}

type NewTokenValues = {
  readonly name: string
  readonly scopes: Scope[]
  readonly is_admin: boolean
  readonly resources: PickedResources
  readonly service_account_id: string
  readonly allowed_subnets: string[]
  readonly expires: Expiry
  readonly max_unused_days: number | ''
}

const defaultDays = 90

const newToken = (): NewTokenValues => ({
  name: '',
  scopes: [],
  is_admin: false,
  resources: noResources,
  service_account_id: '',
  allowed_subnets: [],
  expires: dayFromNow(defaultDays),
  max_unused_days: '',
})

function bodyOf(values: NewTokenValues) {
  const { expires, max_unused_days: days, resources: picked, service_account_id: account, ...rest } = values
  const resources = resourcesOf(picked)
  return {
    ...rest,
    expires: expiryOf(expires),
    max_unused_days: days === '' ? null : days,
    ...(resources ? { resources } : {}),
    ...(account === '' ? {} : { service_account_id: Number(account) }),
  }
}

export function NewToken() {
  const form = useRequestForm({
    initialValues: newToken(),
    route: createTokenRoute,
    declared,
    request: async (values) => (await call(createTokenRoute, { body: bodyOf(values) })).body,
    onSuccess: () => invalidate(listTokensRoute),
  })
  const { fields, result } = form
  if (result)
    return (
      <Created
        name={result.name}
        token={result.token}
        scopes={result.scopes}
        onAnother={() => form.restart(newToken())}
      />
    )
  return (
    <FormPage
      title={t.newTitle}
      note={t.newNote}
      form={form}
      action={t.create}
      cancel={
        <ButtonLink to="/team/tokens" variant="default">
          {words.cancel}
        </ButtonLink>
      }
    >
      <FormSection title={t.identity}>
        <Field form={form} name="name" autoFocus />
        <Field form={form} name="expires" />
        <Field form={form} name="max_unused_days" />
      </FormSection>
      <FormSection title={t.access} help={t.accessHelp}>
        <Presets
          onPick={(name) => {
            fields.setFieldValue('scopes', [...presets[name].scopes])
            fields.setFieldValue('is_admin', presets[name].isAdmin)
          }}
        />
        <Field form={form} name="scopes" />
        <Field form={form} name="is_admin" />
        <Field form={form} name="service_account_id" />
      </FormSection>
      <FormSection title={words.resources.label} help={t.resourcesHelp}>
        <Field form={form} name="resources" />
      </FormSection>
      <FormSection title={t.network} help={t.networkHelp}>
        <Field form={form} name="allowed_subnets" />
      </FormSection>
    </FormPage>
  )
}

const Presets = ({ onPick }: { readonly onPick: (name: PresetName) => void }) => (
  <Group gap="xs" role="group" aria-label={t.presets}>
    <Text size="sm" c="dimmed">
      {t.presets}
    </Text>
    {(Object.keys(presets) as PresetName[]).map((name) => (
      <Button key={name} variant="default" size="compact-sm" onClick={() => onPick(name)}>
        {t.preset[name]}
      </Button>
    ))}
  </Group>
)

type CreatedProps = {
  readonly name: string
  readonly token: string
  readonly scopes: readonly Scope[]
  readonly onAnother: () => void
}

const Created = ({ name, token, scopes, onAnother }: CreatedProps) => (
  <Page title={t.created(name)}>
    <Stack maw="var(--form-width)">
      <Alert color="warn">{t.once}</Alert>
      <Secret text={token} name={t.noun} />
      <Section title={t.try}>
        <Text size="sm" c="dimmed" mb="xs">
          {t.tryHelp}
        </Text>
        <CopyBlock
          text={curlOf(location.origin, token, scopes)}
          shown={curlOf(location.origin, hiddenSecret, scopes)}
          label={t.copyCurl}
        />
      </Section>
      <Group>
        <ButtonLink to="/team/tokens">{t.back}</ButtonLink>
        <Button variant="default" onClick={onAnother}>
          {t.another}
        </Button>
      </Group>
    </Stack>
  </Page>
)
