// The user's notifications in the current team, and which are mailed; for staff also the mails of their work. The mails
// link to this page.
import { Alert, Skeleton } from '@mantine/core'
import {
  getNotificationSettingsRoute,
  updateNotificationSettingsRoute,
  type Digest,
  type NotificationSettings,
} from '@pharos/contract/messages/notification'
import {
  staffNotificationKinds,
  teamNotificationKinds,
  type NotificationKind,
  type StaffNotificationKind,
  type TeamNotificationKind,
} from '@pharos/contract/messages/notification-text'
import type { User } from '@pharos/contract/session/session'
import { call } from '../api/call.ts'
import { queryClient, answerOf, useAnswer } from '../api/queries.ts'
import { useUser } from '../api/use-session.ts'
import { select, toggle } from '../ui/form-widgets.tsx'
import { Field, FormLayout, FormSection, useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { rate } from './rate-field.tsx'
import { words } from './words.ts'

const { notification: t } = words

export function NotificationSettingsPage() {
  const user = useUser()
  const answer = useAnswer(getNotificationSettingsRoute, {})
  if (!user) return null
  const team = user.current_team
  return (
    <Page
      title={t.title}
      note={t.note(team.name)}
      actions={
        <ButtonLink to="/notifications" variant="default">
          {t.all}
        </ButtonLink>
      }
    >
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={320} />}
      {answer.data && <SettingsForm key={team.id} user={user} settings={answer.data} />}
    </Page>
  )
}

type Values = {
  mail: boolean
  digest: Digest
  attack_bps: number | null
  attack_pps: number | null
  monthly_report: boolean
  staff_mail: boolean
  staff_digest: Digest
} & Record<NotificationKind, boolean>

const digest = select({
  label: t.digest,
  required: true,
  data: [
    { value: 'immediate', label: t.digests.immediate },
    { value: 'hourly', label: t.digests.hourly },
    { value: 'daily', label: t.digests.daily },
  ],
})

const kindFields = Object.fromEntries(
  [...teamNotificationKinds, ...staffNotificationKinds].map((kind) => [kind, toggle(t.kinds[kind])]),
)

const declared = {
  mail: toggle({ label: t.mail, help: t.mailHelp }),
  digest,
  attack_bps: rate({ of: 'bps', label: t.bps, help: t.bpsHelp }),
  attack_pps: rate({ of: 'pps', label: t.pps, help: t.ppsHelp }),
  staff_mail: toggle({ label: t.staffMail, help: t.staffMailHelp }),
  staff_digest: digest,
  monthly_report: toggle({ label: t.monthlyReport, help: t.monthlyReportHelp }),
  ...kindFields,
}

const valuesOf = ({ kinds, staff, ...settings }: NotificationSettings): Values => ({
  ...settings,
  ...kinds,
  alert: kinds.alert ?? true,
  staff_access: kinds.staff_access ?? false,
  staff_mail: staff?.mail ?? false,
  staff_digest: staff?.digest ?? 'immediate',
  approval_opened: staff?.kinds.approval_opened ?? false,
  letter_to_review: staff?.kinds.letter_to_review ?? false,
  sampling_implausible: staff?.kinds.sampling_implausible ?? false,
})

const pick = <Kind extends NotificationKind>(values: Values, kinds: readonly Kind[]) =>
  Object.fromEntries(kinds.map((kind) => [kind, values[kind]])) as Record<Kind, boolean>

const bodyOf = (values: Values, isStaff: boolean): NotificationSettings => ({
  mail: values.mail,
  digest: values.digest,
  attack_bps: values.attack_bps,
  attack_pps: values.attack_pps,
  kinds: pick<TeamNotificationKind>(values, teamNotificationKinds),
  monthly_report: values.monthly_report,
  staff: isStaff
    ? {
        mail: values.staff_mail,
        digest: values.staff_digest,
        kinds: pick<StaffNotificationKind>(values, staffNotificationKinds),
      }
    : null,
})

const attackKinds: readonly TeamNotificationKind[] = ['attack', 'attack_ended']

function SettingsForm({ user, settings }: { user: User; settings: NotificationSettings }) {
  const isStaff = settings.staff !== null
  // Staff may be in a team that they are not a member of: it has no settings of theirs.
  const isMember = user.teams.some(({ id }) => id === user.current_team.id)
  const form = useRequestForm<Values, NotificationSettings>({
    initialValues: valuesOf(settings),
    route: updateNotificationSettingsRoute,
    declared,
    request: async (values) =>
      (await call(updateNotificationSettingsRoute, { body: bodyOf(values, isStaff) })).body,
    onSuccess: (saved) => {
      queryClient.setQueryData(answerOf(getNotificationSettingsRoute, {}).queryKey, saved)
      form.restart(valuesOf(saved))
      notifySuccess(words.saved)
    },
  })
  const { mail, staff_mail: staffMail, attack_bps: bps, attack_pps: pps } = form.fields.values
  return (
    <FormLayout form={form} action={words.save} disabled={!form.fields.isDirty()}>
      <UnsavedGuard isUnsaved={form.isUnsaved} />
      {isMember && (
        <>
          <FormSection title={t.mails} help={t.mailsHelp(user.email)}>
            <Field form={form} name="mail" />
            <Field form={form} name="digest" readOnly={!mail} />
          </FormSection>
          <FormSection title={t.attacks} help={t.attacksHelp}>
            <Field form={form} name="attack_bps" />
            <Field form={form} name="attack_pps" />
            {bps === null && pps === null && <Alert color="warn">{t.noAttacks}</Alert>}
            {attackKinds.map((kind) => (
              <Field key={kind} form={form} name={kind} readOnly={!mail} />
            ))}
          </FormSection>
          <FormSection title={t.report} help={t.reportHelp}>
            <Field form={form} name="monthly_report" readOnly={!mail} />
          </FormSection>
          <FormSection title={t.other} help={t.otherHelp}>
            {teamNotificationKinds
              .filter((kind) => !attackKinds.includes(kind))
              .map((kind) => (
                <Field key={kind} form={form} name={kind} readOnly={!mail} />
              ))}
          </FormSection>
        </>
      )}
      {isStaff && (
        <FormSection title={t.staff} help={isMember ? t.staffHelp : t.staffOnlyHelp(user.current_team.name)}>
          <Field form={form} name="staff_mail" />
          <Field form={form} name="staff_digest" readOnly={!staffMail} />
          {staffNotificationKinds.map((kind) => (
            <Field key={kind} form={form} name={kind} readOnly={!staffMail} />
          ))}
        </FormSection>
      )}
    </FormLayout>
  )
}
