// The list of tasks: state, who acts, and a link to the page, labelled with the action.
import { Button, Group, Skeleton, Text } from '@mantine/core'
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import type { CallInput } from '@pharos/contract/client'
import { listCrossConnectsRoute } from '@pharos/contract/inventory/cross-connect'
import { listZonesRoute } from '@pharos/contract/dns/zone'
import { listDomainsRoute } from '@pharos/contract/team/domain'
import { listMembersRoute } from '@pharos/contract/team/member'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import type { Route } from '@pharos/contract/route'
import { getSecondFactorRoute } from '@pharos/contract/session/second-factor'
import { listTokensRoute } from '@pharos/contract/team/token'
import { listWebhooksRoute } from '@pharos/contract/messages/webhook'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { blockedStatuses } from '../announcements/blocked-statuses.ts'
import { answerOf } from '../api/queries.ts'
import { useMay, useSeenModules } from '../api/use-grant.ts'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { useNow } from '../ui/use-now.ts'
import classes from './overview.module.css'
import { tasksOf, type Task } from './tasks.ts'
import { words } from './words.ts'

const { toDo: texts } = words
const shownRows = 5
const requestedRows = 6
const team = { team_id: 'current' } as const

/** Zones with a serving problem; the figure counts the same zones. */
export const troubledZones = {
  query: {
    status: ['error', 'pending_verification'] as ('error' | 'pending_verification')[],
    include: 'state_messages',
    limit: requestedRows,
  },
}

/** Sends the request only if the user's roles allow it. */
function useIf<R extends Route>(allowed: boolean, route: R, input: CallInput<R>) {
  const { data, error, isPending, refetch } = useQuery({
    ...answerOf(route, input),
    enabled: allowed,
    refetchInterval: 30_000,
  })
  return { data, error: data === undefined ? error : null, isLoading: allowed && isPending, refetch }
}

/** The lists that tasks are made from. */
function useTaskAnswers() {
  const may = useMay()
  const has = useSeenModules()
  const failed = useIf(has('ipam'), listAnnouncementsRoute, {
    query: {
      status: [...blockedStatuses],
      include: 'state_messages,validations,details',
      limit: requestedRows,
    },
  })
  const hasDns = has('dns')
  const troubled = useIf(hasDns, listZonesRoute, troubledZones)
  const dnssecZones = useIf(hasDns, listZonesRoute, {
    query: { dnssec: ['pending_ds'], limit: requestedRows },
  })
  const crossConnects = useIf(has('inventory'), listCrossConnectsRoute, {
    query: { waits_for: ['customer'], limit: requestedRows },
  })
  const opticPorts = useIf(has('inventory'), listPortsRoute, {
    query: { has_optic_warning: true, include: 'optics', limit: requestedRows },
  })
  const secondFactor = useIf(true, getSecondFactorRoute, {})
  const invited = useIf(may('team.manage'), listMembersRoute, {
    params: team,
    query: { status: 'invited', limit: 1 },
  })
  const unverified = useIf(may('team.manage'), listDomainsRoute, {
    params: team,
    query: { verified: false, limit: requestedRows },
  })
  const webhooks = useIf(may('webhooks.manage'), listWebhooksRoute, { query: { limit: 100 } })
  const tokens = useIf(may('tokens.manage'), listTokensRoute, {
    query: { active: true, ordering: 'expires', limit: requestedRows },
  })
  return {
    failed,
    troubledZones: troubled,
    dnssecZones,
    crossConnects,
    opticPorts,
    secondFactor,
    invited,
    unverified,
    webhooks,
    tokens,
  }
}

const dataOf = (answers: ReturnType<typeof useTaskAnswers>) => ({
  failed: answers.failed.data,
  troubledZones: answers.troubledZones.data,
  dnssecZones: answers.dnssecZones.data,
  crossConnects: answers.crossConnects.data,
  opticPorts: answers.opticPorts.data,
  secondFactor: answers.secondFactor.data,
  invited: answers.invited.data,
  unverified: answers.unverified.data,
  webhooks: answers.webhooks.data,
  tokens: answers.tokens.data,
})

export function ToDo({ title = texts.title }: { readonly title?: string }) {
  const answers = useTaskAnswers()
  const tasks = tasksOf(dataOf(answers), useNow())
  const all = Object.values(answers)
  const isLoading = all.some((one) => one.isLoading)
  // An unknown state must not appear as "nothing to do".
  const failures = all.filter((one) => one.error)
  return (
    <Section
      title={title}
      note={
        tasks.length > 0 &&
        failures.length === 0 && <StatePill color="warn">{tasks.length.toLocaleString('en')}</StatePill>
      }
      fill
    >
      {failures.length > 0 && (
        <Problem error={failures[0]!.error} retry={() => Promise.all(failures.map((one) => one.refetch()))} />
      )}
      {tasks.length === 0 &&
        failures.length === 0 &&
        (isLoading ? (
          <Skeleton height={160} />
        ) : (
          <Text size="sm" c="dimmed">
            {texts.none}
          </Text>
        ))}
      <Rows tasks={tasks} />
    </Section>
  )
}

function Rows({ tasks }: { tasks: readonly Task[] }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole || tasks.length <= shownRows + 1 ? tasks : tasks.slice(0, shownRows)
  return (
    <>
      <ul className={classes['tasks']}>
        {shown.map(({ text, isMono = false, detail, color, who, verb, to }) => (
          <li key={`${to.to} ${text}`} className={classes['task']}>
            <span className={classes['dot']} data-color={color} aria-hidden />
            <div className={classes['taskText']}>
              <div className={classes['taskName']} data-mono={isMono || undefined} title={text}>
                {text}
              </div>
              <div className={classes['taskDetail']}>
                {[...(who === 'you' ? [] : [texts.waitsFor]), ...(detail === undefined ? [] : [detail])].join(
                  ' · ',
                )}
              </div>
            </div>
            <TextLink {...to} size="sm" className={classes['verb']!} aria-label={`${verb}: ${text}`}>
              {verb}
            </TextLink>
          </li>
        ))}
      </ul>
      {shown.length < tasks.length && (
        <Group>
          <Button variant="subtle" size="compact-sm" ml={-8} onClick={() => setWhole(true)}>
            {texts.more(tasks.length - shown.length)}
          </Button>
        </Group>
      )}
    </>
  )
}
