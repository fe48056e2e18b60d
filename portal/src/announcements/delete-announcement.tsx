// Deleting an announcement: only what is withdrawn; for seven days it can be brought back.
import { Button, Text, Tooltip } from '@mantine/core'
import { deleteAnnouncementRoute, listAnnouncementsRoute, type Announcement } from '@pharos/contract/byoip'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { forget } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { tell } from '../ui/problem.tsx'
import { useMayChange } from './restore.tsx'

export function DeleteButton({ announcement: { id, cidr, enabled } }: { announcement: Announcement }) {
  const mayChange = useMayChange()
  const navigate = useNavigate()
  if (!mayChange) return null
  return (
    <Dialog
      title={`Delete ${cidr}?`}
      action="Delete"
      danger
      trigger={(open) => (
        <Tooltip label="Switch it off first, and wait until it is withdrawn" disabled={!enabled}>
          <Button variant="default" onClick={open} disabled={enabled}>
            Delete
          </Button>
        </Tooltip>
      )}
      onSubmit={async () => {
        await call(deleteAnnouncementRoute, { params: { announcement_id: id } })
        tell(`${cidr} was deleted. For seven days it can be restored.`)
        await forget(listAnnouncementsRoute)
        await navigate({ to: '/announcements' })
      }}
    >
      <Text size="sm">
        Its checks, letters and history are kept for seven days, and come back with it when it is restored.
      </Text>
    </Dialog>
  )
}
