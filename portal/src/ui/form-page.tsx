// A page of the kind "form": title, sections in one column of 640 px, help beside them, the actions at the bottom, and a question
// before unsaved changes are lost.
import type { ReactNode } from 'react'
import { FormLayout, type RequestForm } from './form.tsx'
import { Page } from './page.tsx'
import { UnsavedGuard } from './unsaved-guard.tsx'

type FormPageProps<Values, Result> = {
  readonly title: string
  readonly note?: ReactNode
  readonly form: RequestForm<Values, Result>
  readonly action: string
  readonly cancel: ReactNode
  readonly children: ReactNode
}

export function FormPage<Values extends Record<string, unknown>, Result>({
  title,
  note,
  form,
  action,
  cancel,
  children,
}: FormPageProps<Values, Result>) {
  return (
    <Page title={title} {...(note === undefined ? {} : { note })}>
      <UnsavedGuard isUnsaved={form.isUnsaved} />
      <FormLayout form={form} action={action} cancel={cancel}>
        {children}
      </FormLayout>
    </Page>
  )
}
