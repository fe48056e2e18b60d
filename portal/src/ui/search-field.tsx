// A text filter of a list. The text is written to the address after a pause in typing; any other change of the address
// updates the field.
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import classes from './list.module.css'

type SearchFieldProps = {
  readonly label: string
  readonly placeholder?: string
  readonly width: number | string
  /** As in the address. */
  readonly value: string
  /** Called with the trimmed text; not called for text that `mistakeIn` rejects. */
  readonly onCommit: (text: string) => void
  readonly mistakeIn?: (text: string) => string | undefined
  /** The API's error for the parameter. */
  readonly error?: string | undefined
  /** `/` moves the focus to this field. */
  readonly isMain?: boolean
}

const pauseMs = 300

export function SearchField(props: SearchFieldProps) {
  const { label, placeholder = label, width, value, onCommit, mistakeIn, error, isMain = false } = props
  const [text, setText] = useState(value)
  const [mistake, setMistake] = useState<string>()
  const committed = useRef(value)
  const commit = useDebouncedCallback((typed: string) => {
    const found = mistakeIn?.(typed)
    setMistake(found)
    if (found !== undefined) return
    committed.current = typed
    onCommit(typed)
  }, pauseMs)
  useEffect(() => {
    if (value === committed.current) return
    committed.current = value
    setText(value)
    setMistake(undefined)
  }, [value])
  return (
    <TextInput
      {...(isMain ? { 'data-search': true } : {})}
      size="xs"
      className={classes['field']!}
      w={width}
      aria-label={label}
      placeholder={placeholder}
      value={text}
      error={mistake ?? error}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        commit(currentTarget.value.trim())
      }}
    />
  )
}
