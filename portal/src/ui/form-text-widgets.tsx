// The widgets of text fields, apart from the others: sign-in loads no more.
import { PasswordInput, TextInput } from '@mantine/core'
import type { FieldDeclaration, WidgetProps } from './form.tsx'
import { words } from './words.ts'

export type Common = Pick<FieldDeclaration, 'label' | 'help' | 'required' | 'check'>
type TextOptions = Common & {
  readonly placeholder?: string
  readonly autoComplete?: string
  readonly inputMode?: 'text' | 'numeric' | 'email' | 'tel' | 'url'
  readonly mono?: boolean
}
/** The properties that every Mantine input takes. */
export const inputProps = ({ rule: _rule, input, autoFocus, name: _name, ...wrapper }: WidgetProps) => ({
  ...wrapper,
  ...input,
  ...(autoFocus ? { 'data-autofocus': true, autoFocus: true } : {}),
})

export const common = ({ label, help, required, check }: Common) => ({
  label,
  ...(help === undefined ? {} : { help }),
  ...(required === undefined ? {} : { required }),
  ...(check === undefined ? {} : { check }),
})

export const text = ({
  placeholder,
  autoComplete,
  inputMode,
  mono,
  ...rest
}: TextOptions): FieldDeclaration => ({
  ...common(rest),
  Widget: (props) => (
    <TextInput
      {...inputProps(props)}
      placeholder={placeholder}
      autoComplete={autoComplete}
      inputMode={inputMode}
      {...(mono ? { styles: { input: { fontFamily: 'var(--font-mono)' } } } : {})}
    />
  ),
})

export const isEmail = (value: string): string | undefined =>
  value === '' || /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value.trim())
    ? undefined
    : 'must be an e-mail address such as ann@example.net'

export const email = (options: TextOptions): FieldDeclaration => ({
  ...common(options),
  check: isEmail,
  Widget: (props) => (
    <TextInput
      {...inputProps(props)}
      type="email"
      placeholder={options.placeholder}
      autoComplete={options.autoComplete}
    />
  ),
})

export const password = (
  options: Common & { readonly autoComplete: 'current-password' | 'new-password' },
): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <PasswordInput
      {...inputProps(props)}
      autoComplete={options.autoComplete}
      visibilityToggleButtonProps={{ 'aria-label': words.reveal(props.name) }}
    />
  ),
})
