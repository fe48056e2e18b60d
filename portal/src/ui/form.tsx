// The one way in which the portal sends a form: fields named as the request names them, declared with label, help and widget;
// the rules come from the operation's body. An error appears once, at its field; errors without a field appear in one box.
import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { useForm, type FormErrors, type UseFormReturnType } from '@mantine/form'
import type { Route } from '@pharos/contract/route'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useMemo, useReducer, useRef, useState, type ReactNode, type SyntheticEvent } from 'react'
import { isConnectionError } from '../api/connection.ts'
import { errorSentence, placeErrors } from './form-errors.ts'
import { findBreach, rulesOf, type FieldRule } from './form-rules.ts'
import classes from './form.module.css'
import { Problem } from './problem.tsx'
import { SubmitButton } from './submit-button.tsx'
import { words } from './words.ts'

/** `fields.getInputProps('email')` connects an input; `fields.values` are the values now. */
export type Fields<Values> = UseFormReturnType<Values>

/** What a widget gets: the properties of a Mantine input, the field's rule, and whether it can be changed. */
export type WidgetProps = {
  readonly label: ReactNode
  readonly name: string
  readonly description: ReactNode
  readonly error: ReactNode
  readonly required: boolean
  readonly withAsterisk: false
  readonly readOnly: boolean
  readonly inputWrapperOrder: ('label' | 'input' | 'description' | 'error')[]
  readonly rule: FieldRule
  /** `value`, `onChange` and further properties of @mantine/form. */
  readonly input: ReturnType<Fields<Record<string, unknown>>['getInputProps']>
  readonly autoFocus: boolean
}

/** A field of a form. `form-widgets.tsx` has a function for each widget that returns one. */
export type FieldDeclaration = {
  readonly label: string
  /** One sentence below the field. */
  readonly help?: ReactNode
  /** Overrides the body's rule, for a field without one or for a stricter form. */
  readonly required?: boolean
  /** Checks more than the schema can; returns the error text that follows the label. */
  readonly check?: (value: never) => string | undefined
  readonly isCheckbox?: boolean
  readonly Widget: (props: WidgetProps) => ReactNode
}

export type Declarations<Values> = { readonly [Name in keyof Values]?: FieldDeclaration }

export type RequestForm<Values, Result> = {
  readonly fields: Fields<Values>
  readonly declared: Declarations<Values>
  readonly rules: Readonly<Record<string, FieldRule>>
  /** The server's error; `problem` is its part without a field. */
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
  /** Reports whether the fields differ from the last loaded or saved values. Correct at any moment, not only while rendering. */
  readonly isUnsaved: () => boolean
}

type RequestFormOptions<Values, Result> = {
  readonly initialValues: Values
  /** The operation whose body has the rules of the fields. */
  readonly route?: Pick<Route, 'method' | 'body'>
  readonly declared?: Declarations<Values>
  /** `opened`: the values with which the form was opened; see form-changes.ts. */
  readonly request: (values: Values, opened: Values) => Promise<Result>
  readonly onSuccess?: (result: Result, values: Values) => unknown
  /** Checks in the browser, before anything is sent, by the name of the field. */
  readonly validate?: (values: Values) => FormErrors
  readonly onValuesChange?: () => void
}

const noRule: FieldRule = { required: false }

