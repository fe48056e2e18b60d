// Who has rights in the installation: staff, members of teams, staff tokens.
import { listAccessRoute, reviewedKinds, type ReviewedAccount } from '@pharos/contract/operator/access-review'
import { rolesText } from '@pharos/contract/role'
import { staffRoleLabels } from '@pharos/contract/staff-role'
import { OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { listed, words } from './words.ts'

const { review: t } = words

const columns: readonly Column<ReviewedAccount>[] = [
  {
    id: 'name',
    header: t.name,
    orderBy: 'name',
    width: 185,
    grows: true,
    card: 'primary',
    cell: ({ name }) => name,
  },
  {
    id: 'kind',
    header: t.kind,
    orderBy: 'kind',
    width: 100,
    card: 'secondary',
    cell: ({ kind }) => t.kinds[kind],
  },
  {
    id: 'rights',
    header: t.rights,
    width: 120,
    card: 'secondary',
    cell: ({ staff_roles: roles, scopes }) =>
      [...roles.map((role) => staffRoleLabels[role]), ...scopes].join(', '),
  },
  {
    id: 'teams',
    header: t.teams,
    width: 185,
    card: 'secondary',
    cell: ({ teams }) =>
      listed(
        teams.map(({ name, roles }) => `${name} (${rolesText(roles)})`),
        2,
      ),
  },
  {
    id: 'sign_in',
    header: t.signIn,
    width: 115,
    cell: ({ sign_in: methods }) => <OrDash>{methods.map((one) => t.methods[one]).join(', ')}</OrDash>,
  },
  {
    id: 'factor',
    header: t.factor,
    width: 120,
    cell: ({ two_factor: isOn }) => <OrDash>{isOn === null ? '' : isOn ? t.on : t.off}</OrDash>,
  },
  {
    id: 'signed_in',
    header: t.lastSignIn,
    orderBy: 'last_sign_in',
    width: 165,
    largestFirst: true,
    isTime: true,
    // A token does not sign in.
    cell: ({ kind, last_sign_in: at }) => (
      <Time at={at} none={kind === 'staff_token' ? '–' : t.notRecently} />
    ),
  },
  {
    id: 'used',
    header: t.lastUsed,
    orderBy: 'last_used',
    width: 165,
    largestFirst: true,
    isTime: true,
    cell: ({ kind, last_used: at }) => (
      <Time at={at} none={kind === 'staff_token' ? t.never : t.notRecently} />
    ),
  },
  timeColumn('created', t.created, ({ created }) => created, { orderBy: 'created', hidden: true }),
  timeColumn('expires', t.expires, ({ expires }) => expires, { none: t.noExpiry, hidden: true }),
]

const declaration: ListDeclaration = {
  sort: 'kind,name',
  filters: [
    {
      kind: 'choice',
      name: 'kind',
      label: t.kind,
      isSingle: true,
      options: reviewedKinds.map((value) => ({ value, label: t.kinds[value] })),
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

export function AccessReviewOfAll() {
  const view = useListSearch('/staff/access-review', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<ReviewedAccount>
        name="access-review"
        things={t.things}
        route={listAccessRoute}
        view={view}
        columns={columns}
        empty={<Empty title={t.none} />}
      />
    </Page>
  )
}
