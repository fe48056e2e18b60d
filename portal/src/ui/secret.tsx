// A secret that is shown once: hidden until requested, and copied while hidden.
import { ActionIcon, Group } from '@mantine/core'
import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { useState } from 'react'
import { CopyIcon } from './copy.tsx'
import classes from './form.module.css'
import { words } from './words.ts'

export const hiddenSecret = '•'.repeat(32)

/** `name` is a noun in the middle of a sentence: `token`. */
export function Secret({ text, name }: { text: string; name: string }) {
  const [isShown, setShown] = useState(false)
  return (
    <Group gap="xs" wrap="nowrap">
      <output className={classes['secret']} data-secret={isShown ? text : undefined}>
        {isShown ? text : hiddenSecret}
      </output>
      <ActionIcon
        aria-label={isShown ? words.hide(name) : words.reveal(name)}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? <IconEyeOff size={16} /> : <IconEye size={16} />}
      </ActionIcon>
      <CopyIcon text={text} label={words.copy(name)} />
    </Group>
  )
}
