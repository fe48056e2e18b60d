// The field for a service account of the team. The value is its id as text, or empty.
import { Select } from '@mantine/core'
import { listServiceAccountsRoute } from '@pharos/contract/team/service-account'
import { useAnswer } from '../api/queries.ts'
import { inputProps } from '../ui/form-text-widgets.tsx'
import type { FieldDeclaration, WidgetProps } from '../ui/form.tsx'
import { words } from './words.ts'

export const serviceAccount = (label: string, help: string): FieldDeclaration => ({
  label,
  help,
  required: false,
  Widget: (props) => <AccountSelect {...props} />,
})

function AccountSelect(props: WidgetProps) {
  const { data, error } = useAnswer(listServiceAccountsRoute, { query: { limit: 1000, ordering: 'name' } })
  return (
    <Select
      {...inputProps(props)}
      error={props.error ?? (error ? words.resources.unknown : undefined)}
      placeholder={words.token.noAccount}
      clearable
      data={data?.results.map(({ id, name }) => ({ value: String(id), label: name })) ?? []}
      value={(props.input.value as string) || null}
      onChange={(value) => props.input.onChange(value ?? '')}
    />
  )
}
