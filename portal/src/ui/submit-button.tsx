// The button that sends a form: busy while the request runs, and counting down while the server asks to wait.
import { Button, type ButtonProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatDuration } from './time.tsx'
import { useRetryAfter } from './use-retry-after.ts'
import { words } from './words.ts'

type SubmitButtonProps = ButtonProps & {
  readonly form: { readonly error: unknown; readonly isPending: boolean }
  readonly children: ReactNode
}

export function SubmitButton({ form: { error, isPending }, children, disabled, ...rest }: SubmitButtonProps) {
  const wait = useRetryAfter(error)
  return (
    <Button type="submit" loading={isPending} disabled={disabled === true || wait > 0} {...rest}>
      {wait > 0 ? words.wait(formatDuration(wait * 1000)) : children}
    </Button>
  )
}
