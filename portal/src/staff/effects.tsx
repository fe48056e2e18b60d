// The effects of a decision, first in its dialog: Enter confirms it, since the request was read before.
import { Stack, Text } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { words } from './words.ts'
import classes from './staff.module.css'

/** Must be inside of a form. `confirms`: Enter sends the form; for dialogs without fields. */
export function Effects({ texts, confirms = false }: { texts: readonly string[]; confirms?: boolean }) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key !== 'Enter' || event.target !== event.currentTarget) return
    event.preventDefault()
    event.currentTarget.closest('form')?.requestSubmit()
  }
  return (
    <Stack
      gap="xs"
      className={classes['effect']!}
      {...(confirms ? { tabIndex: -1, 'data-autofocus': true, onKeyDown } : {})}
    >
      {texts.map((text) => (
        <Text size="sm" key={text}>
          {text}
        </Text>
      ))}
      {confirms && <div className={classes['small']}>{words.cannotUndo}</div>}
    </Stack>
  )
}
