// Deleting an announcement: only what is withdrawn; for seven days it can be brought back.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  deleteAnnouncement,
  getAnnouncement,
  listAnnouncements,
  restoreAnnouncement,
  type Announcement,
} from '@pharos/contract/byoip'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { forget } from '../api/queries.ts'
import { useUser } from '../shell/use-session.ts'
import { Problem, tell } from '../ui/problem.tsx'

export function DeleteButton({ announcement }: { announcement: Announcement }) {
  const user = useUser()
  if (!user?.current_team.is_admin && !user?.is_staff) return null
  return announcement.details?.deleted ? (
    <Restore announcement={announcement} />
  ) : (
    <Delete announcement={announcement} />
  )
}

function Delete({ announcement: { id, cidr, enabled } }: { announcement: Announcement }) {
  const [opened, { open, close }] = useDisclosure(false)
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => call(deleteAnnouncement, { params: { announcement_id: id } }),
    onSuccess: async () => {
      tell(`${cidr} was deleted. It can be restored for seven days: filter the list by "deleted".`)
      await forget(listAnnouncements)
      await navigate({ to: '/announcements' })
    },
  })
  return (
    <>
      <Button variant="default" onClick={open} disabled={enabled}>
        Delete
      </Button>
      <Modal opened={opened} onClose={close} title={`Delete ${cidr}?`}>
        <Stack>
          <Text size="sm">
            Its checks, letters and history are kept for seven days, and come back with it when it is
            restored.
          </Text>
          {remove.error && <Problem error={remove.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Keep it
            </Button>
            <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
              Delete
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

function Restore({ announcement: { id } }: { announcement: Announcement }) {
  const restore = useMutation({
    mutationFn: () => call(restoreAnnouncement, { params: { announcement_id: id } }),
    onSuccess: () => forget(listAnnouncements, getAnnouncement),
  })
  return (
    <>
      <Button onClick={() => restore.mutate()} loading={restore.isPending}>
        Restore
      </Button>
      {restore.error && <Problem error={restore.error} />}
    </>
  )
}
