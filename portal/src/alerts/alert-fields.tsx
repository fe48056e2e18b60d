// The form of an alert rule, for a new one and for a change: what to watch, the limit, and the past against which it is tried.
import { Group, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import {
  alertKinds,
  alertSeverities,
  alertTrialDays,
  tryAlertConditionRoute,
  type AlertKind,
} from '@pharos/contract/alert/alert-rule'
import { alertReasonText } from '@pharos/contract/reason/alert-reason'
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import { listServicesRoute } from '@pharos/contract/inventory/service'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { answerOverLastOf } from '../api/queries.ts'
import { useHasModule } from '../api/use-grant.ts'
import { Dimmed } from '../ui/cells.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { number, select, type Option } from '../ui/form-widgets.tsx'
import { Field, FormSection, type Declarations, type RequestForm } from '../ui/form.tsx'
import { problemText } from '../ui/problem-text.ts'
import { Section } from '../ui/section.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import {
  boundsOf,
  conditionOf,
  firstThreshold,
  isWithin,
  minutesBounds,
  type AlertValues,
} from './condition.ts'
import { marksOf, TrialChart } from './trial-chart.tsx'
import classes from './alerts.module.css'
import { words } from './words.ts'

const objectTypes = {
  port_utilisation: 'port',
  light_margin: 'port',
  commit: 'service',
  visibility: 'announcement',
} as const satisfies Record<AlertKind, string>

/** The objects that a rule of the kind may watch; empty until they are read. */
function useObjects(kind: AlertKind): readonly Option[] {
  const type = objectTypes[kind]
  const ports = useAllRows(
    listPortsRoute,
    { query: { ordering: 'device_name,name' } },
    undefined,
    type === 'port',
  )
  const services = useAllRows(
    listServicesRoute,
    { query: { ordering: 'name' } },
    undefined,
    type === 'service',
  )
  const announcements = useAllRows(
    listAnnouncementsRoute,
    { query: { ordering: 'cidr' } },
    undefined,
    type === 'announcement',
  )
  return useMemo(() => {
    if (type === 'port')
      return (ports.data ?? []).map(({ id, name, device_name: device, circuit_id: circuit }) => ({
        value: String(id),
        label: `${name} · ${device} (${circuit})`,
      }))
    if (type === 'service')
      return (services.data ?? []).map(({ id, name }) => ({ value: String(id), label: name }))
    return (announcements.data ?? []).map(({ id, cidr, origin_asn: asn }) => ({
      value: String(id),
      label: `${cidr} (AS${asn})`,
    }))
  }, [type, ports.data, services.data, announcements.data])
}

type Subject = Pick<AlertValues, 'kind' | 'object'>

/** The ports of a service, whose bills are separate. */
function useParts(service: string): readonly Option[] {
  const ports = useAllRows(
    listPortsRoute,
    { query: { service_id: [Number(service)], ordering: 'name' } },
    undefined,
    service !== '',
  )
  return useMemo(
    () =>
      (service === '' ? [] : (ports.data ?? [])).map(({ id, name, circuit_id: circuit }) => ({
        value: String(id),
        label: `${circuit} · ${name}`,
      })),
    [service, ports.data],
  )
}

const within = (bounds: typeof minutesBounds) => (value: number | '') =>
  isWithin(value, bounds) ? undefined : words.within(...bounds)

export function useDeclared({ kind, object: service }: Subject): Declarations<AlertValues> {
  const objects = useObjects(kind)
  const parts = useParts(kind === 'commit' ? service : '')
  const modules = { inventory: useHasModule('inventory'), ipam: useHasModule('ipam') }
  return useMemo(() => {
    const isDb = kind === 'light_margin'
    return {
      kind: select({
        label: words.kind,
        required: true,
        data: alertKinds
          .filter((one) => modules[one === 'visibility' ? 'ipam' : 'inventory'])
          .map((value) => ({ value, label: words.kinds[value] })),
      }),
      object: select({ label: words.objects[objectTypes[kind]], required: true, data: objects, limit: 100 }),
      direction: select({
        label: words.direction,
        required: true,
        data: (['either', 'in', 'out'] as const).map((value) => ({ value, label: words.directions[value] })),
      }),
      part: select({ label: words.bill, help: words.billHelp, required: false, data: parts }),
      measure: select({
        label: words.measure,
        required: true,
        data: (['percentile', 'forecast'] as const).map((value) => ({ value, label: words.measures[value] })),
      }),
      threshold: number({
        label: words.thresholds[kind],
        help: words.thresholdHelps[kind],
        required: true,
        unit: isDb ? 'dB' : '%',
        decimals: 1,
        check: within(boundsOf[kind]),
      }),
      for_minutes: number({
        label: words.forMinutes,
        help: words.forHelp,
        required: kind !== 'commit',
        unit: words.minutes,
        check: within(minutesBounds),
      }),
      clear_minutes: number({
        label: words.clearMinutes,
        help: words.clearHelp,
        required: true,
        unit: words.minutes,
      }),
      name: text({ label: words.name, help: words.nameHelp, required: true, autoComplete: 'off' }),
      severity: select({
        label: words.severity,
        required: true,
        data: alertSeverities.map((value) => ({ value, label: words.severities[value] })),
      }),
    }
  }, [kind, objects, parts, modules.inventory, modules.ipam])
}

