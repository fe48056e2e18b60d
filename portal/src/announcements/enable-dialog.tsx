// Confirms enabling or disabling an announcement: the effect from the server's dry run, or the error that prevents it.
import { List, Modal, Text } from '@mantine/core'
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  updateAnnouncementRoute,
  type Announcement,
  type Region,
} from '@pharos/contract/byoip/announcement'
import { call, resultOf } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { ReviewedPlan } from '../ui/reviewed-plan.tsx'
import { namesOfRegions } from './region-target.ts'
import { words } from './words.ts'

const { dialog: texts } = words

/** Without a region: all regions of the announcement. */
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

function ReviewedChange({ announcement: { id, cidr }, regions, change, onClose }: Omit<Props, 'opened'>) {
  const params = { announcement_id: id }
  const include = { include: 'region_states' } as const
  return (
    <ReviewedPlan
      queryKey={['preflight', id, change]}
      name={cidr}
      read={async () => {
        const { body: before, headers } = await call(getAnnouncementRoute, { params, query: include })
        const etag = headers.get('etag') ?? '*'
        const { body } = await call(updateAnnouncementRoute, {
          params,
          body: { ...change },
          query: { dry_run: true, ...include } as object,
          headers: { 'if-match': etag },
        })
        return { before, after: resultOf<Announcement>(body), etag }
      }}
      apply={(etag) =>
        call(updateAnnouncementRoute, { params, body: { ...change }, headers: { 'if-match': etag } })
      }
      onApplied={async () => {
        onClose()
        await invalidate(getAnnouncementRoute, listAnnouncementsRoute)
      }}
      onClose={onClose}
      action={change.enabled ? texts.announceAction : texts.withdrawAction}
      color={change.enabled ? 'accent' : 'bad'}
    >
      {({ before, after }) => <Effect before={before} after={after} named={namesOfRegions(regions)} />}
    </ReviewedPlan>
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
