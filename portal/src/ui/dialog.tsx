// A dialog with a form: title, text or fields, one submit button, the error if the request fails. Its fields start
// from `initialValues` each time it opens.
import { Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useRequestForm, type Fields } from './form.tsx'
import { Problem } from './problem.tsx'
import { SubmitButton } from './submit-button.tsx'

type DialogProps<Values, Result> = {
  readonly title: string
  /** Renders the element that opens the dialog. */
  readonly trigger: (open: () => void) => ReactNode
  readonly initialValues?: Values
  readonly children?: ReactNode | ((fields: Fields<Values>) => ReactNode)
  readonly action: string
  readonly danger?: boolean
  readonly onSubmit: (values: Values) => Promise<Result>
  /** Shown in place of the fields once the request has succeeded; without it the dialog closes. */
  readonly result?: (result: Result) => ReactNode
  readonly onClose?: () => void
}

export function Dialog<Values extends Record<string, unknown> = Record<never, never>, Result = unknown>({
  title,
  trigger,
  initialValues = {} as Values,
  children,
  action,
  danger = false,
  onSubmit,
  result,
  onClose,
}: DialogProps<Values, Result>) {
  const [opened, { open, close }] = useDisclosure(false)
  const form = useRequestForm<Values, Result>({
    initialValues,
    request: onSubmit,
    onSuccess: () => result || shut(),
  })
  function start() {
    form.restart(initialValues)
    open()
  }
  function shut() {
    close()
    // Passwords and secrets do not stay in memory.
    form.restart(initialValues)
    onClose?.()
  }
  const isDone = result !== undefined && form.result !== undefined
  return (
    <>
      {trigger(start)}
      <Modal opened={opened} onClose={shut} title={title}>
        <form onSubmit={form.submit}>
          <Stack>
            {isDone
              ? result(form.result!)
              : typeof children === 'function'
                ? children(form.fields)
                : children}
            {form.problem !== undefined && <Problem error={form.problem} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={shut}>
                {isDone ? 'Done' : 'Cancel'}
              </Button>
              {!isDone && (
                <SubmitButton form={form} color={danger ? 'bad' : 'accent'}>
                  {action}
                </SubmitButton>
              )}
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
