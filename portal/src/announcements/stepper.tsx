// The way of an announcement in four steps, each with one line that is true now.
import type { Announcement } from '@pharos/contract/byoip'
import { listAnnouncementHistoryRoute } from '@pharos/contract/byoip'
import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react'
import { useAnswer } from '../api/queries.ts'
import { Time } from '../ui/time.tsx'
import classes from './announcements.module.css'
import { actorName } from './history-text.ts'
import { stepsOf, type Step, type StepState } from './steps.ts'
import { useMemberNames } from './use-member-names.ts'
import { words } from './words.ts'

const { steps: texts } = words

export function Stepper({ announcement }: { announcement: Announcement }) {
  const added: Step = {
    name: texts.added,
    state: 'done',
    text: '',
    at: announcement.created,
  }
  const [checks, ready, announced] = stepsOf(announcement)
  return (
    <ol className={classes['steps']} aria-label={texts.label}>
      <StepItem step={added} number={1} suffix={useCreator(announcement.id)} />
      <StepItem step={checks} number={2} />
      <StepItem step={ready} number={3} />
      <StepItem step={announced} number={4} />
    </ol>
  )
}

/** Returns `by Dana Demo`; undefined if the history does not have it. */
function useCreator(id: number): string | undefined {
  const query = { kind: ['created' as const], ordering: 'id' as const, limit: 1 }
  const entries = useAnswer(listAnnouncementHistoryRoute, { params: { announcement_id: id }, query })
  const names = useMemberNames()
  const actor = entries.data?.results[0]?.actor
  return actor === undefined ? undefined : texts.by(actorName(actor, names))
}

type ItemProps = { readonly step: Step; readonly number: number; readonly suffix?: string | undefined }

const StepItem = ({ step: { name, state, text, at }, number, suffix }: ItemProps) => (
  <li className={classes['step']} data-state={state}>
    <StepIcon state={state} number={number} />
    <div>
      <div className={classes['stepName']}>
        {name}
        <span className={classes['hidden']}>, {texts.state[state]}</span>
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
