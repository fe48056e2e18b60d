// The button that sends a form: where the server has asked for patience, it says how long, and cannot be pressed.
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatDuration } from '../ui/time.tsx'
import { useWait } from '../ui/use-wait.ts'

type SubmitButtonProps = {
  readonly error: unknown
  readonly isPending: boolean
  readonly children: ReactNode
}

export function SubmitButton({ error, isPending, children }: SubmitButtonProps) {
  const wait = useWait(error)
  return (
    <Button type="submit" size="sm" loading={isPending} disabled={wait > 0}>
      {wait > 0 ? `Wait ${formatDuration(wait * 1000)}` : children}
    </Button>
  )
}
