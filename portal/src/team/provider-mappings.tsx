// Roles by group of an identity provider: each group is added and removed by itself.
import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { roleLabels, roles, rolesText, type Role } from '@pharos/contract/role'
import {
  listProvidersRoute,
  updateProviderRoute,
  type GroupMapping,
  type Provider,
} from '@pharos/contract/team/provider'
import { IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { multiSelect } from '../ui/form-widgets.tsx'
import { notifyProblem } from '../ui/notify.ts'
import classes from './team.module.css'
import { words } from './words.ts'

const { provider: t } = words

const declared = {
  group: text({ label: t.group, help: t.groupHelp, required: true }),
  roles: multiSelect({
    label: t.roles,
    required: true,
    data: roles.map((role) => ({ value: role, label: roleLabels[role] })),
  }),
}

async function save({ id }: Provider, mappings: GroupMapping[]): Promise<void> {
  await call(updateProviderRoute, {
    params: { team_id: 'current', provider_id: id },
    body: { mappings },
  })
  await invalidate(listProvidersRoute)
}

export function ProviderMappings({ provider }: { readonly provider: Provider }) {
  const { mappings, default_roles: defaults } = provider
  const remove = useMutation({
    mutationFn: (group: string) =>
      save(
        provider,
        mappings.filter((one) => one.group !== group),
      ),
    onError: notifyProblem,
  })
  return (
    <section className={classes['part']}>
      <h4>{t.mapping}</h4>
      <Text size="xs" c="dimmed">
        {mappings.length === 0 ? t.noMapping : t.mappingHelp}{' '}
        {defaults.length === 0 ? t.othersRefused : t.othersGet(rolesText(defaults))}
      </Text>
      {mappings.map(({ group, roles: held }) => (
        <Group key={group} gap={8}>
          <Text size="sm">
            <code>{group}</code> → {rolesText(held)}
          </Text>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={t.removeMapping(group)}
            loading={remove.isPending && remove.variables === group}
            onClick={() => remove.mutate(group)}
          >
            <IconX size={14} />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Dialog
          title={t.addMapping}
          action={t.addMapping}
          declared={declared}
          initialValues={{ group: '', roles: ['reader'] as Role[] }}
          trigger={(open) => (
            <Button variant="default" size="compact-sm" onClick={open}>
              {t.addMapping}
            </Button>
          )}
          onSubmit={({ group, roles: held }) =>
            save(provider, [
              ...mappings.filter((one) => one.group !== group.trim()),
              { group: group.trim(), roles: held },
            ])
          }
        />
      </Group>
    </section>
  )
}
