// The team's service accounts: programs with roles of their own, whose API tokens outlive the member who created them.
import { Button, Text } from '@mantine/core'
import { roleLabels, roles, rolesText, type Role } from '@pharos/contract/role'
import {
  createServiceAccountRoute,
  deleteServiceAccountRoute,
  listServiceAccountsRoute,
  updateServiceAccountRoute,
  type ServiceAccount,
} from '@pharos/contract/team/service-account'
import { IconPlus } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { actionsColumn, RowActions, timeColumn } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { changesOf } from '../ui/form-changes.ts'
import { text } from '../ui/form-text-widgets.tsx'
import { multiSelect, toggle } from '../ui/form-widgets.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { StatePill } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './words.ts'

const { account: t } = words

const declared = {
  name: text({ label: t.name, help: t.nameHelp }),
  description: text({ label: t.description }),
  roles: multiSelect({
    label: t.roles,
    data: roles.map((role) => ({ value: role, label: roleLabels[role] })),
  }),
  disabled: toggle({ label: t.disable, help: t.disableHelp }),
}

const newAccount = { name: '', description: '', roles: ['reader'] as Role[], disabled: false }

const AddAccount = () => (
  <Dialog
    title={t.add}
    action={t.add}
    route={createServiceAccountRoute}
    declared={declared}
    initialValues={newAccount}
    trigger={(open) => (
      <Button leftSection={<IconPlus size={14} />} onClick={open}>
        {t.add}
      </Button>
    )}
    onSubmit={async (body) => {
      await call(createServiceAccountRoute, { body })
      await invalidate(listServiceAccountsRoute)
    }}
  />
)

function EditAccount({ account }: { readonly account: ServiceAccount }) {
  const { id, name, description, disabled } = account
  return (
    <Dialog
      title={t.editTitle(name)}
      action={words.save}
      route={updateServiceAccountRoute}
      declared={declared}
      initialValues={{ name, description, roles: [...account.roles], disabled }}
      trigger={(open) => (
        <Button variant="subtle" size="compact-xs" onClick={open}>
          {words.edit}
        </Button>
      )}
      onSubmit={async (values, opened) => {
        await call(updateServiceAccountRoute, {
          params: { service_account_id: id },
          body: changesOf(opened, values),
        })
        await invalidate(listServiceAccountsRoute)
      }}
    />
  )
}

const DeleteAccount = ({
  account: { id, name, token_count: tokens },
}: {
  readonly account: ServiceAccount
}) => (
  <Dialog
    title={t.deleteTitle(name)}
    action={words.delete}
    danger
    trigger={(open) => (
      <Button variant="subtle" color="bad" size="compact-xs" onClick={open}>
        {words.delete}
      </Button>
    )}
    onSubmit={async () => {
      await call(deleteServiceAccountRoute, { params: { service_account_id: id } })
      await invalidate(listServiceAccountsRoute)
    }}
  >
    <Text size="sm">{t.deleteText(tokens)}</Text>
  </Dialog>
)

const columns: readonly Column<ServiceAccount>[] = [
  { id: 'name', header: t.name, orderBy: 'name', width: 180, card: 'primary', cell: ({ name }) => name },
  {
    id: 'state',
    header: t.state,
    width: 110,
    card: 'state',
    cell: ({ disabled }) => (
      <StatePill color={disabled ? 'idle' : 'ok'}>{disabled ? t.disabled : t.enabled}</StatePill>
    ),
  },
  {
    id: 'roles',
    header: t.roles,
    width: 160,
    card: 'secondary',
    cell: (account) => rolesText(account.roles),
  },
  {
    id: 'description',
    header: t.description,
    width: 220,
    grows: true,
    cell: ({ description }) => description,
  },
  { id: 'tokens', header: t.tokens, width: 110, cell: ({ token_count: tokens }) => tokens },
  timeColumn('created', t.created, ({ created }) => created, { orderBy: 'created' }),
  actionsColumn(
    t.actions,
    (account) => (
      <RowActions>
        <EditAccount account={account} />
        <DeleteAccount account={account} />
      </RowActions>
    ),
    140,
  ),
]

const declaration: ListDeclaration = { sort: 'name', filters: [] }

export function ServiceAccounts() {
  const view = useListSearch('/team/service-accounts', declaration)
  return (
    <List<ServiceAccount>
      name="service-accounts"
      things={t.things}
      route={listServiceAccountsRoute}
      view={view}
      columns={columns}
      toolbar={<AddAccount />}
      empty={<Empty title={t.none}>{t.noneText}</Empty>}
    />
  )
}
