// The bell of the bar above the page: the number of unread notifications, and the latest ones in a popover, on phones in a sheet.
import { ActionIcon, Drawer, Popover, Skeleton } from '@mantine/core'
import { useDisclosure, useWindowEvent } from '@mantine/hooks'
import { IconBell } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useIsPhone } from '../ui/use-is-phone.ts'
import classes from './notifications.module.css'
import { useUnread } from './unread.ts'
import { words } from './words.ts'

const Latest = lazy(async () => ({ default: (await import('./latest.tsx')).Latest }))

export function Bell() {
  const unread = useUnread()
  const isPhone = useIsPhone()
  const path = useLocation().pathname
  const [isOpen, { toggle, close }] = useDisclosure(false)
  useEffect(close, [path, close])
  // Also after "Mark all as read", which loses the focus when it is disabled.
  useWindowEvent('keydown', ({ key }) => {
    if (key === 'Escape') close()
  })
  const button = (
    <ActionIcon
      aria-label={words.bell(unread)}
      aria-haspopup="dialog"
      aria-expanded={isOpen}
      className={classes['bell']!}
      onClick={toggle}
    >
      <IconBell size={18} stroke={1.6} />
      {unread ? (
        <span className={classes['badge']} aria-hidden>
          {unread > 99 ? '99+' : unread}
        </span>
      ) : null}
    </ActionIcon>
  )
  const latest = (
    <Suspense fallback={<Skeleton height={200} />}>
      <Latest unread={unread} onLeave={close} />
    </Suspense>
  )
  if (isPhone)
    return (
      <>
        {button}
        <Drawer
          opened={isOpen}
          onClose={close}
          position="bottom"
          size="100%"
          title={words.title}
          padding={0}
          classNames={{ header: classes['sheetHead']!, body: classes['sheet']! }}
        >
          {latest}
        </Drawer>
      </>
    )
  return (
    <Popover opened={isOpen} onChange={(next) => next || close()} position="bottom-end" width={400} trapFocus>
      <Popover.Target>{button}</Popover.Target>
      <Popover.Dropdown p={0} aria-label={words.title}>
        {latest}
      </Popover.Dropdown>
    </Popover>
  )
}
