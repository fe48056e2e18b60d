// Who is in the team, and who was asked to join.
import { ActionIcon, Badge, Button, Menu, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import {
  addMemberRoute,
  listMembersRoute,
  removeMemberRoute,
  updateMemberRoute,
  type Member,
} from '@pharos/contract/member'
import { getTeamRoute } from '@pharos/contract/team'
import { IconDots, IconUserPlus } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { call } from '../api/call.ts'
import { forget } from '../api/queries.ts'
import { useUser } from '../shell/use-session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { OneOf, YesOrNo } from '../ui/filter-fields.tsx'
import { List, type Column } from '../ui/list.tsx'
import { fieldError, tell, tellProblem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import type { RoomProps } from './team.tsx'

const team = { team_id: 'current' } as const

const columns: readonly Column<Member>[] = [
  { id: 'email', header: 'E-mail', orderBy: 'email', cell: ({ email }) => email },
  { id: 'name', header: 'Name', cell: ({ display_name }) => display_name },
  {
    id: 'role',
    header: 'Role',
    orderBy: 'is_admin',
    cell: ({ is_admin }) => (is_admin ? <Badge>admin</Badge> : 'member'),
  },
  {
    id: 'status',
    header: 'Status',
    orderBy: 'status',
    cell: ({ status }) => (status === 'invited' ? <Badge color="yellow">invited</Badge> : 'active'),
  },
  {
    id: 'factor',
    header: 'Second factor',
    cell: ({ two_factor, status }) =>
      status === 'invited' ? (
        ''
      ) : two_factor ? (
        'on'
      ) : (
        <Text span c="var(--mantine-color-orange-light-color)" size="sm">
          off
        </Text>
      ),
  },
  { id: 'joined', header: 'Joined', orderBy: 'joined', cell: ({ joined }) => <Time at={joined} none="" /> },
  {
    id: 'seen',
    header: 'Last seen',
    orderBy: 'last_seen',
    cell: ({ last_seen }) => <Time at={last_seen} none="never" />,
  },
]

const actions: Column<Member> = {
  id: 'actions',
  header: 'Actions',
  align: 'right',
  pinned: true,
  cell: (member) => <Actions member={member} />,
}

const refreshed = () => forget(listMembersRoute, getTeamRoute)

export function Members({ isAdmin }: RoomProps) {
  const { filters, ordering, setFilters, setOrdering } = useListSearch({ ordering: 'email' })
  const typed = useDebouncedCallback((email: string) => setFilters({ email: email.trim() }), 300)
  const shown = useMemo(() => (isAdmin ? [...columns, actions] : columns), [isAdmin])
  return (
    <List<Member>
      name="members"
      route={listMembersRoute}
      params={team}
      filters={filters}
      columns={shown}
      ordering={ordering}
      onOrdering={setOrdering}
      toolbar={
        <>
          <TextInput
            data-search
            size="xs"
            w={200}
            aria-label="E-mail"
            placeholder="E-mail"
            defaultValue={String(filters['email'] ?? '')}
            onChange={(event) => typed(event.currentTarget.value)}
          />
          <OneOf
            label="Status"
            none="Any status"
            width={130}
            options={['active', 'invited']}
            value={filters['status']}
            onChange={(status) => setFilters({ status })}
          />
          <YesOrNo
            label="Role"
            none="Any role"
            width={130}
            yes="admin"
            no="member"
            value={filters['is_admin']}
            onChange={(is_admin) => setFilters({ is_admin })}
          />
          {isAdmin && <Invite />}
        </>
      }
      empty={<Empty title="Nobody is like that" />}
    />
  )
}

function Invite() {
  const nothing = { email: '', is_admin: false, message: '' }
  const [draft, setDraft] = useState(nothing)
  return (
    <Dialog
      title="Invite somebody"
      action="Send the invitation"
      trigger={(open) => (
        <Button leftSection={<IconUserPlus size={14} />} onClick={open}>
          Invite
        </Button>
      )}
      onClose={() => setDraft(nothing)}
      onSubmit={async () => {
        const { message, ...rest } = draft
        await call(addMemberRoute, { params: team, body: { ...rest, ...(message ? { message } : {}) } })
        await refreshed()
        tell(`An invitation was sent to ${draft.email}. Its link works for seven days.`)
      }}
    >
      {(error) => (
        <>
          <TextInput
            label="E-mail"
            type="email"
            required
            data-autofocus
            value={draft.email}
            error={fieldError(error, 'email')}
            onChange={(event) => setDraft({ ...draft, email: event.currentTarget.value })}
          />
          <Switch
            label="As an admin: members, domains, tokens, new announcements"
            checked={draft.is_admin}
            onChange={(event) => setDraft({ ...draft, is_admin: event.currentTarget.checked })}
          />
          <Textarea
            label="Message"
            description="stands in the mail"
            maxLength={500}
            autosize
            minRows={2}
            value={draft.message}
            onChange={(event) => setDraft({ ...draft, message: event.currentTarget.value })}
          />
        </>
      )}
    </Dialog>
  )
}

function Actions({ member }: { member: Member }) {
  const user = useUser()
  const { id, email, is_admin, status, user_id } = member
  const params = { ...team, member_id: id }
  const isSelf = user_id === user?.id
  async function setAdmin() {
    await call(updateMemberRoute, { params, body: { is_admin: !is_admin } })
    await refreshed()
  }
  async function again() {
    await call(addMemberRoute, { params: team, body: { email, is_admin } })
    tell(`The invitation was sent to ${email} again.`)
  }
  return (
    <Dialog
      title={
        status === 'invited'
          ? `Withdraw the invitation of ${email}?`
          : isSelf
            ? 'Leave the team?'
            : `Remove ${email}?`
      }
      action={status === 'invited' ? 'Withdraw' : isSelf ? 'Leave' : 'Remove'}
      danger
      trigger={(open) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={`Actions for ${email}`}>
              <IconDots size={14} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => void setAdmin().catch(tellProblem)}>
              {is_admin ? 'Make a plain member' : 'Make an admin'}
            </Menu.Item>
            {status === 'invited' && (
              <Menu.Item onClick={() => void again().catch(tellProblem)}>Send again</Menu.Item>
            )}
            <Menu.Item color="red" onClick={open}>
              {status === 'invited' ? 'Withdraw' : isSelf ? 'Leave the team' : 'Remove'}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      onSubmit={async () => {
        await call(removeMemberRoute, { params })
        await refreshed()
      }}
    >
      <Text size="sm">
        {status === 'invited'
          ? 'The link in the mail will be dead.'
          : 'Sessions in this team end at once, and so do the API tokens that this person made for it.'}
      </Text>
    </Dialog>
  )
}
