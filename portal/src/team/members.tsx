// The members of the team, and pending invitations.
import { ActionIcon, Button, Menu, Text, List as Items } from '@mantine/core'
import {
  addMemberRoute,
  listMembersRoute,
  memberStatuses,
  removeMemberRoute,
  resendInvitationRoute,
  updateMemberRoute,
  type Member,
} from '@pharos/contract/team/member'
import { describeRoles, roleLabels, roles, rolesText, type Role } from '@pharos/contract/role'
import { getSessionTokenRoute } from '@pharos/contract/session/session'
import { getTeamRoute } from '@pharos/contract/team/team'
import { IconDots, IconUserPlus } from '@tabler/icons-react'
import { useMemo } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { actionsColumn, timeColumn } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { checkboxes, emails, textarea } from '../ui/form-widgets.tsx'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { StatePill } from '../ui/status.tsx'
import { AllFields } from '../ui/form.tsx'
import { serviceAccount } from './service-account-select.tsx'
import { words } from './words.ts'
import { listTokensRoute, transferTokenRoute } from '@pharos/contract/team/token'
import { Problem } from '../ui/problem.tsx'

const { member: t } = words
const team = { team_id: 'current' } as const

const columns: readonly Column<Member>[] = [
  {
    id: 'email',
    header: t.email,
    orderBy: 'email',
    width: 200,
    grows: true,
    card: 'primary',
    cell: ({ email }) => email,
  },
  { id: 'name', header: t.name, width: 160, card: 'secondary', cell: ({ display_name }) => display_name },
  {
    id: 'roles',
    header: t.roles,
    width: 150,
    card: 'secondary',
    orderBy: 'is_admin',
    cell: ({ roles: held, roles_source: source }) =>
      source === 'manual' ? rolesText(held) : `${rolesText(held)} · ${t.sources[source]}`,
  },
  {
    id: 'status',
    header: t.status,
    orderBy: 'status',
    width: 100,
    card: 'state',
    cell: ({ status }) =>
      status === 'invited' ? <StatePill color="warn">{t.state.invited}</StatePill> : t.state.active,
  },
  { id: 'factor', header: t.twoFactor, width: 100, cell: (member) => <TwoFactor member={member} /> },
  timeColumn('joined', t.joined, ({ joined }) => joined, { orderBy: 'joined', none: '' }),
  timeColumn('seen', t.lastSeen, ({ last_seen }) => last_seen, { orderBy: 'last_seen', none: t.never }),
]

function TwoFactor({ member: { status, two_factor } }: { member: Member }) {
  if (status === 'invited') return ''
  if (two_factor) return t.on
  return (
    <Text span c="var(--warn)" size="sm">
      {t.off}
    </Text>
  )
}

const refresh = () => invalidate(listMembersRoute, getTeamRoute, getSessionTokenRoute)

const declaration: ListDeclaration = {
  sort: 'email',
  search: { kind: 'text', name: 'email', label: t.email },
  filters: [
    {
      kind: 'choice',
      name: 'status',
      label: t.status,
      isSingle: true,
      options: memberStatuses.map((status) => ({ value: status, label: t.state[status] })),
    },
    yesNo('is_admin', t.roles, roleLabels.admin, t.notAdmin),
  ],
}

export function Members() {
  const canManage = useGrant('team.manage')
  const view = useListSearch('/team/members', declaration)
  const shown = useMemo(
    () =>
      canManage ? [...columns, actionsColumn<Member>(t.actions, (one) => <Actions member={one} />)] : columns,
    [canManage],
  )
  return (
    <List<Member>
      name="members"
      things={t.things}
      route={listMembersRoute}
      params={team}
      view={view}
      columns={shown}
      toolbar={canManage && <Invite />}
      empty={<Empty title={t.none} />}
    />
  )
}

type Invitations = { readonly email: string[]; readonly roles: Role[]; readonly message: string }

const rolesField = checkboxes({
  label: t.roles,
  help: t.rolesHelp,
  required: true,
  groups: [
    {
      options: roles.map((value) => ({
        value,
        label: roleLabels[value],
        help: describeRoles([value]),
      })),
    },
  ],
})

const invitationFields = {
  email: emails({ label: t.emails, help: t.emailsHelp, required: true, placeholder: 'noc@acme.net' }),
  roles: rolesField,
  message: textarea({ label: t.message, help: t.messageHelp }),
}

/** Sends one invitation per address, in order; a refused one leaves those after it. */
async function invite({ email: list, roles: chosen, message }: Invitations): Promise<void> {
  const sent: string[] = []
  const already: string[] = []
  try {
    for (const email of list) {
      const body = { email, roles: chosen, ...(message ? { message } : {}) }
      const { status } = await call(addMemberRoute, { params: team, body })
      ;(status === 200 ? already : sent).push(email)
    }
  } finally {
    if (sent.length > 0) notifySuccess(t.sent(sent))
    if (already.length > 0) notifySuccess(t.already(already))
    await refresh()
  }
}

