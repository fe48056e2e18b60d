// Asks for the name of the zone before it is deleted; while the parent zone points here, deleting it needs a further choice.
import { Checkbox, Modal, Stack, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { deleteZoneRoute, type Zone } from '@pharos/contract/dns/zone'
import { Button, Group } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { text } from '../ui/form-text-widgets.tsx'
import { Field, FormProblem, useRequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { SubmitButton } from '../ui/submit-button.tsx'
import { words } from './words.ts'
import { invalidateZones } from './zone-queries.ts'

const { remove: texts } = words

const declared = { confirm: text({ label: texts.confirm, required: true, autoComplete: 'off', mono: true }) }
const initialValues = { confirm: '', force: false }

const isDelegated = (error: unknown) => error instanceof ProblemError && error.problem.code === 'delegated'

type Props = { readonly zone: Zone; readonly opened: boolean; readonly onClose: () => void }

export function DeleteZone({ zone: { id, name }, opened, onClose }: Props) {
  const navigate = useNavigate()
  const form = useRequestForm({
    initialValues,
    declared,
    validate: ({ confirm }): Record<string, string> =>
      confirm === '' || confirm.trim().toLowerCase().replace(/\.$/, '') === name
        ? {}
        : { confirm: `${confirm} ${texts.wrong}.` },
    request: ({ confirm, force }) =>
      call(deleteZoneRoute, { params: { zone: String(id) }, query: { confirm: confirm.trim(), force } }),
    onSuccess: async () => {
      notifySuccess(texts.done(name))
      await navigate({ to: '/zones' })
      await invalidateZones()
    },
  })
  const { fields, error } = form
  function close() {
    form.restart(initialValues)
    onClose()
  }
  return (
    <Modal opened={opened} onClose={close} title={texts.title(name)}>
      <form onSubmit={form.submit} noValidate>
        <Stack>
          <Text size="sm">{texts.text}</Text>
          <Field form={form} name="confirm" autoFocus />
          {(isDelegated(error) || fields.values.force) && (
            <Checkbox
              label={texts.force}
              description={texts.forceHelp}
              {...fields.getInputProps('force', { type: 'checkbox' })}
            />
          )}
          <FormProblem form={form} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {words.cancel}
            </Button>
            <SubmitButton form={form} color="bad">
              {texts.action}
            </SubmitButton>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
