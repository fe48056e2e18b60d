// Changes an alert rule.
import {
  getAlertRuleRoute,
  listAlertFiringsRoute,
  listAlertRulesRoute,
  updateAlertRuleRoute,
  type AlertRule,
} from '@pharos/contract/alert/alert-rule'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { FormPage } from '../ui/form-page.tsx'
import { useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { PendingPage } from '../ui/pending-page.tsx'
import { AlertFields, useDeclared } from './alert-fields.tsx'
import { conditionOf, valuesOfRule, type AlertValues } from './condition.ts'
import { words } from './words.ts'

export function EditAlert() {
  const { id } = useParams({ from: '/frame/alerts/$id/edit' })
  const answer = useAnswer(getAlertRuleRoute, { params: { alert_rule_id: Number(id) } })
  return answer.data ? <EditForm rule={answer.data} /> : <PendingPage title={words.one} answer={answer} />
}

function EditForm({ rule }: { readonly rule: AlertRule }) {
  const navigate = useNavigate()
  const params = { id: String(rule.id) }
  const [initialValues] = useState(() => valuesOfRule(rule))
  const declared = useDeclared(initialValues)
  const form = useRequestForm<AlertValues>({
    initialValues,
    route: updateAlertRuleRoute,
    declared,
    request: async (values) => {
      const { name, severity, clear_minutes } = values
      const body = { name, severity, condition: conditionOf(values)!, clear_minutes: Number(clear_minutes) }
      return (await call(updateAlertRuleRoute, { params: { alert_rule_id: rule.id }, body })).body
    },
    onSuccess: async () => {
      await invalidate(getAlertRuleRoute, listAlertRulesRoute, listAlertFiringsRoute)
      await navigate({ to: '/alerts/$id', params })
    },
  })
  return (
    <FormPage
      title={words.editTitle(rule.name)}
      form={form}
      action={words.save}
      cancel={
        <ButtonLink to="/alerts/$id" params={params} variant="default">
          {words.cancel}
        </ButtonLink>
      }
    >
      <AlertFields form={form} isNew={false} />
    </FormPage>
  )
}
