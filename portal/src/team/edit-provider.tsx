// The fields of an identity provider that an admin changes. Issuer and entity id never change.
import { Button, Text } from '@mantine/core'
import type { BodyOf } from '@pharos/contract/route'
import { defaultRoles, roleLabels, type DefaultRole } from '@pharos/contract/role'
import {
  listProvidersRoute,
  secondFactorRules,
  updateProviderRoute,
  type Provider,
} from '@pharos/contract/team/provider'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { changesOf } from '../ui/form-changes.ts'
import { password, text } from '../ui/form-text-widgets.tsx'
import { multiSelect, number, select, toggle } from '../ui/form-widgets.tsx'
import { metadataOf, samlFields } from './saml-fields.tsx'
import { words } from './words.ts'

const { provider: t } = words

const name = text({ label: t.name })
const declared = {
  default_roles: multiSelect({
    label: t.defaultRoles,
    help: t.defaultRolesHelp,
    data: defaultRoles.map((role) => ({ value: role, label: roleLabels[role] })),
  }),
  second_factor: select({
    label: t.factor,
    data: secondFactorRules.map((rule) => ({ value: rule, label: t.factors[rule] })),
  }),
  session_hours: number({ label: t.sessionHours, unit: t.hours }),
}

const ofOidc = {
  name,
  client_id: text({ label: t.clientId }),
  client_secret: password({
    label: t.clientSecret,
    help: t.newSecretHelp,
    autoComplete: 'new-password',
    required: false,
  }),
  groups_claim: text({ label: t.groupsClaim }),
  ...declared,
  sign_out_at_provider: toggle({ label: t.signOutThere, help: t.signOutThereHelp }),
}

const ofSaml = {
  name,
  ...samlFields,
  groups_claim: text({ label: t.groupsAttribute }),
  ...declared,
}

const valuesOf = ({ name, groups_claim, second_factor, session_hours, default_roles }: Provider) => ({
  name,
  groups_claim,
  default_roles: [...default_roles] as DefaultRole[],
  second_factor,
  session_hours,
})

export const EditProvider = ({ provider }: { readonly provider: Provider }) =>
  provider.kind === 'saml' ? <EditSaml provider={provider} /> : <EditOidc provider={provider} />

function EditOidc({ provider }: { readonly provider: Extract<Provider, { kind: 'oidc' }> }) {
  const { client_id, sign_out_at_provider } = provider
  return (
    <Dialog
      {...dialogOf(provider)}
      declared={ofOidc}
      initialValues={{ ...valuesOf(provider), client_id, client_secret: '', sign_out_at_provider }}
      onSubmit={(values, opened) => save(provider, changesOf(opened, values))}
    />
  )
}

const EditSaml = ({ provider }: { readonly provider: Provider }) => (
  <Dialog
    {...dialogOf(provider)}
    declared={ofSaml}
    intro={<Text size="sm">{t.newMetadata}</Text>}
    initialValues={{ ...valuesOf(provider), metadata_url: '', metadata: '' }}
    onSubmit={(values, opened) => {
      const { metadata_url: _, metadata: __, ...changes } = changesOf(opened, values)
      return save(provider, { ...changes, ...metadataOf(values) })
    }}
  />
)

const dialogOf = ({ name }: Provider) => ({
  title: t.editTitle(name),
  action: words.save,
  route: updateProviderRoute,
  trigger: (open: () => void) => (
    <Button variant="default" aria-label={t.editOf(name)} onClick={open}>
      {t.edit}
    </Button>
  ),
})

async function save({ id }: Provider, body: BodyOf<typeof updateProviderRoute>): Promise<void> {
  await call(updateProviderRoute, { params: { team_id: 'current', provider_id: id }, body })
  await invalidate(listProvidersRoute)
}
