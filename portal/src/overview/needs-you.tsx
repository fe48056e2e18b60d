// What waits for the person who looks: each a link to where it is done.
import { Anchor, Skeleton, Text } from '@mantine/core'
import { listAnnouncements } from '@pharos/contract/byoip'
import { listDomains } from '@pharos/contract/domain'
import { listHolds } from '@pharos/contract/hold'
import { listLettersToReview } from '@pharos/contract/letter'
import { listMembers } from '@pharos/contract/member'
import type { Route } from '@pharos/contract/route'
import { getSecondFactor } from '@pharos/contract/second-factor'
import type { User } from '@pharos/contract/session'
import { listTokens } from '@pharos/contract/token'
import { listWebhooks } from '@pharos/contract/webhook'
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
  const stuck = useIf(has('ipam'), listAnnouncements, {
    query: {
      status: ['validation_failed', 'suspended', 'error'],
      include: 'state_messages',
      limit: shownRows,
    },
  })
  const secondFactor = useIf(true, getSecondFactor, {})
  const invited = useIf(isAdmin, listMembers, { params: team, query: { status: 'invited', limit: 1 } })
  const unproved = useIf(isAdmin, listDomains, { params: team, query: { verified: false, limit: shownRows } })
  const webhooks = useIf(isAdmin, listWebhooks, { query: { limit: 100 } })
  const tokens = useIf(isAdmin, listTokens, {
    query: { active: true, ordering: 'expires', limit: shownRows },
  })
  const holds = useIf(user.is_staff, listHolds, { query: { state: ['open'], limit: 1 } })
  const letters = useIf(user.is_staff, listLettersToReview, {
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
