// API tokens: what the team's programs present. A secret is shown once, right after it was made.
import {
  Alert,
  Badge,
  Button,
  Group,
  MultiSelect,
  NumberInput,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { scopes } from '@pharos/contract/scope'
import {
  createTokenRoute,
  deleteTokenRoute,
  listTokensRoute,
  type CreatedToken,
  type Token,
} from '@pharos/contract/token'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { forget } from '../api/queries.ts'
import { CopyBlock } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { YesOrNo } from '../ui/filter-fields.tsx'
import { List, type Column } from '../ui/list.tsx'
import { fieldError } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { EditToken } from './edit-token.tsx'

const columns: readonly Column<Token>[] = [
  { id: 'name', header: 'Name', orderBy: 'name', cell: ({ name }) => name },
  {
    id: 'id',
    header: 'Id',
    cell: ({ id }) => (
      <Text span ff="monospace" size="sm">
        {id}
      </Text>
    ),
  },
  {
    id: 'active',
    header: 'State',
    cell: ({ active, inactive_reason }) => (
      <Badge color={active ? 'teal' : 'gray'}>{active ? 'active' : inactive_reason}</Badge>
    ),
  },
  {
    id: 'scopes',
    header: 'May',
    cell: ({ scopes, is_admin }) => (
      <Text span size="sm">
        {scopes.join(', ')}
        {is_admin && ' · as admin'}
      </Text>
    ),
  },
  {
    id: 'subnets',
    header: 'From',
    cell: ({ allowed_subnets }) =>
      allowed_subnets.join(', ') || (
        <Text span c="dimmed">
          everywhere
        </Text>
      ),
  },
  {
    id: 'used',
    header: 'Last used',
    orderBy: 'last_used',
    cell: ({ last_used, last_used_address }) => (
      <>
        <Time at={last_used} none="never" />
        {last_used_address && (
          <Text span size="xs" c="dimmed">
            {' '}
            {last_used_address}
          </Text>
        )}
      </>
    ),
  },
  {
    id: 'expires',
    header: 'Ends',
    orderBy: 'expires',
    cell: ({ expires }) => <Time at={expires} none="never" />,
  },
  {
    id: 'created',
    header: 'Created',
    orderBy: 'created',
    hidden: true,
    cell: ({ created }) => <Time at={created} />,
  },
  {
    id: 'actions',
    header: 'Actions',
    align: 'right',
    pinned: true,
    cell: (token) => (
      <Group gap={4} wrap="nowrap" justify="flex-end">
        {token.active && <EditToken token={token} />}
        <Revoke token={token} />
      </Group>
    ),
  },
]

export function Tokens() {
  const { filters, ordering, setFilters, setOrdering } = useListSearch({ ordering: '-created' })
  const typed = useDebouncedCallback((name: string) => setFilters({ name: name.trim() }), 300)
  return (
    <List<Token>
      name="tokens"
      route={listTokensRoute}
      filters={filters}
      columns={columns}
      ordering={ordering}
      onOrdering={setOrdering}
      toolbar={
        <>
          <TextInput
            data-search
            size="xs"
            w={200}
            aria-label="Name"
            placeholder="Name"
            defaultValue={String(filters['name'] ?? '')}
            onChange={(event) => typed(event.currentTarget.value)}
          />
          <YesOrNo
            label="State"
            none="Any state"
            width={140}
            yes="active"
            no="ended"
            value={filters['active']}
            onChange={(active) => setFilters({ active })}
          />
          <Make />
        </>
      }
      empty={
        <Empty title={Object.keys(filters).length > 0 ? 'No API token is like that' : 'No API tokens'}>
          A program presents a token as <code>Authorization: Token</code>. Give each its own, with no more
          scopes than it needs.
        </Empty>
      }
    />
  )
}

const nothing = {
  name: '',
  scopes: [] as string[],
  is_admin: false,
  allowed_subnets: [] as string[],
  expires: '',
  max_unused_days: '' as number | string,
}

function Make() {
  const [draft, setDraft] = useState(nothing)
  const [made, setMade] = useState<CreatedToken>()
  const set = (change: Partial<typeof nothing>) => setDraft({ ...draft, ...change })
  return (
    <Dialog
      title="Make an API token"
      action="Make it"
      stays
      trigger={(open) => (
        <Button leftSection={<IconKey size={14} />} onClick={open}>
          Make a token
        </Button>
      )}
      onClose={() => {
        setDraft(nothing)
        setMade(undefined)
      }}
      onSubmit={async () => {
        const { expires, max_unused_days: days, scopes: chosen, ...rest } = draft
        const { body } = await call(createTokenRoute, {
          body: {
            ...rest,
            scopes: chosen as (typeof scopes)[number][],
            expires: expires === '' ? null : new Date(expires).toISOString(),
            max_unused_days: days === '' ? null : Number(days),
          },
        })
        setMade(body)
        await forget(listTokensRoute)
      }}
    >
      {(error) =>
        made ? (
          <>
            <Alert color="yellow">Copy it now: it is not shown again.</Alert>
            <CopyBlock text={made.token} label="Copy the token" />
            <Text size="sm">
              Programs send it as <code>Authorization: Token …</code>
            </Text>
          </>
        ) : (
          <>
            <TextInput
              label="Name"
              description="what uses it"
              required
              data-autofocus
              value={draft.name}
              error={fieldError(error, 'name')}
              onChange={(event) => set({ name: event.currentTarget.value })}
            />
            <MultiSelect
              label="Scopes"
              required
              data={[...scopes]}
              value={draft.scopes}
              error={fieldError(error, 'scopes')}
              onChange={(chosen) => set({ scopes: chosen })}
            />
            <Switch
              label="May do what admins may, within its scopes"
              checked={draft.is_admin}
              onChange={(event) => set({ is_admin: event.currentTarget.checked })}
            />
            <TagsInput
              label="From these addresses and networks only"
              description="none means everywhere"
              placeholder="192.0.2.0/24"
              value={draft.allowed_subnets}
              error={fieldError(error, 'allowed_subnets')}
              onChange={(allowed_subnets) => set({ allowed_subnets })}
            />
            <Group grow>
              <TextInput
                type="date"
                label="Ends"
                value={draft.expires}
                error={fieldError(error, 'expires')}
                onChange={(event) => set({ expires: event.currentTarget.value })}
              />
              <NumberInput
                label="Ends when unused for days"
                min={1}
                max={3650}
                value={draft.max_unused_days}
                onChange={(days) => set({ max_unused_days: days })}
              />
            </Group>
          </>
        )
      }
    </Dialog>
  )
}

function Revoke({ token: { id, name } }: { token: Token }) {
  return (
    <Dialog
      title={`Revoke ${name}?`}
      action="Revoke"
      danger
      trigger={(open) => (
        <Button variant="subtle" color="red" size="compact-xs" onClick={open}>
          Revoke
        </Button>
      )}
      onSubmit={async () => {
        await call(deleteTokenRoute, { params: { token_id: id } })
        await forget(listTokensRoute)
      }}
    >
      <Text size="sm">Whatever presents it is refused from then on. It cannot be taken back.</Text>
    </Dialog>
  )
}
