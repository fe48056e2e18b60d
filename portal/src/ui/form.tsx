// The one way in which the portal sends a form: fields of @mantine/form, named as the request names them; errors of the
// server at their fields, and once; one submit button.
import { Group, Stack } from '@mantine/core'
import { useForm, type FormErrors, type UseFormReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState, type ReactNode, type SyntheticEvent } from 'react'
import { placeErrors } from './form-errors.ts'
import { Problem } from './problem.tsx'
import { SubmitButton } from './submit-button.tsx'

/** `fields.getInputProps('email')` connects an input; `fields.values` are the values now. */
export type Fields<Values> = UseFormReturnType<Values>

export type RequestForm<Values, Result> = {
  readonly fields: Fields<Values>
  /** The server's refusal; `problem` is the part of it that belongs to no field. */
  readonly error: unknown
  readonly problem: unknown
  readonly isPending: boolean
  /** The last request's result; undefined before it and after `clearResult`. */
  readonly result: Result | undefined
  readonly submit: (event?: SyntheticEvent<HTMLFormElement>) => void
  /** Sets the fields, and clears errors and the result. */
  readonly restart: (values: Values) => void
  /** Clears the error and the result, and keeps the fields. */
  readonly clearResult: () => void
}

type RequestFormOptions<Values, Result> = {
  readonly initialValues: Values
  readonly request: (values: Values) => Promise<Result>
  readonly onSuccess?: (result: Result, values: Values) => unknown
  /** Checks in the browser, before anything is sent, by the name of the field. */
  readonly validate?: (values: Values) => FormErrors
  readonly onValuesChange?: () => void
}

export function useRequestForm<Values extends Record<string, unknown>, Result = unknown>({
  initialValues,
  request,
  onSuccess,
  validate,
  onValuesChange,
}: RequestFormOptions<Values, Result>): RequestForm<Values, Result> {
  const [problem, setProblem] = useState<unknown>()
  const fields = useForm<Values>({
    initialValues,
    ...(validate ? { validate, validateInputOnChange: true } : {}),
    ...(onValuesChange ? { onValuesChange } : {}),
  })
  const send = useMutation({
    mutationFn: request,
    onMutate: () => setProblem(undefined),
    onSuccess: (result, values) => onSuccess?.(result, values),
    onError: (error) => {
      const placed = placeErrors(error, Object.keys(fields.values))
      fields.setErrors(placed.fields)
      setProblem(placed.rest)
    },
  })
  const clearResult = () => {
    send.reset()
    setProblem(undefined)
  }
  const sendIfValid = fields.onSubmit((values) => send.mutate(values))
  return {
    fields,
    error: send.error,
    problem,
    isPending: send.isPending,
    result: send.data,
    clearResult,
    restart(values) {
      fields.setInitialValues(values)
      fields.setValues(values)
      fields.clearErrors()
      clearResult()
    },
    submit(event) {
      // In React's tree a dialog's form is inside the form of its page, though not in the document.
      event?.stopPropagation()
      sendIfValid(event)
    },
  }
}

type FormProps<Values, Result> = {
  readonly form: RequestForm<Values, Result>
  readonly action: string
  readonly gap?: string
  readonly size?: string
  /** Shown next to the button. */
  readonly aside?: ReactNode
  readonly children: ReactNode
}

/** A form on a page; in a dialog, use Dialog. */
export function Form<Values, Result>({
  form,
  action,
  gap = 'md',
  size,
  aside,
  children,
}: FormProps<Values, Result>) {
  return (
    <form onSubmit={form.submit}>
      <Stack gap={gap}>
        {children}
        {form.problem !== undefined && <Problem error={form.problem} />}
        <Group>
          <SubmitButton form={form} {...(size === undefined ? {} : { size })}>
            {action}
          </SubmitButton>
          {aside}
        </Group>
      </Stack>
    </form>
  )
}
