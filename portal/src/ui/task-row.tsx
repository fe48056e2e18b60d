// A row of a list of tasks: state, name, who acts, the current evidence, and below it the object to create.
import { Button, CopyButton, VisuallyHidden } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconDots, IconMinus, IconX } from '@tabler/icons-react'
import { useId, type ReactNode } from 'react'
import { LazyTooltip } from './lazy-tooltip.tsx'
import type { StateColor } from './status.tsx'
import classes from './task-row.module.css'
import { formatTime, since, useZone } from './time.tsx'
import { useNow } from './use-now.ts'
import { words } from './words.ts'

const icons = { ok: IconCheck, warn: IconAlertTriangle, bad: IconX, info: IconDots, idle: IconMinus } as const

/** The icon of a state; `text` is the state in words. */
export function StateIcon({ color, text }: { color: StateColor; text: string }) {
  const Icon = icons[color]
  return (
    <span className={classes['icon']} data-color={color}>
      <Icon size={13} stroke={2.4} aria-hidden />
      <VisuallyHidden component="span">{text}</VisuallyHidden>
    </span>
  )
}

type TaskRowProps = {
  readonly color: StateColor
  /** The state in words, for screen readers. */
  readonly stateText: string
  readonly title: string
  /** Who has to act. */
  readonly who?: string | undefined
  /** When it was checked, and when it will be checked next. */
  readonly when?: ReactNode
  /** The current evidence, in one sentence. */
  readonly text: ReactNode
  readonly children?: ReactNode
}

export function TaskRow({ color, stateText, title, who, when, text, children }: TaskRowProps) {
  const id = useId()
  return (
    <section
      className={classes['row']}
      aria-labelledby={id}
      data-task
      data-open={color === 'ok' || color === 'idle' ? undefined : true}
    >
      <StateIcon color={color} text={stateText} />
      <div className={classes['content']}>
        <div>
          <div className={classes['head']}>
            <h2 className={classes['title']}>
              <span id={id}>{title}</span>
              {who !== undefined && <span className={classes['who']}> · {who}</span>}
            </h2>
            {when !== undefined && <span className={classes['when']}>{when}</span>}
          </div>
          <div className={classes['text']}>{text}</div>
        </div>
        {children}
      </div>
    </section>
  )
}

/** `3 minutes ago`, with the time as a tooltip. */
export function Ago({ at }: { at: string }) {
  const [zone] = useZone()
  const now = useNow()
  return (
    <LazyTooltip label={() => formatTime(at, zone)}>
      <time dateTime={at}>{since(at, now)}</time>
    </LazyTooltip>
  )
}

/** An object to create elsewhere. Placeholders in angle brackets are marked. */
export const ObjectText = ({ text }: { text: string }) => (
  // Scrollable regions are reachable with the keyboard.
  <pre className={classes['object']} tabIndex={0}>
    {text.split(/(<[^>]+>)/).map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}
  </pre>
)

export const CopyTextButton = ({ text }: { text: string }) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <Button variant="default" onClick={copy}>
        {copied ? words.copied : words.copyText}
      </Button>
    )}
  </CopyButton>
)
