// A new alert rule, filled from the chart that linked here.
import { createAlertRuleRoute, listAlertRulesRoute } from '@pharos/contract/alert/alert-rule'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { FormPage } from '../ui/form-page.tsx'
import { useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { AlertFields, useDeclared } from './alert-fields.tsx'
import { conditionOf, valuesOfDraft, type AlertValues } from './condition.ts'
import { words } from './words.ts'

export function NewAlert() {
  const { search } = usePageSearch('/alerts/new')
  const navigate = useNavigate()
  const [initialValues] = useState(() => valuesOfDraft(search))
  const [subject, setSubject] = useState(initialValues)
  const declared = useDeclared(subject)
  const form = useRequestForm<AlertValues, { readonly id: number }>({
    initialValues,
    route: createAlertRuleRoute,
    declared,
    request: async (values) => {
      const { name, severity, clear_minutes } = values
      const condition = conditionOf(values)!
      const body = { name, severity, condition, clear_minutes: Number(clear_minutes) }
      return (await call(createAlertRuleRoute, { body })).body
    },
    onSuccess: async ({ id }) => {
      await invalidate(listAlertRulesRoute)
      await navigate({ to: '/alerts/$id', params: { id: String(id) } })
    },
  })
  const { fields } = form
  const { kind, object } = fields.values
  useEffect(() => {
    if (kind === subject.kind && object === subject.object) return
    const next = { ...fields.values, part: '', threshold: '' as const }
    // The object and the limit of another kind mean something else.
    const values = kind === subject.kind ? next : { ...valuesOfDraft({ kind }), severity: next.severity }
    setSubject(values)
    fields.setValues(values)
  }, [kind, object])
  return (
    <FormPage
      title={words.add}
      note={words.newNote}
      form={form}
      action={words.add}
      cancel={
        <ButtonLink to="/alerts" variant="default">
          {words.cancel}
        </ButtonLink>
      }
    >
      <AlertFields form={form} isNew />
    </FormPage>
  )
}
