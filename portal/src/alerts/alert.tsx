// One alert rule: its state, the values that it compares with its limit and firings, and the history.
import { Button, Switch, Table, Text } from '@mantine/core'
import {
  alertTrialDays,
  deleteAlertRuleRoute,
  getAlertRuleRoute,
  listAlertFiringsRoute,
  listAlertRulesRoute,
  tryAlertConditionRoute,
  updateAlertRuleRoute,
  type AlertFiring,
  type AlertRule,
} from '@pharos/contract/alert/alert-rule'
import { alertReasonText } from '@pharos/contract/reason/alert-reason'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { answerOverLastOf, invalidate, refetchIntervalOf, useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { Dimmed, OrDash } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Facts } from '../ui/facts.tsx'
import { FailedSection } from '../ui/failed-section.tsx'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Columns, Page } from '../ui/page.tsx'
import { PendingPage } from '../ui/pending-page.tsx'
import { problemText } from '../ui/problem-text.ts'
import { Section } from '../ui/section.tsx'
import { TimeRangeField } from '../ui/time-range-field.tsx'
import type { TimeRange } from '../ui/time-range.ts'
import { formatDuration, Time } from '../ui/time.tsx'
import { usePageRange } from '../ui/use-page-range.ts'
import { AlertPill } from './alert-state.tsx'
import { conditionText, minutesText, quantityText } from './condition.ts'
import { marksOf, TrialChart } from './trial-chart.tsx'
import { words } from './words.ts'

const refetchMs = 30_000
const firingsMax = 100
const dayMs = 86_400_000

export function AlertPage() {
  const { id } = useParams({ from: '/frame/alerts/$id' })
  const params = { alert_rule_id: Number(id) }
  const canManage = useGrant('alerts.manage')
  const answer = useAnswer(getAlertRuleRoute, { params }, { refetchInterval: refetchMs })
  const firings = useAnswer(
    listAlertFiringsRoute,
    { params, query: { limit: firingsMax } },
    { refetchInterval: refetchMs },
  )
  const rule = answer.data
  if (!rule) return <PendingPage title={words.one} answer={answer} />
  return (
    <Page
      title={rule.name}
      state={<AlertPill rule={rule} />}
      note={conditionText(rule.condition)}
      actions={canManage && <Actions rule={rule} />}
    >
      <Columns rail={<RuleFacts rule={rule} canManage={canManage} />}>
        {rule.reason !== null && rule.enabled && (
          <Section title={words.states.unknown}>
            <Text size="sm">{alertReasonText(rule.reason)}</Text>
          </Section>
        )}
        <Values rule={rule} firings={firings.data?.results ?? []} />
        {firings.error && !firings.data ? (
          <FailedSection title={words.history} answer={firings} />
        ) : (
          <History rule={rule} firings={firings.data?.results} />
        )}
      </Columns>
    </Page>
  )
}

const weekRange: TimeRange = { range: '7d' }
const monthRange: TimeRange = { range: '30d' }

/** A longer range is shortened to its end: the values are compared one by one. */
function spanOfTrial(start: string | undefined, end: string | undefined) {
  const until = end === undefined ? Date.now() : Date.parse(end)
  const earliest = until - alertTrialDays * dayMs
  const isShortened = start === undefined || Date.parse(start) < earliest - dayMs / 24
  return {
    isShortened,
    span: {
      start: isShortened ? new Date(Math.floor(earliest / 60_000) * 60_000).toISOString() : start,
      ...(end === undefined ? {} : { end }),
    },
  }
}

type ValuesProps = { readonly rule: AlertRule; readonly firings: readonly AlertFiring[] }

function Values({ rule, firings }: ValuesProps) {
  const { condition, clear_minutes, name } = rule
  const isCommit = condition.kind === 'commit'
  const { range, span: asked, setRange, zoom } = usePageRange(isCommit ? monthRange : weekRange)
  const { span, isShortened } = spanOfTrial(asked.start, asked.end)
  const answer = useQuery({
    ...answerOverLastOf(tryAlertConditionRoute, { body: { condition, clear_minutes, ...span } }),
    refetchInterval: () => refetchIntervalOf(tryAlertConditionRoute, 2 * refetchMs),
  })
  const trial = answer.data
  const notes = [isShortened && words.shortened, isCommit ? words.daily : words.worst].filter(Boolean)
  return (
    <Section
      title={words.chart}
      actions={<TimeRangeField value={range} onChange={setRange} canBeAny={false} />}
    >
      <TrialChart
        label={words.chartOf(name)}
        trial={trial}
        marks={trial ? marksOf(firings, Date.parse(trial.timeseries.end)) : []}
        {...zoom}
        isLoading={answer.isPending}
        isPlaceholder={answer.isPlaceholderData}
        {...(answer.error && !trial
          ? { error: problemText(answer.error).title, onRetry: () => void answer.refetch() }
          : {})}
      />
      <Dimmed>{notes.join(' ')}</Dimmed>
    </Section>
  )
}