function Invite() {
  const { data } = useAnswer(getTeamRoute, { params: team })
  return (
    <Dialog<Invitations>
      title={t.inviteTitle}
      action={t.inviteAction}
      size="lg"
      route={addMemberRoute}
      declared={invitationFields}
      initialValues={{ email: [], roles: data?.default_roles ?? ['reader'], message: '' }}
      trigger={(open) => (
        <Button leftSection={<IconUserPlus size={14} />} onClick={open}>
          {t.invite}
        </Button>
      )}
      onSubmit={invite}
    />
  )
}

/** Returns the texts for cancelling an invitation, leaving the team, or removing a member. */
function removalOf({ email, status }: Member, isSelf: boolean) {
  if (status === 'invited')
    return {
      title: t.cancelTitle(email),
      action: t.cancel,
      effect: t.cancelText,
    }
  if (isSelf)
    return {
      title: t.leaveTitle,
      action: t.leave,
      effect: t.leaveText,
    }
  return {
    title: t.removeTitle(email),
    action: t.remove,
    effect: t.removeText,
  }
}

const removalFields = { service_account_id: serviceAccount(t.moveTokens, t.moveTokensHelp) }

function Actions({ member }: { member: Member }) {
  const user = useUser()
  const { id, email, roles: held, status, user_id } = member
  const params = { ...team, member_id: id }
  const { title, action, effect } = removalOf(member, user_id === user?.id)
  const movesTokens = useGrant('tokens.manage') && status === 'active' && user_id !== null
  async function resend() {
    await call(resendInvitationRoute, { params })
    notifySuccess(t.sentAgain(email))
  }
  const menu = (openRoles: () => void, openRemoval: () => void) => (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t.actionsFor(email)}>
          <IconDots size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={openRoles}>{t.changeRoles}</Menu.Item>
        {status === 'invited' && (
          <Menu.Item onClick={() => void resend().catch(notifyProblem)}>{t.sendAgain}</Menu.Item>
        )}
        <Menu.Item color="bad" onClick={openRemoval}>
          {action}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
  const removal = (openRoles: () => void) => (
    <Dialog
      title={title}
      action={action}
      danger
      {...(movesTokens ? { declared: removalFields } : {})}
      initialValues={{ service_account_id: '' }}
      trigger={(open) => menu(openRoles, open)}
      onSubmit={async ({ service_account_id: account }) => {
        if (account !== '' && user_id !== null) await moveTokens(user_id, Number(account))
        await call(removeMemberRoute, { params })
        await refresh()
      }}
    >
      {(_fields, form) => (
        <>
          <Text size="sm">{effect}</Text>
          {movesTokens && <MemberTokens userId={user_id!} />}
          {movesTokens && <AllFields form={form} />}
        </>
      )}
    </Dialog>
  )
  return (
    <Dialog<{ roles: Role[] }>
      title={t.rolesOf(email)}
      action={t.changeRoles}
      size="lg"
      route={updateMemberRoute}
      declared={{ roles: rolesField }}
      initialValues={{ roles: held }}
      intro={status === 'active' && <Text size="sm">{t.tokensLose}</Text>}
      trigger={removal}
      onSubmit={async ({ roles: chosen }) => {
        await call(updateMemberRoute, { params, body: { roles: chosen } })
        notifySuccess(t.rolesChanged(email))
        await refresh()
      }}
    />
  )
}

const tokensOf = (userId: number) => ({ created_by: userId, limit: 1000, ordering: 'name' }) as const

/** The API tokens of a member who is about to be removed: a program of each stops. */
function MemberTokens({ userId }: { readonly userId: number }) {
  const { data, error, refetch } = useAnswer(listTokensRoute, { query: tokensOf(userId) })
  if (error && !data) return <Problem error={error} retry={refetch} />
  if (!data || data.count === 0) return null
  return (
    <>
      <Text size="sm">{t.tokensOf(data.count)}</Text>
      <Items size="sm">
        {data.results.map(({ id, name }) => (
          <Items.Item key={id}>{name}</Items.Item>
        ))}
      </Items>
    </>
  )
}

/** Moves the tokens of a member to a service account, one by one; the first that is refused ends it. */
async function moveTokens(userId: number, serviceAccountId: number): Promise<void> {
  const { body } = await call(listTokensRoute, { query: tokensOf(userId) })
  for (const { id } of body.results)
    await call(transferTokenRoute, {
      params: { token_id: id },
      body: { service_account_id: serviceAccountId },
    })
}
