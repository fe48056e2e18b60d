// The latest notifications, below the bell.
import { Anchor, Button, Skeleton } from '@mantine/core'
import { listNotificationsRoute, type Notification } from '@pharos/contract/messages/notification'
import { IconBellOff, IconChecks } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { ago, formatTime, useZone } from '../ui/time.tsx'
import { lookOf, pageOf } from './kinds.ts'
import classes from './notifications.module.css'
import { markAllRead } from './unread.ts'
import { words } from './words.ts'

const shownMax = 20

type LatestProps = { readonly unread: number | undefined; readonly onLeave: () => void }

export function Latest({ unread, onLeave }: LatestProps) {
  const answer = useAnswer(listNotificationsRoute, { query: { limit: shownMax } })
  const readAll = useMutation({ mutationFn: markAllRead, onError: notifyProblem })
  return (
    <div className={classes['latest']}>
      <div className={classes['head']}>
        <strong className={classes['name']}>{words.title}</strong>
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconChecks size={14} />}
          disabled={!unread}
          loading={readAll.isPending}
          onClick={() => readAll.mutate()}
        >
          {words.readAll}
        </Button>
      </div>
      <div className={classes['scroll']}>
        {answer.error && !answer.data && (
          <div className={classes['pad']}>
            <Problem error={answer.error} retry={answer.refetch} />
          </div>
        )}
        {answer.isPending && (
          <div className={classes['pad']}>
            <Skeleton height={160} />
          </div>
        )}
        {answer.data?.results.length === 0 && (
          <div className={classes['none']}>
            <IconBellOff size={24} stroke={1.4} />
            <strong>{words.noneTitle}</strong>
            <span>{words.none}</span>
          </div>
        )}
        {answer.data && answer.data.results.length > 0 && (
          <ul className={classes['items']} aria-label={words.latest}>
            {answer.data.results.map((one) => (
              <Item key={one.id} notification={one} onLeave={onLeave} />
            ))}
          </ul>
        )}
      </div>
      <div className={classes['foot']}>
        <Anchor component={Link} to="/notifications" size="sm" onClick={onLeave}>
          {words.all}
        </Anchor>
        <Anchor component={Link} to="/profile/notifications" size="sm" onClick={onLeave}>
          {words.settings}
        </Anchor>
      </div>
    </div>
  )
}

function Item({ notification, onLeave }: { notification: Notification; onLeave: () => void }) {
  const { kind, text, at, read } = notification
  const { icon: Icon, color } = lookOf(notification)
  const router = useRouter()
  const [zone] = useZone()
  const page = pageOf(notification)
  return (
    <li>
      <a
        href={page}
        className={classes['item']}
        data-unread={read === null || undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          onLeave()
          void router.navigate({ href: page })
        }}
      >
        <span className={classes['icon']} data-color={color}>
          <Icon size={16} stroke={1.7} />
        </span>
        <span className={classes['what']}>
          <span className={classes['text']}>{text}</span>
          <span className={classes['when']}>
            {words.kinds[kind]} ·{' '}
            <time dateTime={at} title={formatTime(at, zone)}>
              {ago(at)}
            </time>
          </span>
        </span>
        {read === null && <span className={classes['dot']} role="img" aria-label={words.isUnread} />}
      </a>
    </li>
  )
}
