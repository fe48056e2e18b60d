// The plan of a list before it is applied: the changes, the estimated effect in the last hour, and the time in which it must
// be confirmed. The plan and its effect are the server's dry run.
import { Button, Checkbox, Group, Modal, Select, Skeleton, Stack, Text, Alert } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import {
  updateShieldRulesRoute,
  type NewShieldRule,
  type ShieldRulesAnswer,
} from '@pharos/contract/shield/shield'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { teamIdNow } from '../api/queries.ts'
import { notifySuccess } from '../ui/notify.ts'
import { Effect, Warnings, placeOf } from './effect.tsx'
import { planOf, requestOf, type DraftRule } from './rule-draft.ts'
import { ruleText } from './rule-text.ts'
import { applyRules } from './use-lists.ts'
import { words } from './words.ts'
import classes from './shield.module.css'
import { errorSentence } from '../ui/form-errors.ts'
import { problemText } from '../ui/problem-text.ts'
import { Problem } from '../ui/problem.tsx'

const { review: texts } = words

/** In seconds; 0: no timer. */
const times = [60, 120, 300, 600, 1800, 0] as const
const usualTime = 300

type ReviewProps = {
  readonly prefix: string
  /** The version that the change is based on. */
  readonly version: number
  readonly before: readonly DraftRule[]
  readonly after: readonly DraftRule[]
  /** The part of the attack that the rules are against. */
  readonly attackShare?: number | null
  readonly onClose: () => void
  readonly onApplied: (answer: ShieldRulesAnswer) => void
}