export function useRequestForm<Values extends Record<string, unknown>, Result = unknown>({
  initialValues,
  route,
  declared = {},
  request,
  onSuccess,
  validate,
  onValuesChange,
}: RequestFormOptions<Values, Result>): RequestForm<Values, Result> {
  const [problem, setProblem] = useState<unknown>()
  const { element, refuse } = useErrorFocus()
  const isSent = useRef(false)
  const rules = useMemo(() => rulesWith(route, declared), [route, declared])
  const fields = useForm<Values>({
    initialValues,
    validate: (values) => ({ ...errorsOf(declared, rules, values), ...validate?.(values) }),
    ...(validate ? { validateInputOnChange: true } : {}),
    ...(onValuesChange ? { onValuesChange } : {}),
  })
  const send = useMutation({
    mutationFn: (values: Values) => request(values, fields.getInitialValues()),
    onMutate: () => setProblem(undefined),
    onSuccess: (result, values) => {
      // Leaving the page from here loses no changes.
      isSent.current = true
      return onSuccess?.(result, values)
    },
    onError: (error) => {
      const placed = placeErrors(error, Object.keys(fields.values), labelsOf(declared))
      fields.setErrors(placed.fields)
      setProblem(placed.rest)
      if (Object.keys(placed.fields).length > 0) refuse()
    },
  })
  const isDirty = useRef(false)
  isDirty.current = fields.isDirty()
  const clearResult = () => {
    send.reset()
    setProblem(undefined)
  }
  const sendIfValid = fields.onSubmit(
    (values) => send.mutate(values),
    () => refuse(),
  )
  return {
    fields,
    declared,
    rules,
    error: send.error,
    problem,
    isPending: send.isPending,
    result: send.data,
    clearResult,
    isUnsaved: () => isDirty.current && !isSent.current,
    restart(values) {
      fields.setInitialValues(values)
      fields.setValues(values)
      fields.clearErrors()
      isSent.current = false
      isDirty.current = false
      clearResult()
    },
    submit(event) {
      // In React's tree a dialog's form is inside the form of its page, though not in the document.
      event?.stopPropagation()
      if (event) element.current = event.currentTarget
      sendIfValid(event)
    },
  }
}

/** After `refuse`, the first field with an error of the form `element` gets the focus. */
function useErrorFocus() {
  const element = useRef<HTMLFormElement>(null)
  const [refusals, refuse] = useReducer((count: number) => count + 1, 0)
  // An effect, because an animation frame can come before React has rendered the errors.
  useEffect(() => {
    if (refusals > 0) focusFirstError(element.current)
  }, [refusals])
  return { element, refuse }
}

const labelsOf = <Values,>(declared: Declarations<Values>): Record<string, string> =>
  Object.fromEntries(Object.entries(declared).map(([name, one]) => [name, (one as FieldDeclaration).label]))

/** A declaration decides whether a field is required, if it sets `required`. */
function rulesWith<Values>(
  route: Pick<Route, 'method' | 'body'> | undefined,
  declared: Declarations<Values>,
): Record<string, FieldRule> {
  const rules = route ? rulesOf(route) : {}
  for (const [name, one] of Object.entries(declared) as [string, FieldDeclaration][])
    if (one.required !== undefined) rules[name] = { ...rules[name], required: one.required }
  return rules
}

function errorsOf<Values extends Record<string, unknown>>(
  declared: Declarations<Values>,
  rules: Readonly<Record<string, FieldRule>>,
  values: Values,
): FormErrors {
  const errors: FormErrors = {}
  for (const [name, { label, check }] of Object.entries(declared) as [string, FieldDeclaration][]) {
    const breach = findBreach(rules[name] ?? noRule, values[name])
    const msg = breach ? undefined : check?.(values[name] as never)
    if (breach) errors[name] = errorSentence(label, breach)
    else if (msg !== undefined) errors[name] = errorSentence(label, { type: 'invalid', msg })
  }
  return errors
}

function focusFirstError(form: HTMLFormElement | null): void {
  const first = form?.querySelector<HTMLElement>(
    '[data-field-error], :is(input, textarea)[aria-invalid=true]',
  )
  const input =
    // A field of several inputs names the wrong one.
    first?.querySelector<HTMLElement>(':is(input, textarea)[aria-invalid=true]') ??
    first?.querySelector<HTMLElement>(':is(input, textarea, button):not([type=hidden])') ??
    first
  input?.focus()
}

type FieldProps<Values, Result> = {
  readonly form: RequestForm<Values, Result>
  readonly name: keyof Values & string
  readonly autoFocus?: boolean
  readonly readOnly?: boolean
}

/** A declared field: label, widget, help below it, its error. */
export function Field<Values, Result>({
  form: { fields, declared, rules },
  name,
  autoFocus = false,
  readOnly = false,
}: FieldProps<Values, Result>) {
  const declaration = declared[name]
  if (!declaration) throw new Error(`The form declares no field ${name}`)
  const { label, help, isCheckbox = false, Widget } = declaration
  const rule = rules[name] ?? noRule
  const { error, ...input } = (fields as unknown as Fields<Record<string, unknown>>).getInputProps(name, {
    type: isCheckbox ? 'checkbox' : 'input',
  })
  const mark = !isCheckbox && !rule.required && !readOnly && (
    <span className={classes['optional']}> {words.optional}</span>
  )
  return (
    <div data-field={name} {...(error ? { 'data-field-error': true } : {})}>
      <Widget
        label={
          <>
            {label}
            {mark}
          </>
        }
        name={label.toLowerCase()}
        description={help}
        error={error}
        required={rule.required}
        withAsterisk={false}
        readOnly={readOnly}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        rule={rule}
        input={input}
        autoFocus={autoFocus}
      />
    </div>
  )
}

