// The team's API tokens. The secret of a token is shown once, right after it was created.
import { listTokensRoute, type Token } from '@pharos/contract/token'
import { actionsColumn, Dimmed, monoColumn, RowActions, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { YesNoFilter } from '../ui/filter-fields.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Time } from '../ui/time.tsx'
import { textOf, useListSearch } from '../ui/use-page-search.ts'
import { StatePill } from '../ui/status.tsx'
import { CreateToken, EditToken, RevokeToken } from './token-actions.tsx'
import { words } from './words.ts'

const columns: readonly Column<Token>[] = [
  { id: 'name', header: 'Name', orderBy: 'name', cell: ({ name }) => name },
  monoColumn('id', 'ID', ({ id }) => id),
  {
    id: 'active',
    header: 'State',
    cell: ({ active, inactive_reason }) => (
      <StatePill color={active ? 'ok' : 'idle'}>
        {active ? 'Active' : inactive_reason === 'expired' ? 'Expired' : 'Expired unused'}
      </StatePill>
    ),
  },
  {
    id: 'scopes',
    header: 'Scopes',
    cell: ({ scopes: granted, is_admin }) =>
      `${granted.map((scope) => words.token.scope[scope].label).join(', ')}${is_admin ? ' · as an admin' : ''}`,
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
      <RevokeToken token={token} />
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
      empty={<Empty title="No API tokens yet">{words.token.newNote}</Empty>}
    />
  )
}
