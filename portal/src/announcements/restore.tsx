// Restores a deleted announcement, and shows how long that is possible.
import { Button, Text } from '@mantine/core'
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  restoreAnnouncementRoute,
  type Announcement,
} from '@pharos/contract/byoip/announcement'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { daysUntil } from '../ui/time.tsx'
import { words } from './words.ts'

const { deleted: texts } = words

/** As restoreAnnouncementRoute documents. */
const restorableMs = 7 * 86_400_000

const endOf = (deleted: string): string => new Date(new Date(deleted).getTime() + restorableMs).toISOString()

/** Returns `7 days`: how long it can be restored. */
export function daysText(deleted: string): string {
  const days = daysUntil(endOf(deleted))
  return days === 0 ? texts.noTime : days === 1 ? texts.lessThanDay : texts.days(days)
}

export function DaysLeft({ deleted }: { deleted: string }) {
  const days = daysUntil(endOf(deleted))
  return (
    <Text span size="sm" {...(days <= 1 ? { fw: 600 } : {})}>
      {daysText(deleted)}
    </Text>
  )
}

type RestoreProps = { announcement: Announcement; size?: string; onRestored?: () => unknown }

export function RestoreButton({ announcement: { id, cidr }, size = 'xs', onRestored }: RestoreProps) {
  const canManage = useGrant('ipam.manage')
  const restore = useMutation({
    mutationFn: () => call(restoreAnnouncementRoute, { params: { announcement_id: id } }),
    onSuccess: async () => {
      notifySuccess(texts.restored(cidr))
      await invalidate(listAnnouncementsRoute, getAnnouncementRoute)
      await onRestored?.()
    },
    onError: notifyProblem,
  })
  if (!canManage) return null
  return (
    <Button size={size} variant="default" loading={restore.isPending} onClick={() => restore.mutate()}>
      {texts.restore}
    </Button>
  )
}
