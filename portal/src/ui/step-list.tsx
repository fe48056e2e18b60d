// Progress in steps, side by side, each with its state and one line.
import { VisuallyHidden } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react'
import classes from './step-list.module.css'
import { Time } from './time.tsx'
import { words } from './words.ts'

/** `now`: in progress; `next`: not begun. */
export type StepState = 'done' | 'now' | 'next' | 'warn' | 'bad'
export type Step = {
  readonly name: string
  readonly state: StepState
  readonly text: string
  readonly at?: string | undefined
  readonly suffix?: string | undefined
}

export const StepList = ({ label, steps }: { label: string; steps: readonly Step[] }) => (
  <ol className={classes['steps']} aria-label={label}>
    {steps.map((step, at) => (
      <StepItem key={step.name} step={step} number={at + 1} />
    ))}
  </ol>
)

const StepItem = ({ step: { name, state, text, at, suffix }, number }: { step: Step; number: number }) => (
  <li className={classes['step']} data-state={state}>
    <StepIcon state={state} number={number} />
    <div>
      <div className={classes['stepName']}>
        {name}
        <VisuallyHidden component="span">, {words.stepState[state]}</VisuallyHidden>
      </div>
      <div className={classes['stepText']}>
        {text} {at !== undefined && <Time at={at} />} {suffix}
      </div>
    </div>
  </li>
)

const StepIcon = ({ state, number }: { state: StepState; number: number }) => (
  <span className={classes['stepIcon']} aria-hidden>
    {state === 'done' ? (
      <IconCheck size={13} stroke={2.6} />
    ) : state === 'warn' ? (
      <IconAlertTriangle size={13} stroke={2.4} />
    ) : state === 'bad' ? (
      <IconX size={13} stroke={2.6} />
    ) : (
      number
    )}
  </span>
)
