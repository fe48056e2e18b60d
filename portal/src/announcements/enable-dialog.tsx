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
import { call, resultOf } from '../api/call.ts'
import { invalidate, teamIdNow } from '../api/queries.ts'
import { isPreconditionFailed, useNewerVersion } from '../ui/newer-version.tsx'
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
  const { cidr } = announcement
  const title = change.enabled ? texts.announce(cidr) : texts.withdraw(cidr)
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <ReviewedChange announcement={announcement} regions={regions} change={change} onClose={onClose} />
    </Modal>
  )
}

/** The effect stays while it is read, and only what it shows is applied. */
function ReviewedChange({ announcement: { id, cidr }, regions, change, onClose }: Omit<Props, 'opened'>) {
  const params = { announcement_id: id }
  const include = { include: 'region_states' } as const
  const preflight = useQuery({
    queryKey: [teamIdNow(), 'preflight', id, change],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: async () => {
      const { body: before, headers } = await call(getAnnouncementRoute, { params, query: include })
      const etag = headers.get('etag') ?? '*'
      const { body } = await call(updateAnnouncementRoute, {
        params,
        body: { ...change },
        query: { dry_run: true, ...include } as object,
        headers: { 'if-match': etag },
      })
      return { before, after: resultOf<Announcement>(body), etag }
    },
  })
  const apply = useMutation({
    mutationFn: (etag: string) =>
      call(updateAnnouncementRoute, { params, body: { ...change }, headers: { 'if-match': etag } }),
    onSuccess: async () => {
      onClose()
      await invalidate(getAnnouncementRoute, listAnnouncementsRoute)
    },
  })
  const isOutdated = isPreconditionFailed(apply.error)
  const newer = useNewerVersion({
    isNewer: isOutdated,
    isEdited: true,
    load: () => {
      apply.reset()
      void preflight.refetch()
    },
    name: cidr,
  })
  const { data } = preflight
  return (
    <Stack>
      {preflight.error && <Problem error={preflight.error} retry={() => preflight.refetch()} />}
      {preflight.isFetching ? (
        <Skeleton height={60} />
      ) : (
        data && <Effect before={data.before} after={data.after} named={namesOfRegions(regions)} />
      )}
      {newer}
      {apply.error && !isOutdated && <Problem error={apply.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {texts.cancel}
        </Button>
        <Button
          color={change.enabled ? 'accent' : 'bad'}
          disabled={!data || preflight.isFetching || isOutdated}
          loading={apply.isPending}
          onClick={() => data && apply.mutate(data.etag)}
        >
          {change.enabled ? texts.announceAction : texts.withdrawAction}
        </Button>
      </Group>
    </Stack>
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
