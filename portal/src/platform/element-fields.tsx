// The widgets of an element's form, derived from the fields of its kind: one form for all kinds.
import { NumberInput, Select, Textarea } from '@mantine/core'
import {
  listPlatformElementsRoute,
  type PlatformField,
  type PlatformKind,
} from '@pharos/contract/operator/platform'
import { useContext } from 'react'
import { useAnswer } from '../api/queries.ts'
import { common, inputProps, password, text } from '../ui/form-text-widgets.tsx'
import { country, multiSelect, networks, select, timeZone, toggle } from '../ui/form-widgets.tsx'
import { svgFile } from '../ui/svg-field.tsx'
import type { Declarations, FieldDeclaration, WidgetProps } from '../ui/form.tsx'
import { isSwitch, parseJson, type ElementFields } from './element-form.ts'
import { FormValues } from './form-values.ts'
import { objectField, objectsField } from './parts-field.tsx'
import { fieldLabel, words } from './words.ts'

/** `secrets`: the stored ones. `kinds`: for the keys of elements that are referred to. */
export const declarationsOf = (
  { fields }: PlatformKind,
  secrets: readonly string[],
  kinds: readonly PlatformKind[],
): Declarations<ElementFields> =>
  Object.fromEntries(fields.map((field) => [field.name, declarationOf(field, secrets, kinds)]))

function declarationOf(
  field: PlatformField,
  secrets: readonly string[],
  kinds: readonly PlatformKind[],
): FieldDeclaration {
  const { name, type, choices, required, refers_to: target } = field
  const help = helpOf(field)
  const options = { label: fieldLabel(name), required, ...(help === undefined ? {} : { help }) }
  const data = choices.map((value) => ({ value, label: value }))
  const kind = kinds.find(({ section }) => section === target)
  if (kind && type === 'text') return reference(options, kind)
  if (name === 'country') return country(options)
  if (name.endsWith('timezone')) return timeZone(options)
  switch (type) {
    case 'choice':
      return select({ ...options, data })
    case 'choices':
      return multiSelect({ ...options, data })
    case 'texts':
      return networks({ ...options, placeholder: '' })
    case 'integer':
    case 'number':
      return amount(options, type === 'number')
    case 'boolean':
      return isSwitch(field) ? toggle(options) : select({ ...options, data: yesOrNo })
    case 'secret':
      return password({
        ...options,
        autoComplete: 'new-password',
        ...(secrets.includes(name) ? { help: words.stored } : {}),
      })
    case 'image':
      return svgFile({
        ...options,
        placeholder: words.chooseFile,
        wrong: words.badImage,
        ...(secrets.includes(name) ? { help: words.imageStored } : {}),
      })
    case 'object':
      return objectField(options, field)
    case 'objects':
      return objectsField(options, field)
    case 'json':
      return json(options)
    default:
      return text(options)
  }
}

const yesOrNo = [
  { value: 'true', label: words.yes },
  { value: 'false', label: words.no },
]

/** What only repeats the widget is left out. */
function helpOf({ hint, type, refers_to: target }: PlatformField): string | undefined {
  if (target !== null || type === 'choice' || type === 'choices' || type === 'boolean') return undefined
  if (type === 'object' || type === 'objects') return undefined
  if (hint === '' || /^(a text|a name)/.test(hint)) return undefined
  return `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`
}

type Options = Parameters<typeof text>[0]

/** The keys of the elements of a kind; if they belong to teams, only keys of the team of this element. */
function reference(options: Options, kind: PlatformKind): FieldDeclaration {
  const Widget = (props: WidgetProps) => {
    const values = useContext(FormValues)
    const ofTeam = kind.identity.length > 1 && kind.identity.includes('team')
    const team = typeof values['team'] === 'string' ? values['team'] : ''
    const { data } = useAnswer(listPlatformElementsRoute, {
      params: { section: kind.section },
      query: { limit: 1000, ...(ofTeam && team !== '' ? { team } : {}) },
    })
    const name = kind.identity.at(-1)!
    const found = ofTeam && team === '' ? [] : (data?.results ?? [])
    const keys = found.map((one) => String(one.values[name]))
    const value = String(props.input.value ?? '')
    return (
      <Select
        {...inputProps(props)}
        data={[...new Set(value === '' || keys.includes(value) ? keys : [value, ...keys])]}
        searchable
        limit={60}
        clearable={!props.readOnly}
        value={value || null}
        onChange={(next) => props.input.onChange(next ?? '')}
      />
    )
  }
  return { ...common(options), Widget }
}

/** A number of any size with separators, and with decimals if the kind accepts them. */
const amount = (options: Options, hasDecimals: boolean): FieldDeclaration => ({
  ...common(options),
  Widget: (props) => (
    <NumberInput
      {...inputProps(props)}
      styles={{ wrapper: { maxWidth: 260 } }}
      allowDecimal={hasDecimals}
      thousandSeparator=" "
      clampBehavior="none"
    />
  ),
})

const json = (options: Options): FieldDeclaration => ({
  ...common(options),
  help: options.help === undefined ? words.json : `${String(options.help)} ${words.json}`,
  check: (value: unknown) =>
    value === '' || parseJson(String(value)) !== undefined ? undefined : words.badJson,
  Widget: (props) => (
    <Textarea
      {...inputProps(props)}
      autosize
      minRows={2}
      maxRows={16}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--font-mono)' } }}
    />
  ),
})
