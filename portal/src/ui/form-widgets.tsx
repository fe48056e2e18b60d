// The widgets of form fields. Each function returns a declaration; a page declares its fields once, outside of its component.
import { Checkbox, MultiSelect, NumberInput, Select, Switch, TagsInput, Text, Textarea } from '@mantine/core'
import { countryOptions } from './countries.ts'
import { common, inputProps, isEmail, type Common } from './form-text-widgets.tsx'
import type { FieldDeclaration } from './form.tsx'
import classes from './form.module.css'
import { words } from './words.ts'

export type Option = { readonly value: string; readonly label: string; readonly help?: string }

/** Several addresses, each confirmed with Enter, a comma or a space. */
export const emails = (options: Common & { readonly placeholder?: string }): FieldDeclaration => ({
  ...common(options),
  check: (value: readonly string[]) => {
    const wrong = value.find((one) => isEmail(one) !== undefined)
    return wrong === undefined ? undefined : `must look like ann@example.net; ${wrong} does not`
  },
  Widget: (props) => (
    <TagsInput
      {...inputProps(props)}
      placeholder={options.placeholder}
      splitChars={[',', ' ', ';']}
      acceptValueOnBlur
    />
  ),
})

const isEmpty = (value: unknown): boolean => !Array.isArray(value) || value.length === 0

/** Addresses and networks in CIDR notation. */
export const networks = (options: Common & { readonly placeholder?: string }): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <TagsInput
      {...inputProps(props)}
      // Beside values it would look like one more.
      placeholder={isEmpty(props.input.value) ? (options.placeholder ?? '192.0.2.0/24') : ''}
      splitChars={[',', ' ', ';']}
      acceptValueOnBlur
      maxTags={props.rule.maxItems ?? Infinity}
    />
  ),
})

export const textarea = (options: Common & { readonly placeholder?: string }): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <Textarea {...inputProps(props)} placeholder={options.placeholder} autosize minRows={3} maxRows={12} />
  ),
})

/** A number, whole without `decimals`; empty is `''`. */
export const number = (
  options: Common & { readonly unit?: string; readonly decimals?: number },
): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <NumberInput
      {...inputProps(props)}
      styles={{ wrapper: { maxWidth: 220 } }}
      allowDecimal={options.decimals !== undefined}
      {...(options.decimals === undefined ? {} : { decimalScale: options.decimals })}
      clampBehavior="none"
      {...(options.unit === undefined ? {} : { suffix: ` ${options.unit}` })}
    />
  ),
})

export const toggle = (options: Common): FieldDeclaration => ({
  ...common(options),
  isCheckbox: true,
  Widget: ({ label, description, error, readOnly, input }) => (
    <Switch label={label} description={description} error={error} disabled={readOnly} {...input} />
  ),
})

export const select = (
  options: Common & {
    readonly data: readonly Option[]
    readonly nothingFound?: string
    readonly limit?: number
  },
): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <Select
      {...inputProps(props)}
      data={options.data.map(({ value, label }) => ({ value, label }))}
      searchable={options.data.length > 8}
      limit={options.limit ?? Infinity}
      clearable={!props.rule.required && !props.readOnly && !hasEmpty(options.data)}
      allowDeselect={!props.rule.required && !hasEmpty(options.data)}
      nothingFoundMessage={options.nothingFound}
      value={(props.input.value as string) || (hasEmpty(options.data) ? '' : null)}
      onChange={(value) => props.input.onChange(value ?? '')}
    />
  ),
})

/** Whether the empty value is one of the choices. */
const hasEmpty = (data: readonly Option[]) => data.some(({ value }) => value === '')

export const multiSelect = (options: Common & { readonly data: readonly Option[] }): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <MultiSelect
      {...inputProps(props)}
      data={options.data.map(({ value, label }) => ({ value, label }))}
      searchable
      hidePickedOptions
    />
  ),
})

/** The countries of ISO 3166-1 by their English names; the value is the code, or empty. */
export const country = (options: Common): FieldDeclaration =>
  select({ ...options, data: countryOptions(), nothingFound: words.noCountry, limit: 60 })

/** IANA time zones. */
export const timeZone = (options: Common): FieldDeclaration =>
  select({
    ...options,
    data: [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((value) => ({
      value,
      label: value.replaceAll('_', ' '),
    })),
    nothingFound: words.noZone,
    limit: 60,
  })

type Choices = readonly { readonly title?: string; readonly options: readonly Option[] }[]

/** A list of checkboxes in groups, each with a sentence that explains it. */
export const checkboxes = (options: Common & { readonly groups: Choices }): FieldDeclaration => ({
  ...common(options),
  Widget: ({ label, description, error, readOnly, input }) => (
    <Checkbox.Group
      label={label}
      description={description}
      error={error}
      inputWrapperOrder={['label', 'description', 'input', 'error']}
      {...input}
    >
      {options.groups.map(({ title, options: choices }) => (
        <div key={title ?? 'all'}>
          {title !== undefined && (
            <Text size="xs" c="dimmed" fw={500} mt="sm" mb={4}>
              {title}
            </Text>
          )}
          <div className={classes['choices']}>
            {choices.map((one) => (
              <Checkbox
                key={one.value}
                className={classes['choice']!}
                value={one.value}
                label={one.label}
                description={one.help}
                disabled={readOnly}
              />
            ))}
          </div>
        </div>
      ))}
    </Checkbox.Group>
  ),
})