type HistoryProps = { readonly rule: AlertRule; readonly firings: readonly AlertFiring[] | undefined }

const History = ({ rule, firings }: HistoryProps) => (
  <Section title={words.history}>
    {firings === undefined || firings.length === 0 ? (
      <Dimmed>{firings === undefined ? '' : words.historyEmpty}</Dimmed>
    ) : (
      <Table.ScrollContainer minWidth={480}>
        <Table aria-label={words.history}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.started}</Table.Th>
              <Table.Th>{words.ended}</Table.Th>
              <Table.Th>{words.duration}</Table.Th>
              <Table.Th ta="right">{words.value}</Table.Th>
              <Table.Th ta="right">{words.limit}</Table.Th>
              <Table.Th>{words.ending}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {firings.map(({ id, started, ended, value, threshold, ending }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Time at={started} />
                </Table.Td>
                <Table.Td>
                  <Time at={ended} none={words.open} />
                </Table.Td>
                <Table.Td>
                  {formatDuration((ended === null ? Date.now() : Date.parse(ended)) - Date.parse(started))}
                </Table.Td>
                <Table.Td ta="right">{quantityText(value, rule.unit)}</Table.Td>
                <Table.Td ta="right">{quantityText(threshold, rule.unit)}</Table.Td>
                <Table.Td>
                  <OrDash>{ending && words.endings[ending]}</OrDash>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    )}
  </Section>
)

function ObjectLink({ object: { type, id, name } }: Pick<AlertRule, 'object'>) {
  const to = { port: '/ports/$id', service: '/services/$id', announcement: '/announcements/$id' } as const
  return (
    <TextLink to={to[type]} params={{ id: String(id) }} size="sm">
      {name}
    </TextLink>
  )
}

function RuleFacts({ rule, canManage }: { readonly rule: AlertRule; readonly canManage: boolean }) {
  const { id, object, value, unit, threshold, severity, since, firing_since: firing } = rule
  const change = useMutation({
    mutationFn: (enabled: boolean) =>
      call(updateAlertRuleRoute, { params: { alert_rule_id: id }, body: { enabled } }),
    onSuccess: () => invalidate(getAlertRuleRoute, listAlertRulesRoute, listAlertFiringsRoute),
    onError: notifyProblem,
  })
  return (
    <Section title={words.facts}>
      <Facts
        facts={[
          [
            words.objects[object.type],
            object.name === '' ? words.gone : <ObjectLink key="object" object={object} />,
          ],
          [words.value, value === null ? undefined : quantityText(value, unit)],
          [words.limit, quantityText(threshold, unit)],
          [words.stateSince, <Time key="since" at={since} />],
          [words.beyondSince, firing === null ? undefined : <Time key="firing" at={firing} />],
          [words.clears, minutesText(rule.clear_minutes)],
          [words.severity, words.severities[severity]],
          [words.evaluated, <Time key="evaluated" at={rule.evaluated_until} none={words.notYet} />],
          [words.created, <Time key="created" at={rule.created} />],
        ]}
      />
      <Switch
        mt="sm"
        label={words.enabled}
        checked={rule.enabled}
        disabled={!canManage || change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
    </Section>
  )
}

function Actions({ rule }: { readonly rule: AlertRule }) {
  const navigate = useNavigate()
  return (
    <>
      <ButtonLink to="/alerts/$id/edit" params={{ id: String(rule.id) }} variant="default">
        {words.edit}
      </ButtonLink>
      <Dialog
        title={words.deleteTitle}
        action={words.delete}
        danger
        route={deleteAlertRuleRoute}
        intro={words.deleteText}
        trigger={(open) => (
          <Button variant="default" onClick={open}>
            {words.delete}
          </Button>
        )}
        onSubmit={async () => {
          await call(deleteAlertRuleRoute, { params: { alert_rule_id: rule.id } })
          await navigate({ to: '/alerts' })
          await invalidate(listAlertRulesRoute)
        }}
      />
    </>
  )
}