type AlertFieldsProps<Result> = {
  readonly form: RequestForm<AlertValues, Result>
  /** A new rule gets the threshold that is proposed from the values. */
  readonly isNew: boolean
}

export function AlertFields<Result>({ form, isNew }: AlertFieldsProps<Result>) {
  const { kind, object, name } = form.fields.values
  const label = useObjects(kind).find(({ value }) => value === object)?.label
  useProposal(isNew && name === '' ? (label ?? null) : null, `${kind} ${object}`, (of) => {
    const proposed = words.nameOf(words.kinds[kind], of.split(' · ')[0]!)
    form.fields.setInitialValues({ ...form.fields.getInitialValues(), name: proposed })
    form.fields.setFieldValue('name', proposed)
  })
  return (
    <>
      <FormSection title={words.what} help={words.whatHelp}>
        <Field form={form} name="kind" />
        <Field form={form} name="object" />
        {kind === 'port_utilisation' && <Field form={form} name="direction" />}
        {kind === 'commit' && <Field form={form} name="part" />}
        {kind === 'commit' && <Field form={form} name="measure" />}
      </FormSection>
      <FormSection title={words.when} help={isNew ? words.whenHelp : words.unknownNote(kind)}>
        <Field form={form} name="threshold" />
        <Group align="flex-start">
          {kind !== 'commit' && <Field form={form} name="for_minutes" />}
          <Field form={form} name="clear_minutes" />
        </Group>
      </FormSection>
      <Trial form={form} isNew={isNew} />
      <FormSection title={words.whom} help={isNew ? words.unknownNote(kind) : undefined}>
        <Field form={form} name="name" />
        <Field form={form} name="severity" />
      </FormSection>
    </>
  )
}

/** Typing a number does not send a request for each digit. */
const typingMs = 400

function Trial<Result>({ form: { fields }, isNew }: AlertFieldsProps<Result>) {
  const { values } = fields
  const [settled] = useDebouncedValue(values, typingMs)
  const isFirst = isNew && settled.threshold === ''
  const condition = conditionOf(settled, isFirst ? firstThreshold[settled.kind] : settled.threshold)
  const clear = settled.clear_minutes
  const body = condition && {
    condition,
    ...(isWithin(clear, minutesBounds) ? { clear_minutes: clear } : {}),
  }
  const answer = useQuery({
    ...answerOverLastOf(tryAlertConditionRoute, { body: body! }),
    enabled: body !== undefined,
  })
  const trial = body === undefined ? undefined : answer.data
  const isCurrent = trial !== undefined && !answer.isPlaceholderData
  const subject = `${settled.kind} ${settled.object} ${settled.direction} ${settled.measure} ${settled.part}`
  useProposal(isFirst && isCurrent ? trial.proposed_threshold : null, subject, (threshold) => {
    // A proposal is no unsaved change.
    fields.setInitialValues({ ...fields.getInitialValues(), threshold })
    fields.setFieldValue('threshold', threshold)
  })
  const now = conditionOf(values)
  function trialText(): string {
    if (settled.object === '') return words.chooseObject
    if (body === undefined) return words.enterLimit
    if (trial === undefined) return answer.error ? words.notTried : words.trying
    // Without a limit of its own the rule is tried with another one, for the proposal.
    return isFirst && trial.reason === null ? words.enterLimit : sentenceOf(trial)
  }
  return (
    <div className={classes['trial']}>
      <Section title={words.trial}>
        <Text size="sm" role="status" aria-live="polite">
          {trialText()}
        </Text>
        {trial?.reason != null && settled.kind === 'visibility' && <Dimmed>{words.recordedLater}</Dimmed>}
        {body !== undefined && (
          <TrialChart
            label={words.trial}
            trial={trial}
            {...(now && values.threshold !== '' ? { threshold: values.threshold } : {})}
            marks={trial ? marksOf(trial.firings, Date.parse(trial.timeseries.end)) : []}
            isLoading={answer.isPending}
            isPlaceholder={answer.isPlaceholderData}
            {...(answer.error && !trial
              ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
              : {})}
          />
        )}
      </Section>
    </div>
  )
}

/** Enters each proposal once, unless something was typed. */
function useProposal<T>(proposed: T | null, subject: string, enter: (proposed: T) => void): void {
  const entered = useRef<string>(undefined)
  useEffect(() => {
    if (proposed === null || entered.current === subject) return
    entered.current = subject
    enter(proposed)
  }, [proposed, subject])
}

type Tried = {
  readonly firings: readonly unknown[]
  readonly measured_percent: number
  readonly reason: Parameters<typeof alertReasonText>[0] | null
}

/** How often it would have fired, and of how much of the time that is known. */
function sentenceOf({ firings, measured_percent: measured, reason }: Tried): string {
  if (reason !== null) return `${words.cannotTry} ${alertReasonText(reason)}`
  const would = words.would(firings.length, alertTrialDays)
  return measured < 99.5 ? `${would} ${words.measured(measured)}` : would
}
