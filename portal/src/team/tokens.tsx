// The team's API tokens. The secret of a token is shown once, right after it was created.
import { listTokensRoute, type Token } from '@pharos/contract/token'
import { actionsColumn, Dimmed, monoColumn, RowActions, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { StatePill } from '../ui/status.tsx'
import { CreateToken, EditToken, RevokeToken } from './token-actions.tsx'
import { words } from './words.ts'

const columns: readonly Column<Token>[] = [
  { id: 'name', header: 'Name', orderBy: 'name', width: 180, card: 'primary', cell: ({ name }) => name },
  monoColumn('id', 'ID', ({ id }) => id),
  {
    id: 'active',
    header: 'State',
    width: 160,
    card: 'state',
    cell: ({ active, inactive_reason }) => (
      <StatePill color={active ? 'ok' : 'idle'}>
        {active ? 'Active' : inactive_reason === 'expired' ? 'Expired' : 'Expired unused'}
      </StatePill>
    ),
  },
  {
    id: 'scopes',
    header: 'Scopes',
    width: 220,
    grows: true,
    card: 'secondary',
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
    largestFirst: true,
    width: 240,
    cell: ({ last_used, last_used_address }) => (
      <>
        <Time at={last_used} none="Never" /> <Dimmed>{last_used_address}</Dimmed>
      </>
    ),
  },
  timeColumn('expires', 'Expires', ({ expires }) => expires, { orderBy: 'expires', none: 'Never' }),
  timeColumn('created', 'Created', ({ created }) => created, { orderBy: 'created', hidden: true }),
  actionsColumn(
    'Actions',
    (token) => (
      <RowActions>
        {token.active && <EditToken token={token} />}
        <RevokeToken token={token} />
      </RowActions>
    ),
    140,
  ),
]

const declaration: ListDeclaration = {
  sort: '-created',
  search: { kind: 'text', name: 'name', label: 'Name' },
  filters: [yesNo('active', 'State', 'Active', 'Inactive')],
}

export function Tokens() {
  const view = useListSearch('/team/tokens', declaration)
  return (
    <List<Token>
      name="tokens"
      things={['API token', 'API tokens']}
      route={listTokensRoute}
      view={view}
      columns={columns}
      toolbar={<CreateToken />}
      empty={<Empty title="No API tokens yet">{words.token.newNote}</Empty>}
    />
  )
}
