// Tasks that need the user's attention, each with a link to the page for it.
import { Skeleton, Text } from '@mantine/core'
import { listAnnouncementsRoute } from '@pharos/contract/byoip'
import type { CallInput } from '@pharos/contract/client'
import { listDomainsRoute } from '@pharos/contract/domain'
import { listHoldsRoute } from '@pharos/contract/hold'
import { listLettersToReviewRoute } from '@pharos/contract/letter'
import { listMembersRoute } from '@pharos/contract/member'
import type { Route } from '@pharos/contract/route'
import { getSecondFactorRoute } from '@pharos/contract/second-factor'
import type { User } from '@pharos/contract/session'
import { listTokensRoute } from '@pharos/contract/token'
import { listWebhooksRoute } from '@pharos/contract/webhook'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '../api/queries.ts'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Remark, Row, Rows, SummaryCard } from './summary-card.tsx'
import { failedStatuses, tasksOf } from './tasks.ts'
import classes from './overview.module.css'

const shownRows = 6
const team = { team_id: 'current' } as const

/** Requests only what the user's role allows. */
function useIf<R extends Route>(allowed: boolean, route: R, input: CallInput<R>) {
  const { data, error, isPending } = useQuery({
    ...answerOf(route, input),
    enabled: allowed,
    refetchInterval: 30_000,
  })
  return { data, error: data === undefined ? error : null, isLoading: allowed && isPending }
}

export function ToDo({ user }: { user: User }) {
  const isAdmin = user.current_team.is_admin
  const failed = useIf(user.enabled_modules.includes('ipam'), listAnnouncementsRoute, {
    query: { status: [...failedStatuses], include: 'state_messages', limit: shownRows },
  })
  const secondFactor = useIf(true, getSecondFactorRoute, {})
  const invited = useIf(isAdmin, listMembersRoute, { params: team, query: { status: 'invited', limit: 1 } })
  const unverified = useIf(isAdmin, listDomainsRoute, {
    params: team,
    query: { verified: false, limit: shownRows },
  })
  const webhooks = useIf(isAdmin, listWebhooksRoute, { query: { limit: 100 } })
  const tokens = useIf(isAdmin, listTokensRoute, {
    query: { active: true, ordering: 'expires', limit: shownRows },
  })
  const holds = useIf(user.is_staff, listHoldsRoute, { query: { state: ['open'], limit: 1 } })
  const letters = useIf(user.is_staff, listLettersToReviewRoute, {
    query: { status: ['pending_review'], limit: 1 },
  })
  const tasks = tasksOf({
    failed: failed.data,
    secondFactor: secondFactor.data,
    invited: invited.data,
    unverified: unverified.data,
    webhooks: webhooks.data,
    tokens: tokens.data,
    holds: holds.data,
    letters: letters.data,
  })
  const answers = [failed, secondFactor, invited, unverified, webhooks, tokens, holds, letters]
  const isLoading = answers.some((one) => one.isLoading)
  // An unknown state is not "nothing to do".
  const error = answers.find((one) => one.error)?.error
  return (
    <SummaryCard title="To do">
      {error && <Problem error={error} />}
      {tasks.length === 0 &&
        !error &&
        (isLoading ? <Skeleton height={96} /> : <Remark>Nothing to do.</Remark>)}
      <Rows>
        {tasks.map(({ text, detail, to }) => (
          <Row
            key={`${to.to} ${text}`}
            link={
              <TextLink {...to} size="sm">
                {text}
              </TextLink>
            }
          >
            <Text span size="xs" c="dimmed" className={classes['rest']!} title={detail ?? ''}>
              {detail}
            </Text>
          </Row>
        ))}
      </Rows>
    </SummaryCard>
  )
}
