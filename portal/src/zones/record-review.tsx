// The review of edited record sets: the bar of pending edits, the server's plan, and the applied change with its undo.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { Plan } from './plan.tsx'
import type { RecordDrafts } from './use-record-drafts.ts'
import { words } from './words.ts'
import classes from './zones.module.css'

const { records: texts } = words

export const ChangesBar = ({ drafts }: { drafts: RecordDrafts }) =>
  drafts.changed > 0 && (
    <div className={classes['bar']} role="region" aria-label={texts.review}>
      <Text size="sm" fw={500}>
        {texts.unsaved(drafts.changed)}
      </Text>
      {/* Here, so that the table does not move under the pointer. */}
      <Text size="sm" c="var(--bad)" role="status">
        {drafts.errors.size > 0 && texts.wrong(drafts.errors.size)}
      </Text>
      <Group gap="xs" ml="auto">
        <Button variant="default" onClick={drafts.discard}>
          {texts.discard}
        </Button>
        <Button loading={drafts.isReviewing} onClick={drafts.review}>
          {texts.review}
        </Button>
      </Group>
    </div>
  )

export function Review({ drafts }: { drafts: RecordDrafts }) {
  const { reviewed } = drafts
  return (
    <Modal opened={reviewed !== undefined} onClose={drafts.closeReview} title={words.plan.title} size="lg">
      {reviewed && (
        <Stack>
          <Plan changes={reviewed.plan} />
          {reviewed.plan.unchanged_count > 0 && (
            <Text size="sm" c="dimmed">
              {words.plan.unchanged(reviewed.plan.unchanged_count)}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={drafts.closeReview}>
              {words.cancel}
            </Button>
            <Button loading={drafts.isApplying} onClick={drafts.apply} data-autofocus>
              {words.plan.apply}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

export function Applied({ drafts }: { drafts: RecordDrafts }) {
  const { applied } = drafts
  if (!applied) return null
  return (
    <div className={classes['applied']} role="status">
      <Text size="sm">
        {applied.count === 0 ? texts.nothing : texts.applied(words.version(applied.version), applied.count)}
      </Text>
      <Group gap="xs" ml="auto">
        {applied.count > 0 && (
          <Button variant="default" size="compact-sm" loading={drafts.isUndoing} onClick={drafts.undo}>
            {texts.undo}
          </Button>
        )}
        <Button variant="subtle" size="compact-sm" onClick={drafts.dismiss}>
          {texts.dismiss}
        </Button>
      </Group>
    </div>
  )
}
