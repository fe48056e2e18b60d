// What the steps of the setup share: the list of what is connected, with its state as it is now, and the buttons below it.
import { Button, Group, Skeleton } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import classes from './setup.module.css'
import { words } from './words.ts'

export type StepProps = {
  /** Opens the next step, whether this one is done or skipped. */
  readonly onNext: () => void
  /** Undefined in the first step. */
  readonly onBack: (() => void) | undefined
}

export type Connected = {
  readonly key: string
  readonly name: string
  readonly color: StateColor
  readonly state: string
  /** Why it is so, or what is next. */
  readonly text: ReactNode
}

type ConnectedListProps = StepProps & {
  readonly title: string
  readonly elements: readonly Connected[]
  readonly another: string
  readonly onAnother: () => void
  /** Below the list. */
  readonly children?: ReactNode
}

const ConnectedList = (props: ConnectedListProps) => (
  <>
    <Section title={props.title} flush>
      <ul className={classes['steps']}>
        {props.elements.map(({ key, name, color, state, text }) => (
          <li key={key} className={classes['step']} data-element={key}>
            <div className={classes['about']}>
              <div className={classes['title']}>{name}</div>
              <div className={classes['text']}>{text}</div>
            </div>
            <StatePill color={color} moving={color === 'info'}>
              {state}
            </StatePill>
          </li>
        ))}
      </ul>
    </Section>
    {props.children}
    <Group>
      {props.onBack && <BackButton onBack={props.onBack} />}
      <Button variant="default" onClick={props.onAnother}>
        {props.another}
      </Button>
      <Button onClick={props.onNext}>{words.next}</Button>
    </Group>
  </>
)

const BackButton = ({ onBack }: { onBack: () => void }) => (
  <Button variant="subtle" onClick={onBack}>
    {words.back}
  </Button>
)

/** Beside the button of the form. */
export const Moves = ({ onNext, onBack }: StepProps) => (
  <>
    {onBack && <BackButton onBack={onBack} />}
    <Button variant="default" onClick={onNext}>
      {words.skip}
    </Button>
  </>
)

type AnswerProps<T> = {
  readonly answer: {
    readonly data: T | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  readonly children: (data: T) => ReactNode
}

/** Waits for the answer, or shows its problem. */
export function Answered<T>({ answer: { data, error, refetch }, children }: AnswerProps<T>) {
  if (data !== undefined) return children(data)
  return error ? <Problem error={error} retry={refetch} /> : <Skeleton height={240} />
}

type ConnectStepProps<T> = StepProps & {
  readonly answer: AnswerProps<T>['answer']
  readonly elementsOf: (data: T) => readonly Connected[]
  readonly title: string
  readonly another: string
  /** The form of a new one; `onCreated` leads back to the list. */
  readonly form: (onCreated: () => void) => ReactNode
  /** Below the list. */
  readonly children?: ReactNode
}

/** What is connected, or the form of the first or another one. */
export function ConnectStep<T>({ answer, elementsOf, form, ...list }: ConnectStepProps<T>) {
  const [isAdding, setAdding] = useState(false)
  return (
    <Answered answer={answer}>
      {(data) => {
        const elements = elementsOf(data)
        if (isAdding || elements.length === 0) return form(() => setAdding(false))
        return <ConnectedList {...list} elements={elements} onAnother={() => setAdding(true)} />
      }}
    </Answered>
  )
}
