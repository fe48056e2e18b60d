// Suspends or resumes an announcement of a customer: the effects first, and a reason that the customer sees.
import { Button } from '@mantine/core'
import {
  listAnnouncementsOfTeamRoute,
  resumeAnnouncementRoute,
  suspendAnnouncementRoute,
  type Announcement,
} from '@pharos/contract/byoip/announcement'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { textarea } from '../ui/form-widgets.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Field } from '../ui/form.tsx'
import { refreshCustomers } from './customer-view.tsx'
import { Effects } from './effects.tsx'
import { listed, words } from './words.ts'

const { announcements: t } = words

const refresh = () => Promise.all([invalidate(listAnnouncementsOfTeamRoute), refreshCustomers()])

export const Suspension = ({ announcement }: { announcement: Announcement }) =>
  announcement.details?.suspended ? (
    <Resume announcement={announcement} />
  ) : (
    <Suspend announcement={announcement} />
  )

const declared = { reason: textarea({ label: t.reasonLabel, help: t.reasonHelp }) }

const onRouter = new Set<Announcement['status']>([
  'announcing',
  'announced',
  'partially_announced',
  'withdrawing',
])

function Suspend({ announcement: { id, cidr, status, regions } }: { announcement: Announcement }) {
  return (
    <Dialog
      title={t.suspendTitle(cidr)}
      action={t.suspend}
      danger
      route={suspendAnnouncementRoute}
      initialValues={{ reason: '' }}
      declared={declared}
      trigger={(open) => (
        <Button size="xs" variant="default" aria-label={t.suspendOf(cidr)} onClick={open}>
          {t.suspend}
        </Button>
      )}
      onSubmit={async (body) => {
        await call(suspendAnnouncementRoute, { params: { announcement_id: id }, body })
        notifySuccess(t.suspended(cidr))
        await refresh()
      }}
    >
      {(_fields, form) => (
        <>
          <Effects
            texts={
              onRouter.has(status)
                ? [t.withdrawnFrom(cidr, listed(regions, 8)), t.keeps, t.guard]
                : [t.notAnnounced(cidr)]
            }
          />
          <Field form={form} name="reason" autoFocus />
        </>
      )}
    </Dialog>
  )
}

function Resume({ announcement: { id, cidr, enabled, regions } }: { announcement: Announcement }) {
  return (
    <Dialog
      route={resumeAnnouncementRoute}
      title={t.resumeTitle(cidr)}
      action={t.resume}
      trigger={(open) => (
        <Button size="xs" variant="default" aria-label={t.resumeOf(cidr)} onClick={open}>
          {t.resume}
        </Button>
      )}
      onSubmit={async () => {
        await call(resumeAnnouncementRoute, { params: { announcement_id: id } })
        notifySuccess(t.resumed(cidr))
        await refresh()
      }}
    >
      <Effects confirms texts={[enabled ? t.resumes(cidr, listed(regions, 8)) : t.resumesOff(cidr)]} />
    </Dialog>
  )
}
