// A dialog with a form: title, text or fields, one submit button, the error if the request fails. Its fields start
// from `initialValues` each time it opens.
import { Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Route } from '@pharos/contract/route'
import { useState, type ReactNode } from 'react'
import { useMayAsStaff } from '../api/use-grant.ts'
import { useUnsaved } from '../api/unsaved.ts'
import { DiscardQuestion } from './discard-question.tsx'
import {
  AllFields,
  FormProblem,
  useRequestForm,
  type Declarations,
  type Fields,
  type RequestForm,
} from './form.tsx'
import { SubmitButton } from './submit-button.tsx'
import { words } from './words.ts'

type DialogProps<Values, Result> = {
  readonly title: string
  /** Renders the element that opens the dialog. */
  readonly trigger: (open: () => void) => ReactNode
  readonly initialValues?: Values
  /** The operation whose body has the rules of the fields. Without the staff role for it, the dialog is not offered. */
  readonly route?: Pick<Route, 'method' | 'body' | 'permission'>
  /** The fields; without children all of them follow `intro`. */
  readonly declared?: Declarations<Values>
  readonly intro?: ReactNode
  readonly children?: ReactNode | ((fields: Fields<Values>, form: RequestForm<Values, Result>) => ReactNode)
  readonly action: string
  readonly danger?: boolean
  readonly size?: string
  /** `opened`: the values with which the dialog was opened. */
  readonly onSubmit: (values: Values, opened: Values) => Promise<Result>
  /** Replaces the fields once the request has succeeded; without it the dialog closes. */
  readonly result?: (result: Result) => ReactNode
  readonly onClose?: () => void
}

type DialogFormOptions<Values, Result> = Pick<
  DialogProps<Values, Result>,
  'route' | 'declared' | 'onSubmit'
> & {
  readonly initialValues: Values
  readonly hasResult: boolean
  readonly onClose: (() => void) | undefined
}

/** `isAsking`: the user is asked whether typed text is discarded. */
function useDialogForm<Values extends Record<string, unknown>, Result>({
  initialValues,
  route,
  declared,
  onSubmit,
  hasResult,
  onClose,
}: DialogFormOptions<Values, Result>) {
  const [opened, { open, close }] = useDisclosure(false)
  const [isAsking, setAsking] = useState(false)
  const form = useRequestForm<Values, Result>({
    initialValues,
    request: onSubmit,
    onSuccess: () => hasResult || shut(),
    ...(route ? { route } : {}),
    ...(declared ? { declared } : {}),
  })
  function start() {
    form.restart(initialValues)
    open()
  }
  function shut() {
    setAsking(false)
    close()
    // Passwords and secrets do not stay in memory.
    form.restart(initialValues)
    onClose?.()
  }
  /** Escape and the cross ask before typed text is lost. */
  const leave = () => (form.isUnsaved() && !isDone ? setAsking(true) : shut())
  const isDone = hasResult && form.result !== undefined
  // A result, such as a secret, is shown once.
  useUnsaved(() => opened && (form.isUnsaved() || isDone))
  return { form, opened, isAsking, isDone, start, shut, leave, stay: () => setAsking(false) }
}

export function Dialog<Values extends Record<string, unknown> = Record<never, never>, Result = unknown>(
  props: DialogProps<Values, Result>,
) {
  return useMayAsStaff(props.route?.permission) ? <OfferedDialog {...props} /> : null
}

function OfferedDialog<Values extends Record<string, unknown>, Result>({
  title,
  trigger,
  initialValues = {} as Values,
  route,
  declared,
  intro,
  children,
  action,
  danger = false,
  size,
  onSubmit,
  result,
  onClose,
}: DialogProps<Values, Result>) {
  const { form, opened, isAsking, isDone, start, shut, leave, stay } = useDialogForm({
    initialValues,
    onSubmit,
    hasResult: result !== undefined,
    onClose,
    ...(route ? { route } : {}),
    ...(declared ? { declared } : {}),
  })
  return (
    <>
      {trigger(start)}
      <Modal
        opened={opened}
        onClose={leave}
        title={title}
        // A click beside the dialog must lose neither typed text nor a secret that is shown once.
        closeOnClickOutside={!form.isUnsaved() && !isDone}
        {...(size === undefined ? {} : { size })}
      >
        <form onSubmit={form.submit} noValidate>
          <Stack>
            {isDone && result ? (
              result(form.result!)
            ) : (
              <>
                {intro}
                {typeof children === 'function' ? children(form.fields, form) : children}
                {children === undefined && declared && <AllFields form={form} />}
              </>
            )}
            <FormProblem form={form} />
            <Group justify="flex-end">
              <Button variant="default" onClick={shut}>
                {isDone ? words.done : words.cancel}
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
      <DiscardQuestion
        opened={opened && isAsking}
        text={words.discard.ofDialog}
        onKeep={stay}
        onDiscard={shut}
      />
    </>
  )
}
