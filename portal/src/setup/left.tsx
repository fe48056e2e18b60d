// What is left to set up, on the overview of staff: computed by the server from what is there. It disappears when all is done, or when staff
// hide it.
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import {
  getSetupProgressRoute,
  updateSetupProgressRoute,
  type SetupProgress,
  type SetupStep,
} from '@pharos/contract/operator/setup'
import { useMutation } from '@tanstack/react-query'
import { linkOptions } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useMayAsStaff } from '../api/use-grant.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StateIcon } from '../ui/task-row.tsx'
import { words } from './words.ts'
import classes from './setup.module.css'

const { left: t } = words

const stepLink = (step: string) => linkOptions({ to: '/staff/setup', search: { step } })

/** The pages of the steps; null for what is a setting of the server. */
const targets = {
  provider: stepLink('provider'),
  second_factor: linkOptions({ to: '/profile' }),
  public_url: null,
  mail: null,
  region: stepLink('region'),
  detector: stepLink('detector'),
  device: stepLink('device'),
  customer: linkOptions({ to: '/staff/customers/new' }),
} as const

/** Nothing for staff who may not change the platform, and once all is done or the list is hidden. */
export function WhatIsLeft() {
  const may = useMayAsStaff(updateSetupProgressRoute.permission)
  const { data } = useAnswer(getSetupProgressRoute, {}, { refetchInterval: 60_000 })
  if (!may || !data || data.dismissed || data.steps.every(({ done }) => done)) return null
  return (
    <Section
      title={t.title}
      note={<Dimmed>{countOf(data)}</Dimmed>}
      actions={<Dismiss isHidden>{t.dismiss}</Dismiss>}
      flush
    >
      <Steps progress={data} />
    </Section>
  )
}

const Dimmed = ({ children }: { children: ReactNode }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
)

const countOf = ({ steps }: SetupProgress): string =>
  t.note(steps.filter(({ done }) => done).length, steps.length)

function Dismiss({ isHidden, children }: { isHidden: boolean; children: ReactNode }) {
  const dismiss = useMutation({
    mutationFn: () => call(updateSetupProgressRoute, { body: { dismissed: isHidden } }),
    onSuccess: () => invalidate(getSetupProgressRoute),
  })
  return (
    <>
      {dismiss.error && <Problem error={dismiss.error} />}
      <Button variant="subtle" size="compact-sm" loading={dismiss.isPending} onClick={() => dismiss.mutate()}>
        {children}
      </Button>
    </>
  )
}

const Steps = ({ progress: { steps } }: { progress: SetupProgress }) => (
  <ul className={classes['steps']}>
    {steps
      .toSorted((a, b) => Number(a.done) - Number(b.done))
      .map(({ step, done }) => (
        <StepRow key={step} step={step} isDone={done} />
      ))}
  </ul>
)

function StepRow({ step, isDone }: { step: SetupStep; isDone: boolean }) {
  const { title, text, action } = t.steps[step]
  const target = targets[step]
  return (
    <li className={classes['step']} data-step={step} data-done={isDone || undefined}>
      <StateIcon color={isDone ? 'ok' : 'idle'} text={isDone ? t.done : t.open} />
      <div className={classes['about']}>
        <div className={classes['title']}>{title}</div>
        {!isDone && <div className={classes['text']}>{text}</div>}
      </div>
      {!isDone && target && (
        <ButtonLink {...target} variant="default" size="xs">
          {action}
        </ButtonLink>
      )}
    </li>
  )
}

/** The end of the setup. */
export const Finished = ({ progress }: { progress: SetupProgress }) => (
  <Stack gap="md" align="stretch">
    {progress.steps.every(({ done }) => done) ? (
      <Alert color="ok">{t.finished}</Alert>
    ) : (
      <Section title={t.title} note={<Dimmed>{countOf(progress)}</Dimmed>} flush>
        <Steps progress={progress} />
      </Section>
    )}
    <Group>
      <ButtonLink to="/staff">{t.overview}</ButtonLink>
      {progress.dismissed && <Dismiss isHidden={false}>{t.show}</Dismiss>}
    </Group>
  </Stack>
)
