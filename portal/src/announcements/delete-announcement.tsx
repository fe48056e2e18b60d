// Asks before a withdrawn announcement is deleted; it can be restored for seven days.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import {
  deleteAnnouncementRoute,
  listAnnouncementsRoute,
  type Announcement,
} from '@pharos/contract/byoip/announcement'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'

const { remove: texts } = words

type Props = { announcement: Announcement; opened: boolean; onClose: () => void }

export function DeleteDialog({ announcement: { id, cidr }, opened, onClose }: Props) {
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => call(deleteAnnouncementRoute, { params: { announcement_id: id } }),
    onSuccess: async () => {
      notifySuccess(texts.done(cidr))
      await invalidate(listAnnouncementsRoute)
      await navigate({ to: '/announcements' })
    },
  })
  return (
    <Modal opened={opened} onClose={onClose} title={texts.title(cidr)}>
      <Stack>
        <Text size="sm">{texts.text}</Text>
        {remove.error && <Problem error={remove.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.dialog.cancel}
          </Button>
          <Button color="bad" loading={remove.isPending} onClick={() => remove.mutate()}>
            {texts.action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
