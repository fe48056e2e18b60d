// Before an announcement is enabled or disabled: the effect, from the server's dry run, or what prevents it.
import { Button, Group, List, Modal, Skeleton, Stack, Text } from '@mantine/core'
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  updateAnnouncementRoute,
  type Announcement,
  type Region,
} from '@pharos/contract/byoip'
import { useMutation, useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'
import { namesOfRegions } from './region-target.ts'
import { words } from './words.ts'

const { dialog: texts } = words

/** Without a region: in all of the announcement's regions. */
export type Change = { readonly enabled: boolean; readonly region?: string }

type Props = {
  announcement: Announcement
  regions: readonly Region[]
  change: Change
  opened: boolean
  onClose: () => void
}

export function EnableDialog({ announcement, regions, change, opened, onClose }: Props) {
  const { id, cidr } = announcement
  const params = { announcement_id: id }
  const preflight = useQuery({
    queryKey: ['preflight', id, change, announcement.enabled, announcement.regions],
    enabled: opened,
    gcTime: 0,
    queryFn: () =>
      call(updateAnnouncementRoute, {
        params,
        body: { ...change },
        query: { dry_run: true, include: 'region_states' } as object,
      }),
  })
  const apply = useMutation({
    mutationFn: () => call(updateAnnouncementRoute, { params, body: { ...change } }),
    onSuccess: async () => {
      onClose()
      await invalidate(getAnnouncementRoute, listAnnouncementsRoute)
    },
  })
  const next = (preflight.data?.body as unknown as { result?: Announcement } | undefined)?.result
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={change.enabled ? texts.announce(cidr) : texts.withdraw(cidr)}
    >
      <Stack>
        {preflight.isPending && <Skeleton height={60} />}
        {preflight.error && <Problem error={preflight.error} />}
        {next && <Effect before={announcement} after={next} named={namesOfRegions(regions)} />}
        {apply.error && <Problem error={apply.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button
            color={change.enabled ? 'accent' : 'bad'}
            disabled={!next}
            loading={apply.isPending}
            onClick={() => apply.mutate()}
          >
            {change.enabled ? texts.announceAction : texts.withdrawAction}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

type EffectProps = {
  before: Announcement
  after: Announcement
  named: (slugs: readonly string[]) => string
}

function Effect({ before, after, named }: EffectProps) {
  const was = new Map(before.region_states?.map(({ region, desired }) => [region, desired]))
  const changed = (after.region_states ?? []).filter(
    ({ region, desired }) => (was.get(region) ?? false) !== desired,
  )
  if (changed.length === 0) return <Text size="sm">{texts.noChange}</Text>
  const removed = after.enabled ? before.regions.filter((slug) => !after.regions.includes(slug)) : []
  const kept = (after.region_states ?? []).filter((one) => one.desired && !changed.includes(one))
  return (
    <div>
      <List size="sm">
        {changed.map(({ region, desired }) => (
          <List.Item key={region}>
            {desired ? texts.announceIn(after.cidr) : texts.withdrawFrom(after.cidr)} <b>{named([region])}</b>
          </List.Item>
        ))}
      </List>
      {kept.length > 0 && (
        <Text size="sm" mt="xs">
          {texts.stays(named(kept.map(({ region }) => region)))}
        </Text>
      )}
      {!before.enabled && removed.length > 0 && (
        <Text size="sm" mt="xs">
          {texts.dropped(named(removed))}
        </Text>
      )}
      {!after.enabled && (
        <Text size="sm" mt="xs">
          {texts.nowhere}
        </Text>
      )}
    </div>
  )
}
