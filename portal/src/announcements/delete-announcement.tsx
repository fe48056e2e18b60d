// Deletes an announcement that is withdrawn; it can be restored for seven days.
import { Button, Text, Tooltip } from '@mantine/core'
import { deleteAnnouncementRoute, listAnnouncementsRoute, type Announcement } from '@pharos/contract/byoip'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { useIsAdmin } from '../api/use-session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { notifySuccess } from '../ui/notify.ts'

export function DeleteButton({ announcement: { id, cidr, enabled } }: { announcement: Announcement }) {
  const isAdmin = useIsAdmin()
  const navigate = useNavigate()
  if (!isAdmin) return null
  return (
    <Dialog
      title={`Delete ${cidr}?`}
      action="Delete"
      danger
      trigger={(open) => (
        <Tooltip label="Disable it first and wait until it is withdrawn" disabled={!enabled}>
          <Button variant="default" onClick={open} disabled={enabled}>
            Delete
          </Button>
        </Tooltip>
      )}
      onSubmit={async () => {
        await call(deleteAnnouncementRoute, { params: { announcement_id: id } })
        notifySuccess(`${cidr} deleted. You can restore it for 7 days.`)
        await invalidate(listAnnouncementsRoute)
        await navigate({ to: '/announcements' })
      }}
    >
      <Text size="sm">Checks, letters and history are kept for 7 days and come back if you restore it.</Text>
    </Dialog>
  )
}
