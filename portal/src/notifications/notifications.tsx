// The page of all notifications of the last 90 days.
import { Button } from '@mantine/core'
import { listNotificationsRoute, type Notification } from '@pharos/contract/messages/notification'
import { IconChecks } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { StatePill } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { lookOf, pageOf } from './kinds.ts'
import classes from './notifications.module.css'
import { markAllRead, useUnread } from './unread.ts'
import { words } from './words.ts'

const columns: readonly Column<Notification>[] = [
  {
    id: 'text',
    header: words.what,
    width: 420,
    grows: true,
    card: 'primary',
    cell: (one) => (
      <RowLink to={pageOf(one)}>
        <span className={classes['row']} data-unread={one.read === null || undefined}>
          {one.text}
        </span>
      </RowLink>
    ),
  },
  { id: 'kind', header: words.kind, width: 220, card: 'secondary', cell: (one) => <KindOf one={one} /> },
  {
    id: 'state',
    header: words.state,
    width: 110,
    card: 'state',
    cell: ({ read }) => (read === null ? <StatePill color="info">{words.isUnread}</StatePill> : words.isRead),
  },
  timeColumn('at', words.when, ({ at }) => at, { card: 'secondary' }),
]

const KindOf = ({ one }: { one: Notification }) => {
  const { icon: Icon, color } = lookOf(one)
  return (
    <span className={classes['kind']}>
      <span className={classes['mark']} data-color={color}>
        <Icon size={16} stroke={1.7} />
      </span>
      {words.kinds[one.kind]}
    </span>
  )
}

const declaration: ListDeclaration = {
  filters: [yesNo('unread', words.state, words.isUnread, words.isRead)],
}

export function Notifications() {
  const view = useListSearch('/notifications', declaration)
  const unread = useUnread()
  const readAll = useMutation({
    mutationFn: markAllRead,
    onSuccess: () => notifySuccess(words.allRead),
    onError: notifyProblem,
  })
  return (
    <Page
      title={words.title}
      note={words.note}
      actions={
        <>
          <ButtonLink to="/profile/notifications" variant="default">
            {words.settings}
          </ButtonLink>
          <Button
            variant="default"
            leftSection={<IconChecks size={14} />}
            disabled={!unread}
            loading={readAll.isPending}
            onClick={() => readAll.mutate()}
          >
            {words.readAll}
          </Button>
        </>
      }
    >
      <List<Notification>
        name="notifications"
        things={words.things}
        route={listNotificationsRoute}
        view={view}
        columns={columns}
        empty={<Empty title={words.noneTitle}>{words.none}</Empty>}
      />
    </Page>
  )
}
