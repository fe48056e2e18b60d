// Bringing a deleted announcement back, and how long that is possible.
import { Button, Text } from '@mantine/core'
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  restoreAnnouncementRoute,
  type Announcement,
} from '@pharos/contract/byoip'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { forget } from '../api/queries.ts'
import { useUser } from '../shell/use-session.ts'
import { tell, tellProblem } from '../ui/problem.tsx'
import { daysUntil } from '../ui/time.tsx'

/** As restoreAnnouncementRoute says. */
const restorableMs = 7 * 86_400_000

const endOf = (deleted: string): string => new Date(new Date(deleted).getTime() + restorableMs).toISOString()

export function DaysLeft({ deleted }: { deleted: string }) {
  const days = daysUntil(endOf(deleted))
  return (
    <Text span size="sm" {...(days <= 1 ? { fw: 600 } : {})}>
      {days === 0 ? 'none' : days === 1 ? 'the last day' : `${days} days`}
    </Text>
  )
}

export function useMayChange(): boolean {
  const user = useUser()
  return user !== undefined && (user.current_team.is_admin || user.is_staff)
}

type RestoreProps = { announcement: Announcement; size?: string; onRestored?: () => unknown }

export function RestoreButton({ announcement: { id, cidr }, size = 'xs', onRestored }: RestoreProps) {
  const mayChange = useMayChange()
  const restore = useMutation({
    mutationFn: () => call(restoreAnnouncementRoute, { params: { announcement_id: id } }),
    onSuccess: async () => {
      tell(`${cidr} is back, switched off, and is being checked.`)
      await forget(listAnnouncementsRoute, getAnnouncementRoute)
      await onRestored?.()
    },
    onError: tellProblem,
  })
  if (!mayChange) return null
  return (
    <Button size={size} variant="default" loading={restore.isPending} onClick={() => restore.mutate()}>
      Restore
    </Button>
  )
}
