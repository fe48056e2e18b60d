// Shows whether changes arrive over the stream or by polling.
import { Group, Text, Tooltip } from '@mantine/core'
import { useLive } from '../api/queries.ts'
import classes from './shell.module.css'

export function LiveStatus() {
  const live = useLive()
  return (
    <Tooltip label={live ? 'Changes appear instantly' : 'Not connected; refreshing every few seconds'}>
      <Group gap={6} px="sm" py={2} role="status" aria-label="Updates">
        <span className={classes['live']} data-live={live || undefined} />
        <Text size="xs" c="dimmed">
          {live ? 'Live' : 'Reconnecting'}
        </Text>
      </Group>
    </Tooltip>
  )
}
