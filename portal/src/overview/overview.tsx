// What somebody looks at first: attacks that go on, what is not announced as wanted, and what needs a person.
import { Anchor, Card, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { listRelatedEvents } from '@pharos/contract/analysis'
import { listAnnouncements, type Announcement } from '@pharos/contract/byoip'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useUser } from '../shell/use-session.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { ongoingNow } from '../events/ongoing.ts'
import { AnnouncementStatusBadge } from '../ui/status.tsx'
import { ago } from '../ui/time.tsx'

export function Overview() {
  const user = useUser()
  if (!user) return null
  const { enabled_modules: modules, current_team: team } = user
  return (
    <Page title="Overview" note={team.name}>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {modules.includes('lighthouse') && <Attacks />}
        {modules.includes('ipam') && <Announced />}
      </SimpleGrid>
      {modules.includes('ipam') && <NeedsYou />}
    </Page>
  )
}

const Part = ({ title, to, children }: { title: string; to: string; children: ReactNode }) => (
  <Card component="section" aria-label={title}>
    <Group justify="space-between" mb="xs">
      <Text fw={600}>{title}</Text>
      <Anchor component={Link} to={to as never} size="sm">
        All
      </Anchor>
    </Group>
    {children}
  </Card>
)

const shownAttacks = 5

function Attacks() {
  const answer = useAnswer(listRelatedEvents, { query: ongoingNow() }, { refetchInterval: 10_000 })
  const last = useAnswer(listRelatedEvents, { query: { ordering: '-start', limit: 1 } })
  const ongoing = answer.data?.results ?? []
  return (
    <Part title="Attacks going on" to="/events">
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={80} />}
      {answer.data && ongoing.length === 0 && (
        <Text size="sm" c="dimmed">
          None. The last one ended{' '}
          {last.data?.results[0]?.end ? ago(last.data.results[0].end) : 'before anything was kept'}.
        </Text>
      )}
      <Stack gap={6}>
        {ongoing
          .slice(0, shownAttacks)
          .map(({ id, affected_network, classification_key, affected_bps, start }) => (
            <Group key={id} justify="space-between" wrap="nowrap">
              <Anchor component={Link} to="/events/$id" params={{ id } as never} ff="monospace" size="sm">
                {affected_network}
              </Anchor>
              <Text size="sm" truncate>
                {classification_key}
              </Text>
              <Text size="sm" fw={600}>
                {formatRate(affected_bps, 'bps')}
              </Text>
              <Text size="xs" c="dimmed">
                {ago(start)}
              </Text>
            </Group>
          ))}
      </Stack>
    </Part>
  )
}

const calm = new Set(['announced', 'ready', 'withdrawn'])

function useAnnouncements() {
  return useAnswer(
    listAnnouncements,
    { query: { limit: 1000, include: 'state_messages,details' } },
    { refetchInterval: 10_000 },
  )
}

function Announced() {
  const answer = useAnnouncements()
  const all = answer.data?.results ?? []
  const unlike = all.filter(
    ({ status, enabled }) => enabled !== (status === 'announced') && status !== 'ready',
  )
  const on = all.filter(({ status }) => status === 'announced').length
  return (
    <Part title="Announcements" to="/announcements">
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={80} />}
      {answer.data && (
        <Text size="sm">
          {on} of {answer.data.count} announced;{' '}
          {unlike.length === 0 ? 'all as wanted.' : `${unlike.length} not as wanted:`}
        </Text>
      )}
      <Rows announcements={unlike.slice(0, shownAttacks)} />
    </Part>
  )
}

function Rows({ announcements }: { announcements: readonly Announcement[] }) {
  return (
    <Stack gap={6} mt="xs">
      {announcements.map(({ id, cidr, status, state_messages: messages = [] }) => (
        <Group key={id} wrap="nowrap">
          <Anchor
            component={Link}
            to="/announcements/$id"
            params={{ id: String(id) } as never}
            ff="monospace"
            size="sm"
          >
            {cidr}
          </Anchor>
          <AnnouncementStatusBadge status={status} />
          <Text size="xs" c="dimmed" truncate>
            {messages[0]?.message}
          </Text>
        </Group>
      ))}
    </Stack>
  )
}

function NeedsYou() {
  const answer = useAnnouncements()
  const waiting = answer.data?.results.filter(
    ({ status, state_messages: messages = [] }) =>
      !calm.has(status) || messages.some(({ severity }) => severity !== 'info'),
  )
  if (!waiting) return null
  return (
    <Part title="Needs you" to="/announcements?status=validation_failed">
      {waiting.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing. Every check has passed, every prefix is where you want it.
        </Text>
      ) : (
        <Rows announcements={waiting} />
      )}
    </Part>
  )
}
