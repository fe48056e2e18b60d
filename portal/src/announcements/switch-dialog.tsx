// Before a prefix is switched: what will happen, from the server's own dry run, and what is in the way.
import { Button, Group, List, Modal, Skeleton, Stack, Text } from '@mantine/core'
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  updateAnnouncementRoute,
  type Announcement,
} from '@pharos/contract/byoip'
import { useMutation, useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { forget } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'

export type Wanted = { readonly enabled: boolean; readonly region?: string }

type Props = { announcement: Announcement; wanted: Wanted; opened: boolean; onClose: () => void }

export function SwitchDialog({ announcement, wanted, opened, onClose }: Props) {
  const { id, cidr } = announcement
  const params = { announcement_id: id }
  const preflight = useQuery({
    queryKey: ['preflight', id, wanted, announcement.enabled, announcement.regions],
    enabled: opened,
    gcTime: 0,
    queryFn: () =>
      call(updateAnnouncementRoute, {
        params,
        body: { ...wanted },
        query: { dry_run: true, include: 'region_states' } as object,
      }),
  })
  const change = useMutation({
    mutationFn: () => call(updateAnnouncementRoute, { params, body: { ...wanted } }),
    onSuccess: async () => {
      onClose()
      await forget(getAnnouncementRoute, listAnnouncementsRoute)
    },
  })
  const next = (preflight.data?.body as unknown as { result?: Announcement } | undefined)?.result
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={wanted.enabled ? `Announce ${cidr}?` : `Withdraw ${cidr}?`}
    >
      <Stack>
        {preflight.isPending && <Skeleton height={60} />}
        {preflight.error && <Problem error={preflight.error} />}
        {next && <Effect before={announcement} after={next} />}
        {change.error && <Problem error={change.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Leave it
          </Button>
          <Button
            color={wanted.enabled ? 'indigo' : 'red'}
            disabled={!next}
            loading={change.isPending}
            onClick={() => change.mutate()}
          >
            {wanted.enabled ? 'Announce' : 'Withdraw'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Effect({ before, after }: { before: Announcement; after: Announcement }) {
  const was = new Map(before.region_states?.map(({ region, desired }) => [region, desired]))
  const changes = (after.region_states ?? []).filter(
    ({ region, desired }) => (was.get(region) ?? false) !== desired,
  )
  if (changes.length === 0) return <Text size="sm">Nothing changes: it is so already.</Text>
  return (
    <div>
      <Text size="sm">The routers of these regions will</Text>
      <List size="sm">
        {changes.map(({ region, desired }) => (
          <List.Item key={region}>
            {desired ? 'announce' : 'withdraw'} {after.cidr} in <b>{region}</b>
          </List.Item>
        ))}
      </List>
      {!after.enabled && (
        <Text size="sm" mt="xs">
          It is then announced nowhere by us: what has no other path is unreachable.
        </Text>
      )}
    </div>
  )
}
