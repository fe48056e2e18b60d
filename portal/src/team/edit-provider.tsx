// The fields of an identity provider that an admin changes. The issuer is none of them.
import { Button } from '@mantine/core'
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
import { multiSelect, number, select } from '../ui/form-widgets.tsx'
import { words } from './words.ts'

const { provider: t } = words

const declared = {
  name: text({ label: t.name }),
  client_id: text({ label: t.clientId }),
  client_secret: password({ label: t.clientSecret, help: t.newSecretHelp, autoComplete: 'new-password' }),
  groups_claim: text({ label: t.groupsClaim }),
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

export function EditProvider({ provider }: { readonly provider: Provider }) {
  const { id, name, client_id, groups_claim, second_factor, session_hours } = provider
  return (
    <Dialog
      title={t.editTitle(name)}
      action={words.save}
      route={updateProviderRoute}
      declared={declared}
      initialValues={{
        name,
        client_id,
        client_secret: '',
        groups_claim,
        default_roles: [...provider.default_roles] as DefaultRole[],
        second_factor,
        session_hours,
      }}
      trigger={(open) => (
        <Button variant="default" aria-label={t.editOf(name)} onClick={open}>
          {t.edit}
        </Button>
      )}
      onSubmit={async (values, opened) => {
        await call(updateProviderRoute, {
          params: { team_id: 'current', provider_id: id },
          body: changesOf(opened, values),
        })
        await invalidate(listProvidersRoute)
      }}
    />
  )
}
