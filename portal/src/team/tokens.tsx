// The team's API tokens. The secret of a token is shown once, right after it was created.
import { Alert, Button, Group, MultiSelect, NumberInput, Switch, Text } from '@mantine/core'
import { scopes } from '@pharos/contract/scope'
import {
  createTokenRoute,
  deleteTokenRoute,
  listTokensRoute,
  updateTokenRoute,
  type Token,
} from '@pharos/contract/token'
import { IconKey } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { actionsColumn, Dimmed, monoColumn, RowActions, timeColumn } from '../ui/cells.tsx'
import { CopyBlock } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { YesNoFilter } from '../ui/filter-fields.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Time } from '../ui/time.tsx'
import { textOf, useListSearch } from '../ui/use-page-search.ts'
import { ExpiryField, expiryOf, NameField, NetworksField, type TokenValues } from './token-fields.tsx'
import { StatePill } from '../ui/status.tsx'

const columns: readonly Column<Token>[] = [
  { id: 'name', header: 'Name', orderBy: 'name', cell: ({ name }) => name },
  monoColumn('id', 'ID', ({ id }) => id),
  {
    id: 'active',
    header: 'State',
    cell: ({ active, inactive_reason }) => (
      <StatePill color={active ? 'ok' : 'idle'}>
        {active ? 'Active' : `Inactive: ${inactive_reason}`}
      </StatePill>
    ),
  },
  {
    id: 'scopes',
    header: 'Scopes',
    cell: ({ scopes: granted, is_admin }) => `${granted.join(', ')}${is_admin ? ' · admin access' : ''}`,
  },
  {
    id: 'subnets',
    header: 'Allowed networks',
    cell: ({ allowed_subnets }) => allowed_subnets.join(', ') || <Dimmed>Any</Dimmed>,
  },
  {
    id: 'used',
    header: 'Last used',
    orderBy: 'last_used',
    cell: ({ last_used, last_used_address }) => (
      <>
        <Time at={last_used} none="Never" /> <Dimmed>{last_used_address}</Dimmed>
      </>
    ),
  },
  timeColumn('expires', 'Expires', ({ expires }) => expires, { orderBy: 'expires', none: 'Never' }),
  timeColumn('created', 'Created', ({ created }) => created, { orderBy: 'created', hidden: true }),
  actionsColumn('Actions', (token) => (
    <RowActions>
      {token.active && <EditToken token={token} />}
      <Revoke token={token} />
    </RowActions>
  )),
]

export function Tokens() {
  const view = useListSearch('/team/tokens', '-created')
  const { filters, setFilters } = view
  return (
    <List<Token>
      name="tokens"
      things={['API token', 'API tokens']}
      route={listTokensRoute}
      view={view}
      columns={columns}
      toolbar={
        <>
          <SearchField
            isMain
            label="Name"
            width={200}
            value={textOf(filters.name)}
            onCommit={(name) => setFilters({ name })}
          />
          <YesNoFilter
            label="State"
            placeholder="Any state"
            width={140}
            yes="Active"
            no="Inactive"
            value={filters.active}
            onChange={(active) => setFilters({ active })}
          />
          <CreateToken />
        </>
      }
      empty={
        <Empty title="No API tokens yet">
          Create one token per program, with only the scopes it needs. Send it as{' '}
          <code>Authorization: Token …</code>
        </Empty>
      }
    />
  )
}

type NewToken = TokenValues & {
  readonly scopes: (typeof scopes)[number][]
  readonly is_admin: boolean
  readonly max_unused_days: number | ''
}
const noToken: NewToken = {
  name: '',
  scopes: [],
  is_admin: false,
  allowed_subnets: [],
  expires: '',
  max_unused_days: '',
}

async function createToken({ expires, max_unused_days: days, ...rest }: NewToken) {
  const { body } = await call(createTokenRoute, {
    body: { ...rest, expires: expiryOf(expires), max_unused_days: days === '' ? null : days },
  })
  await invalidate(listTokensRoute)
  return body
}

const CreateToken = () => (
  <Dialog
    title="Create API token"
    action="Create"
    initialValues={noToken}
    trigger={(open) => (
      <Button leftSection={<IconKey size={14} />} onClick={open}>
        Create token
      </Button>
    )}
    onSubmit={createToken}
    result={({ token }) => (
      <>
        <Alert color="warn">Copy the token now. You will not see it again.</Alert>
        <CopyBlock text={token} label="Copy token" />
        <Text size="sm">
          Send it as <code>Authorization: Token …</code>
        </Text>
      </>
    )}
  >
    {(fields) => (
      <>
        <NameField fields={fields} />
        <MultiSelect label="Scopes" required data={[...scopes]} {...fields.getInputProps('scopes')} />
        <Switch
          label="Admin access within its scopes"
          {...fields.getInputProps('is_admin', { type: 'checkbox' })}
        />
        <NetworksField fields={fields} />
        <Group grow align="flex-start">
          <ExpiryField fields={fields} />
          <NumberInput
            label="Expire after days unused"
            description="Leave empty to keep unused tokens"
            min={1}
            max={3650}
            {...fields.getInputProps('max_unused_days')}
          />
        </Group>
      </>
    )}
  </Dialog>
)

function EditToken({ token }: { token: Token }) {
  const { id, name, allowed_subnets, expires } = token
  const day = expires?.slice(0, 10) ?? ''
  return (
    <Dialog
      title={`Edit ${name}`}
      action="Save"
      initialValues={{ name, allowed_subnets, expires: day }}
      trigger={(open) => (
        <Button variant="subtle" size="compact-xs" onClick={open}>
          Edit
        </Button>
      )}
      onSubmit={async (values) => {
        const isExpiryKept = values.expires === day
        await call(updateTokenRoute, {
          params: { token_id: id },
          body: {
            name: values.name,
            allowed_subnets: values.allowed_subnets,
            ...(isExpiryKept ? {} : { expires: expiryOf(values.expires) }),
          },
        })
        await invalidate(listTokensRoute)
      }}
    >
      {(fields) => (
        <>
          <NameField fields={fields} />
          <NetworksField fields={fields} />
          <ExpiryField fields={fields} />
          <Text size="xs" c="dimmed">
            Scopes ({token.scopes.join(', ')}
            {token.is_admin && ', admin access'}) cannot be changed. Create a new token for different access.
          </Text>
        </>
      )}
    </Dialog>
  )
}

const Revoke = ({ token: { id, name } }: { token: Token }) => (
  <Dialog
    title={`Revoke ${name}?`}
    action="Revoke"
    danger
    trigger={(open) => (
      <Button variant="subtle" color="bad" size="compact-xs" onClick={open}>
        Revoke
      </Button>
    )}
    onSubmit={async () => {
      await call(deleteTokenRoute, { params: { token_id: id } })
      await invalidate(listTokensRoute)
    }}
  >
    <Text size="sm">Programs using it lose access immediately. This cannot be undone.</Text>
  </Dialog>
)
