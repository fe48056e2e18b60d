// Edits the team's settings of an announcement: description, AS-SET, regions and the letter's signatory. Shows the effect on regions before saving.
import { Alert, Text } from '@mantine/core'
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  updateAnnouncementRoute,
  type Announcement,
  type Region,
} from '@pharos/contract/byoip/announcement'
import { useMemo, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { AllFields } from '../ui/form.tsx'
import { multiSelect } from '../ui/form-widgets.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { blockedReason } from './condition.ts'
import { detailFields } from './detail-fields.ts'
import { detailsOf } from './details.ts'
import { changesOf, regionChanges, type Edited } from './edited.ts'
import { namesOfRegions } from './region-target.ts'
import { words } from './words.ts'

const { edit: texts } = words

type Props = {
  announcement: Announcement
  regions: readonly Region[]
  trigger: (open: () => void) => ReactNode
}

export function EditAnnouncement({ announcement, regions, trigger }: Props) {
  const { id, cidr, enabled, details } = announcement
  const isBlocked = blockedReason(announcement) !== undefined
  const declared = useMemo(
    () => ({
      ...detailFields,
      regions: multiSelect({
        label: texts.regions,
        help: isBlocked ? texts.regionsBlocked : texts.regionsHelp,
        data: regions.map(({ slug, name }) => ({ value: slug, label: name })),
        check: (value: readonly string[]) =>
          enabled && value.length === 0 ? texts.regionsNeeded : undefined,
      }),
    }),
    [regions, isBlocked, enabled],
  )
  const regionsNow = announcement.regions
  const now: Edited = { ...detailsOf(details), regions: [...regionsNow] }
  return (
    <Dialog
      title={texts.title(cidr)}
      action={texts.action}
      route={updateAnnouncementRoute}
      declared={declared}
      initialValues={now}
      trigger={trigger}
      onSubmit={async (values, opened) => {
        const body = changesOf(opened, values, regionsNow)
        if (Object.keys(body).length === 0) return
        await call(updateAnnouncementRoute, { params: { announcement_id: id }, body })
        notifySuccess(texts.saved)
        await invalidate(getAnnouncementRoute, listAnnouncementsRoute)
      }}
    >
      {(fields, form) => (
        <>
          <AllFields form={form} />
          {enabled && (
            <RegionEffect
              before={regionsNow}
              after={changesOf(fields.getInitialValues(), fields.values, regionsNow).regions}
              regions={regions}
            />
          )}
        </>
      )}
    </Dialog>
  )
}

type EffectProps = {
  before: readonly string[]
  /** Undefined if they are not changed. */
  after: readonly string[] | undefined
  regions: readonly Region[]
}

function RegionEffect({ before, after = before, regions }: EffectProps) {
  const { added, removed, kept } = regionChanges(before, after)
  if (added.length + removed.length === 0 || after.length === 0) return null
  const named = namesOfRegions(regions)
  return (
    <Alert color={removed.length > 0 ? 'warn' : 'info'} role="status">
      {added.length > 0 && <Text size="sm">{texts.added(named(added))}</Text>}
      {removed.length > 0 && <Text size="sm">{texts.removed(named(removed))}</Text>}
      {kept.length > 0 && <Text size="sm">{texts.kept(named(kept))}</Text>}
    </Alert>
  )
}
