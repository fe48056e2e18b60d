// Whether the page follows what happens, or asks now and then.
import { Group, Text, Tooltip } from '@mantine/core'
import { useLive } from '../api/queries.ts'
import classes from './shell.module.css'

export function LiveSign() {
  const live = useLive()
  return (
    <Tooltip label={live ? 'What happens is shown at once' : 'The page asks for news every few seconds'}>
      <Group gap={6} px="sm" py={2} role="status" aria-label="Updates">
        <span className={classes['live']} data-live={live || undefined} />
        <Text size="xs" c="dimmed">
          {live ? 'Live' : 'Not live'}
        </Text>
      </Group>
    </Tooltip>
  )
}