export function Review({ prefix, version, before, after, attackShare, onClose, onApplied }: ReviewProps) {
  const [seconds, setSeconds] = useState<number>(usualTime)
  const [force, setForce] = useState(false)
  const plan = planOf(before, after)
  const rules = requestOf(after)
  const trial = useQuery({
    queryKey: [teamIdNow(), 'shield-plan', prefix, version, rules],
    gcTime: 0,
    retry: false,
    queryFn: () => dryRun(prefix, version, rules),
  })
  const apply = useMutation({
    mutationFn: () =>
      applyRules({
        prefix,
        version,
        rules,
        ...(seconds > 0 ? { confirm_within: seconds } : {}),
        ...(force ? { force: true } : {}),
      }),
    onSuccess: (answer) => {
      notifySuccess(texts.applied)
      onApplied(answer)
    },
  })
  const isRefused = isWouldDrop(apply.error) || isWouldDrop(trial.error)
  const answer = trial.data
  return (
    <Modal opened onClose={onClose} title={texts.title(prefix)} size="lg">
      <Stack>
        <Plan plan={plan} after={after} />
        {trial.isPending && <Skeleton height={120} aria-busy />}
        {trial.error && !isWouldDrop(trial.error) && (
          <ListProblem error={trial.error} retry={() => trial.refetch()} />
        )}
        {answer && <Warnings warnings={answer.warnings} />}
        {answer?.what_if && (
          <section aria-label={words.effect.title}>
            <Text fw={600} size="sm" component="h3" mb={4}>
              {words.effect.title}
            </Text>
            <Effect whatIf={answer.what_if} {...(attackShare === undefined ? {} : { attackShare })} />
          </section>
        )}
        <ConfirmTime seconds={seconds} onChange={setSeconds} />
        {isRefused && <Refused force={force} onForce={setForce} />}
        {apply.error && !isWouldDrop(apply.error) && <ListProblem error={apply.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button
            data-autofocus
            disabled={plan.count === 0 || trial.isPending || (isRefused && !force) || (!answer && !isRefused)}
            loading={apply.isPending}
            onClick={() => apply.mutate()}
          >
            {texts.apply}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

type ConfirmTimeProps = { readonly seconds: number; readonly onChange: (seconds: number) => void }

const ConfirmTime = ({ seconds, onChange }: ConfirmTimeProps) => (
  <Select
    label={texts.confirm}
    description={texts.confirmHelp}
    inputWrapperOrder={['label', 'input', 'description', 'error']}
    allowDeselect={false}
    data={times.map((value) => ({
      value: String(value),
      label: value === 0 ? texts.noTimer : texts.minutes(value / 60),
    }))}
    value={String(seconds)}
    onChange={(next) => onChange(Number(next ?? usualTime))}
  />
)

type RefusedProps = { readonly force: boolean; readonly onForce: (force: boolean) => void }

const Refused = ({ force, onForce }: RefusedProps) => (
  <div role="alert" className={classes['refused']}>
    <strong>{texts.refused}</strong>
    <Text size="sm">{texts.refusedText}</Text>
    <Checkbox
      mt="xs"
      label={texts.force}
      checked={force}
      onChange={({ currentTarget }) => onForce(currentTarget.checked)}
    />
  </div>
)

/** A dry run answers with the result in an envelope; the list is stored nowhere. */
async function dryRun(
  prefix: string,
  version: number,
  rules: readonly NewShieldRule[],
): Promise<ShieldRulesAnswer> {
  const { body } = await call(updateShieldRulesRoute, {
    body: { prefix, version, rules: [...rules] },
    query: { dry_run: true } as object,
  })
  return (body as unknown as { result?: ShieldRulesAnswer }).result ?? body
}

const isWouldDrop = (error: unknown) =>
  error instanceof ProblemError && (error.problem.code as string) === 'would_drop'

type PlanProps = { readonly plan: ReturnType<typeof planOf>; readonly after: readonly DraftRule[] }

function Plan({ plan, after }: PlanProps) {
  if (plan.count === 0) return <Text size="sm">{texts.none}</Text>
  const place = (rule: DraftRule) => texts.place(after.findIndex(({ key }) => key === rule.key) + 1)
  const line = (sign: string, kind: string, label: string, text: string) => (
    <div key={`${kind} ${text} ${label}`} className={classes['planLine']} data-kind={kind}>
      <span aria-label={label} role="img">
        {sign}
      </span>
      {text}
    </div>
  )
  return (
    <div className={classes['plan']} role="group" aria-label={texts.plan} tabIndex={0}>
      {plan.removed.map((rule) => line('−', 'removed', texts.removed, ruleText(rule)))}
      {plan.changed.flatMap(({ before, after: next }) => [
        line('−', 'removed', texts.changed, ruleText(before)),
        line('+', 'added', texts.changed, `${ruleText(next)} ${enabledText(next)}`),
      ])}
      {plan.added.map((rule) => line('+', 'added', texts.added, `${ruleText(rule)}, ${place(rule)}`))}
      {plan.moved.map((rule) => line('↕', 'moved', texts.moved, `${ruleText(rule)}, ${place(rule)}`))}
    </div>
  )
}

const enabledText = ({ enabled }: DraftRule) => (enabled ? '' : `(${words.states.disabled.toLowerCase()})`)

type ListProblemProps = { readonly error: unknown; readonly retry?: () => unknown }

/** A list that was rejected: each error with its rule, named by the place that the list shows. */
function ListProblem({ error, retry }: ListProblemProps) {
  const errors = error instanceof ProblemError ? (error.problem.errors ?? []) : []
  if (!errors.some(({ loc }) => placeOf(loc) !== undefined))
    return <Problem error={error} {...(retry ? { retry } : {})} />
  return (
    <Alert color="bad" title={problemText(error).title} role="alert">
      <ul className={classes['warnings']}>
        {errors.map((one) => {
          const place = placeOf(one.loc)
          const other = one.ctx?.['other']
          return (
            <li key={`${one.type} ${one.loc.join('.')}`}>
              {place !== undefined && <strong>{words.effect.ofRule(place + 1)}: </strong>}
              {one.type === 'cannot_order' && typeof other === 'number'
                ? words.reasons.cannotOrder(other + 1)
                : errorSentence(words.editor.rule, one)}
            </li>
          )
        })}
      </ul>
    </Alert>
  )
}
