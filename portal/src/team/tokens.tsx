// The team's API tokens. The secret of a token is shown once, right after it was created.
import { describeResources } from '@pharos/contract/resource-limit'
import { listTokensRoute, type Token } from '@pharos/contract/team/token'
import { actionsColumn, Dimmed, monoColumn, RowActions, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { StatePill } from '../ui/status.tsx'
import { CreateToken, EditToken, RevokeToken, RotateToken } from './token-actions.tsx'
import { words } from './words.ts'

const { token: t } = words

const columns: readonly Column<Token>[] = [
  { id: 'name', header: t.name, orderBy: 'name', width: 140, card: 'primary', cell: ({ name }) => name },
  monoColumn('id', t.id, ({ id }) => id, { hidden: true }),
  {
    id: 'active',
    header: t.state,
    width: 120,
    card: 'state',
    cell: ({ active, inactive_reason }) => (
      <StatePill color={active ? 'ok' : 'idle'}>
        {active ? t.active : t.inactive[inactive_reason ?? 'expired']}
      </StatePill>
    ),
  },
  {
    id: 'scopes',
    header: t.scopes,
    width: 120,
    grows: true,
    card: 'secondary',
    cell: ({ scopes: granted, is_admin }) =>
      `${granted.map((scope) => words.token.scope[scope].label).join(', ')}${is_admin ? ' · as an admin' : ''}`,
  },
  {
    id: 'resources',
    header: words.resources.label,
    width: 180,
    cell: ({ resources }) => (resources ? describeResources(resources) : <Dimmed>{t.seesAll}</Dimmed>),
  },
  {
    id: 'subnets',
    header: t.subnets,
    width: 150,
    hidden: true,
    cell: ({ allowed_subnets }) => allowed_subnets.join(', ') || <Dimmed>{t.anyNetwork}</Dimmed>,
  },
  {
    id: 'used',
    header: t.lastUsed,
    orderBy: 'last_used',
    largestFirst: true,
    width: 220,
    cell: ({ last_used, last_used_address }) => (
      <>
        <Time at={last_used} none={t.never} /> <Dimmed>{last_used_address}</Dimmed>
      </>
    ),
  },
  timeColumn('expires', t.expiry, ({ expires }) => expires, { orderBy: 'expires', none: t.never }),
  timeColumn('created', t.createdAt, ({ created }) => created, { orderBy: 'created', hidden: true }),
  actionsColumn(
    t.actions,
    (token) => (
      <RowActions>
        {token.active && <EditToken token={token} />}
        {token.active && <RotateToken token={token} />}
        <RevokeToken token={token} />
      </RowActions>
    ),
    200,
  ),
]

const declaration: ListDeclaration = {
  sort: '-created',
  search: { kind: 'text', name: 'name', label: t.name },
  filters: [yesNo('active', t.state, t.active, t.notActive)],
}

export function Tokens() {
  const view = useListSearch('/team/tokens', declaration)
  return (
    <List<Token>
      name="tokens"
      things={t.things}
      route={listTokensRoute}
      view={view}
      columns={columns}
      toolbar={<CreateToken />}
      empty={<Empty title={t.none}>{t.newNote}</Empty>}
    />
  )
}
