// The widget of an image that is sent as the text of an SVG file.
import { FileInput } from '@mantine/core'
import { useState } from 'react'
import { common, inputProps, type Common } from './form-text-widgets.tsx'
import type { FieldDeclaration, WidgetProps } from './form.tsx'
import { words } from './words.ts'

const bytesMax = 64 * 1024

export const svgFile = (
  options: Common & { readonly placeholder: string; readonly wrong: string },
): FieldDeclaration => ({
  ...common(options),
  check: (value: unknown) =>
    value === '' || (/<svg[\s>]/.test(String(value)) && String(value).length <= bytesMax)
      ? undefined
      : options.wrong,
  Widget: (props) => <SvgInput {...props} placeholder={options.placeholder} />,
})

function SvgInput({ placeholder, ...props }: WidgetProps & { readonly placeholder: string }) {
  const [file, setFile] = useState<File | null>(null)
  async function take(chosen: File | null) {
    setFile(chosen)
    // A byte order mark and carriage returns are no part of a text.
    props.input.onChange(chosen ? (await chosen.text()).replaceAll(/\uFEFF|\r/g, '') : '')
  }
  const { value: _value, onChange: _onChange, ...rest } = inputProps(props)
  return (
    <FileInput
      {...rest}
      placeholder={placeholder}
      accept="image/svg+xml,.svg"
      clearable
      clearButtonProps={{ 'aria-label': words.removeFile }}
      value={file}
      onChange={(chosen) => void take(chosen)}
    />
  )
}
