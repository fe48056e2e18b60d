// What waits for the person who looks: each a link to where it is done.
import { Anchor, Skeleton, Text } from '@mantine/core'
import { listAnnouncementsRoute } from '@pharos/contract/byoip'
import { listDomainsRoute } from '@pharos/contract/domain'
import { listHoldsRoute } from '@pharos/contract/hold'
import { listLettersToReviewRoute } from '@pharos/contract/letter'
import { listMembersRoute } from '@pharos/contract/member'
import type { Route } from '@pharos/contract/route'
import { getSecondFactorRoute } from '@pharos/contract/second-factor'
import type { User } from '@pharos/contract/session'
import { listTokensRoute } from '@pharos/contract/token'
import { listWebhooksRoute } from '@pharos/contract/webhook'
import type { CallInput } from '@pharos/contract/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answerOf } from '../api/queries.ts'
import { Part, Quiet, Row, Rows } from './part.tsx'
import { tasksOf } from './tasks.ts'
import classes from './overview.module.css'

const shownRows = 6
const team = { team_id: 'current' } as const

/** Asked only of whoever may ask it. */
function useIf<R extends Route>(allowed: boolean, route: R, input: CallInput<R>) {
  const { data, isPending } = useQuery({
    ...answerOf(route, input),
    enabled: allowed,
    refetchInterval: 30_000,
  })
  return { data, isWaiting: allowed && isPending }
}

export function NeedsYou({ user }: { user: User }) {
  const isAdmin = user.current_team.is_admin
  const has = (module: string) => user.enabled_modules.includes(module)
  const stuck = useIf(has('ipam'), listAnnouncementsRoute, {
    query: {
      status: ['validation_failed', 'suspended', 'error'],
      include: 'state_messages',
      limit: shownRows,
    },
  })
  const secondFactor = useIf(true, getSecondFactorRoute, {})
  const invited = useIf(isAdmin, listMembersRoute, { params: team, query: { status: 'invited', limit: 1 } })
  const unproved = useIf(isAdmin, listDomainsRoute, {
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
    stuck: stuck.data,
    secondFactor: secondFactor.data,
    invited: invited.data,
    unproved: unproved.data,
    webhooks: webhooks.data,
    tokens: tokens.data,
    holds: holds.data,
    letters: letters.data,
  })
  const isWaiting = [stuck, secondFactor, invited, unproved, webhooks, tokens, holds, letters].some(
    (one) => one.isWaiting,
  )
  return (
    <Part title="Needs you">
      {tasks.length === 0 &&
        (isWaiting ? <Skeleton height={96} /> : <Quiet>Nothing. All is as it should be.</Quiet>)}
      <Rows>
        {tasks.map(({ text, detail, to, search }) => (
          <Row
            key={`${to} ${text}`}
            link={
              <Anchor component={Link} to={to as never} search={(search ?? {}) as never} size="sm">
                {text}
              </Anchor>
            }
          >
            <Text span size="xs" c="dimmed" className={classes['rest']!} title={detail ?? ''}>
              {detail}
            </Text>
          </Row>
        ))}
      </Rows>
    </Part>
  )
}
