// Shows whether changes arrive over the stream or by polling, or that this is not known yet.
import { Tooltip } from '@mantine/core'
import { useLive } from '../api/queries.ts'
import { words } from './words.ts'
import classes from './shell.module.css'

/** The text and the explanation for each answer of useLive(). */
function textsOf(live: boolean | undefined): readonly [text: string, hint: string] {
  if (live === undefined) return [words.connecting, words.connectingHint]
  return live ? [words.live, words.liveHint] : [words.reconnecting, words.reconnectingHint]
}

export function LiveStatus() {
  const live = useLive()
  const [text, hint] = textsOf(live)
  return (
    <Tooltip label={hint}>
      <span className={classes['live']} data-live={live} role="status" aria-label={words.updates}>
        <span>{text}</span>
      </span>
    </Tooltip>
  )
}
