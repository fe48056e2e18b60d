// Asks before unsaved changes are lost: on a link of the portal with a dialog of ours, on closing the tab with the browser's.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { words } from './words.ts'

/** `isUnsaved` is called at the moment of leaving. Signing out and a change of the page's own parameters are never held up. */
export function UnsavedGuard({ isUnsaved }: { isUnsaved: () => boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isUnsaved() && next.pathname !== current.pathname && next.pathname !== '/sign-in',
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  })
  const { title, text, keep, action } = words.discard
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title={title}>
      <Stack>
        <Text size="sm">{text}</Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => reset?.()}>
            {keep}
          </Button>
          <Button color="bad" onClick={() => proceed?.()}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