/** Every declared field, in order; the first one has the focus. */
export const AllFields = <Values, Result>({ form }: { form: RequestForm<Values, Result> }) =>
  (Object.keys(form.declared) as (keyof Values & string)[]).map((name, at) => (
    <Field key={name} form={form} name={name} autoFocus={at === 0} />
  ))

/** Errors without a field; a request that may not have arrived can be sent again. */
export function FormProblem<Values, Result>({ form }: { form: RequestForm<Values, Result> }) {
  const { problem } = form
  if (problem === undefined) return null
  return <Problem error={problem} {...(isConnectionError(problem) ? { retry: () => form.submit() } : {})} />
}

type FormProps<Values, Result> = {
  readonly form: RequestForm<Values, Result>
  readonly action: string
  readonly gap?: string
  readonly size?: string
  /** The button is as wide as the form. */
  readonly fullWidth?: boolean
  /** Rendered next to the button. */
  readonly aside?: ReactNode
  /** The form has no changes to send. */
  readonly disabled?: boolean
  readonly children: ReactNode
}

/** A short form on a page; in a dialog, use Dialog; a page that is a form is a FormPage. */
export function Form<Values, Result>({
  form,
  action,
  gap = 'md',
  size,
  fullWidth = false,
  aside,
  disabled = false,
  children,
}: FormProps<Values, Result>) {
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack gap={gap}>
        {children}
        <FormProblem form={form} />
        <Group>
          <SubmitButton
            form={form}
            disabled={disabled}
            fullWidth={fullWidth}
            {...(size === undefined ? {} : { size })}
          >
            {action}
          </SubmitButton>
          {aside}
        </Group>
      </Stack>
    </form>
  )
}

type FormSectionProps = {
  readonly title: string
  /** Beside the fields at wide widths, above them otherwise. */
  readonly help?: ReactNode
  readonly children: ReactNode
}

/** A part of a form page: a heading, its explanation, and fields. */
export const FormSection = ({ title, help, children }: FormSectionProps) => (
  <section className={classes['section']} aria-label={title}>
    <div className={classes['about']}>
      <h2 className={classes['title']}>{title}</h2>
      {help !== undefined && (
        <Text size="sm" c="dimmed" component="div">
          {help}
        </Text>
      )}
    </div>
    <Stack gap="md" className={classes['fields']!}>
      {children}
    </Stack>
  </section>
)

type FormLayoutProps<Values, Result> = {
  readonly form: RequestForm<Values, Result>
  readonly action: string
  /** A link back, named Cancel. Without one the form stays on its page: Cancel restores the fields. */
  readonly cancel?: ReactNode
  /** The form has no changes to send. */
  readonly disabled?: boolean
  /** Without the right to change anything there are no actions. */
  readonly readOnly?: boolean
  readonly children: ReactNode
}

/** The body of a form page: sections in one column, and the actions at the bottom of the window. */
export function FormLayout<Values extends Record<string, unknown>, Result>({
  form,
  action,
  cancel,
  disabled = false,
  readOnly = false,
  children,
}: FormLayoutProps<Values, Result>) {
  const { fields } = form
  const isDirty = fields.isDirty()
  return (
    <form onSubmit={form.submit} noValidate className={classes['form']}>
      {children}
      <FormProblem form={form} />
      {!readOnly && (
        <Box className={classes['footer']!}>
          {cancel ??
            (isDirty && (
              <Button variant="default" onClick={() => fields.reset()}>
                {words.cancel}
              </Button>
            ))}
          <SubmitButton form={form} disabled={disabled}>
            {action}
          </SubmitButton>
          {isDirty && (
            <Text size="xs" c="dimmed">
              {words.unsaved}
            </Text>
          )}
        </Box>
      )}
    </form>
  )
}
