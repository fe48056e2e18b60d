// The access review: everything that opens the team, with its roles and its last use.
import { rolesText } from '@pharos/contract/role'
import { accessKinds, listTeamAccessRoute, type ReviewedAccess } from '@pharos/contract/team/access-review'
import { Dimmed, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './words.ts'

const { access: t } = words
const team = { team_id: 'current' } as const

const columns: readonly Column<ReviewedAccess>[] = [
  {
    id: 'name',
    header: t.name,
    orderBy: 'name',
    width: 180,
    grows: true,
    card: 'primary',
    cell: ({ name }) => name,
  },
  {
    id: 'kind',
    header: t.kind,
    orderBy: 'kind',
    width: 120,
    card: 'secondary',
    cell: ({ kind }) => t.kinds[kind],
  },
  { id: 'rights', header: t.rights, width: 190, card: 'secondary', cell: (one) => rightsOf(one) },
  {
    id: 'sign_in',
    header: t.signIn,
    width: 140,
    cell: ({ sign_in: methods }) => (methods ?? []).map((one) => t.methods[one]).join(', '),
  },
  { id: 'factor', header: t.twoFactor, width: 120, cell: (one) => factorOf(one) },
  {
    id: 'used',
    header: t.lastUsed,
    orderBy: 'last_used',
    width: 180,
    largestFirst: true,
    isTime: true,
    card: 'state',
    cell: ({ kind, last_used }) =>
      kind === 'tsig_key' ? <Dimmed>{t.notRecorded}</Dimmed> : <Time at={last_used} none={noUse[kind]} />,
  },
  timeColumn('created', t.created, ({ created }) => created, { orderBy: 'created', hidden: true }),
  timeColumn('expires', t.expires, ({ expires }) => expires, { orderBy: 'expires', none: t.noExpiry }),
]

/** Sessions of a member are stored for 90 days, with their last team only. */
const noUse = {
  member: t.notKnown,
  invitation: '–',
  service_account: t.never,
  api_token: t.never,
} as const

/** Roles, else scopes; what is limited sees and changes some resources only. */
function rightsOf({ kind, roles, is_admin, scopes, is_limited }: ReviewedAccess): string {
  const parts = [
    roles === null ? (is_admin ? t.adminToken : '') : rolesText(roles),
    kind === 'api_token' ? (scopes ?? []).join(', ') : '',
    is_limited ? t.limited : '',
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function factorOf({ kind, two_factor: isOn }: ReviewedAccess): string {
  if (kind !== 'member') return ''
  return isOn === true ? t.on : t.off
}

const declaration: ListDeclaration = {
  sort: 'kind,name',
  filters: [
    {
      kind: 'choice',
      name: 'kind',
      label: t.kind,
      isSingle: true,
      options: accessKinds.map((value) => ({ value, label: t.kinds[value] })),
    },
    {
      kind: 'choice',
      name: 'unused_days',
      label: t.unused,
      isSingle: true,
      isOpen: true,
      options: [30, 90, 365].map((days) => ({ value: String(days), label: t.days(days) })),
    },
  ],
}

export function AccessReview() {
  const view = useListSearch('/team/access', declaration)
  return (
    <List<ReviewedAccess>
      name="access"
      things={t.things}
      route={listTeamAccessRoute}
      params={team}
      view={view}
      columns={columns}
      empty={<Empty title={t.none} />}
    />
  )
}
