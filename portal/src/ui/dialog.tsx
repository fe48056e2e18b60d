// A question with an answer that is sent: one title, some fields, one button that does it, the problem where it fails.
import { Button, Group, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { Problem } from './problem.tsx'

type DialogProps = {
  readonly title: string
  /** What opens it: it is handed the click. */
  readonly trigger: (open: () => void) => ReactNode
  readonly children?: ReactNode | ((error: unknown) => ReactNode)
  readonly action: string
  readonly danger?: boolean
  readonly onSubmit: () => Promise<unknown>
  /** The dialog stays open after success: it shows what came of it. */
  readonly stays?: boolean
  readonly onClose?: () => void
}

export function Dialog({ title, trigger, children, action, danger, onSubmit, stays, onClose }: DialogProps) {
  const [opened, { open, close }] = useDisclosure(false)
  const shut = () => {
    close()
    send.reset()
    onClose?.()
  }
  const send = useMutation({ mutationFn: onSubmit, onSuccess: () => stays || shut() })
  function submit(event: FormEvent) {
    event.preventDefault()
    event.stopPropagation()
    send.mutate()
  }
  const done = stays && send.isSuccess
  return (
    <>
      {trigger(open)}
      <Modal opened={opened} onClose={shut} title={title}>
        <form onSubmit={submit}>
          <Stack>
            {typeof children === 'function' ? children(send.error) : children}
            {send.error && <Problem error={send.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={shut}>
                {done ? 'Done' : 'Cancel'}
              </Button>
              {!done && (
                <Button type="submit" color={danger ? 'red' : 'indigo'} loading={send.isPending}>
                  {action}
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
