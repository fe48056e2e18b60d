// Shows whether changes arrive over the stream or by polling.
import { Tooltip } from '@mantine/core'
import { useLive } from '../api/queries.ts'
import { words } from './words.ts'
import classes from './shell.module.css'

export function LiveStatus() {
  const live = useLive()
  return (
    <Tooltip label={live ? words.liveHint : words.reconnectingHint}>
      <span
        className={classes['live']}
        data-live={live || undefined}
        role="status"
        aria-label={words.updates}
      >
        <span>{live ? words.live : words.reconnecting}</span>
      </span>
    </Tooltip>
  )
}
