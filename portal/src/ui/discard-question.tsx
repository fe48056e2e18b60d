// The question before unsaved changes are lost.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { words } from './words.ts'

type Props = {
  readonly opened: boolean
  readonly text: string
  readonly onKeep: () => void
  readonly onDiscard: () => void
}

export const DiscardQuestion = ({ opened, text, onKeep, onDiscard }: Props) => (
  <Modal opened={opened} onClose={onKeep} title={words.discard.title} size="sm">
    <Stack>
      <Text size="sm">{text}</Text>
      <Group justify="flex-end">
        <Button variant="default" data-autofocus onClick={onKeep}>
          {words.discard.keep}
        </Button>
        <Button color="bad" onClick={onDiscard}>
          {words.discard.action}
        </Button>
      </Group>
    </Stack>
  </Modal>
)
