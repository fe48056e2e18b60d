// The settings of the team: name, contacts and time zone, and whether members need two-factor authentication.
import { Skeleton } from '@mantine/core'
import { defaultRoles, roleLabels } from '@pharos/contract/role'
import { getTeamRoute, updateTeamRoute, type Team, type TeamChanges } from '@pharos/contract/team/team'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { answerOf, invalidate, queryClient, useAnswer } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { email, text } from '../ui/form-text-widgets.tsx'
import { country, multiSelect, number, textarea, timeZone, toggle } from '../ui/form-widgets.tsx'
import { changesOf } from '../ui/form-changes.ts'
import { Field, FormLayout, FormSection, useRequestForm } from '../ui/form.tsx'
import { useNewerVersion } from '../ui/newer-version.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { words } from './words.ts'

const { settings: t } = words

const params = { team_id: 'current' } as const

export function TeamSettings() {
  const answer = useAnswer(getTeamRoute, { params })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={answer.refetch} />
  if (!answer.data) return <Skeleton height={240} />
  return <SettingsForm key={answer.data.id} team={answer.data} />
}

type Values = Omit<Required<TeamChanges>, 'token_days_max'> & { readonly token_days_max: number | '' }

/** Empty: no limit. */
const bodyOf = ({ token_days_max: days, ...rest }: Partial<Values>): TeamChanges =>
  days === undefined ? rest : { ...rest, token_days_max: days === '' ? null : days }

const valuesOf = ({
  name,
  description,
  billing_email,
  technical_email,
  abuse_email,
  noc_phone,
  country,
  timezone,
  require_2fa,
  default_roles,
  token_days_max,
}: Team): Values => ({
  name,
  description,
  billing_email,
  technical_email,
  abuse_email,
  noc_phone,
  country,
  timezone,
  require_2fa,
  default_roles,
  token_days_max: token_days_max ?? '',
})

const declared = {
  name: text({ label: t.name }),
  description: textarea({ label: t.description, help: t.descriptionHelp }),
  country: country({ label: t.country }),
  timezone: timeZone({ label: t.zone }),
  technical_email: email({ label: t.technical, help: t.technicalHelp }),
  abuse_email: email({ label: t.abuse, help: t.abuseHelp }),
  billing_email: email({ label: t.billing, help: t.billingHelp }),
  noc_phone: text({ label: t.phone, help: t.phoneHelp, inputMode: 'tel', autoComplete: 'off' }),
  require_2fa: toggle({ label: t.require, help: t.requireHelp }),
  default_roles: multiSelect({
    label: t.defaultRoles,
    help: t.defaultRolesHelp,
    data: defaultRoles.map((value) => ({ value, label: roleLabels[value] })),
  }),
  token_days_max: number({ label: t.tokenDays, help: t.tokenDaysHelp, unit: words.token.days }),
}

function SettingsForm({ team }: { team: Team }) {
  const canManage = useGrant('team.manage')
  const canChangeBilling = useGrant('billing.manage')
  const readOnly = !canManage
  const latest = valuesOf(team)
  const [base, setBase] = useState(latest)
  const form = useRequestForm({
    initialValues: latest,
    route: updateTeamRoute,
    declared,
    request: async (values, opened) =>
      (await call(updateTeamRoute, { params, body: bodyOf(changesOf(opened, values)) })).body,
    onSuccess: async (saved) => {
      queryClient.setQueryData(answerOf(getTeamRoute, { params }).queryKey, saved)
      form.restart(valuesOf(saved))
      await invalidate(getTeamRoute)
      notifySuccess(words.saved)
    },
  })
  const isEdited = form.fields.isDirty()
  const newer = useNewerVersion({
    isNewer: Object.keys(changesOf(base, latest)).length > 0,
    isEdited,
    load: () => {
      setBase(latest)
      form.restart(latest)
    },
  })
  return (
    <>
      <UnsavedGuard isUnsaved={form.isUnsaved} />
      {newer}
      <FormLayout
        form={form}
        action={words.save}
        disabled={!isEdited}
        readOnly={readOnly && !canChangeBilling}
      >
        <FormSection title={t.general} help={<About team={team} readOnly={readOnly} />}>
          <Field form={form} name="name" readOnly={readOnly} />
          <Field form={form} name="description" readOnly={readOnly} />
          <Field form={form} name="country" readOnly={readOnly} />
          <Field form={form} name="timezone" readOnly={readOnly} />
        </FormSection>
        <FormSection title={t.contacts} help={t.contactsHelp}>
          <Field form={form} name="technical_email" readOnly={readOnly} />
          <Field form={form} name="abuse_email" readOnly={readOnly} />
          <Field form={form} name="billing_email" readOnly={!canChangeBilling} />
          <Field form={form} name="noc_phone" readOnly={readOnly} />
        </FormSection>
        <FormSection title={t.security} help={t.securityHelp}>
          <Field form={form} name="require_2fa" readOnly={readOnly} />
          <Field form={form} name="default_roles" readOnly={readOnly} />
          <Field form={form} name="token_days_max" readOnly={readOnly} />
        </FormSection>
      </FormLayout>
    </>
  )
}

const About = ({ team, readOnly }: { team: Team; readOnly: boolean }) => (
  <>
    {t.generalHelp(team.slug, team.member_count)} · <Time at={team.created} />
    {readOnly && <div>{onlyWith('team.manage')}</div>}
  </>
)
