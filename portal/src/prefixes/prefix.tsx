// One prefix that the provider has assigned to the team, with its latest events and its announcements. Links of events lead here.
import { Group, Skeleton, Stack, Text } from '@mantine/core'
import { listRelatedEventsRoute } from '@pharos/contract/analysis'
import { listAnnouncementsRoute } from '@pharos/contract/byoip'
import { getPrefixRoute, type Prefix } from '@pharos/contract/prefix'
import { useParams } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { useUser } from '../api/use-session.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { AnnouncementStatusBadge, EventStatusBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'

export function PrefixPage() {
  const { id } = useParams({ from: '/frame/prefixes/$id' })
  const user = useUser()
  const answer = useAnswer(getPrefixRoute, { params: { prefix_id: Number(id) } })
  if (answer.error && !answer.data)
    return (
      <Page title="Prefix">
        <Problem error={answer.error} />
      </Page>
    )
  if (!answer.data) return <Skeleton height={240} />
  const { cidr, name, location } = answer.data
  const has = (module: string) => user?.enabled_modules.includes(module) ?? false
  return (
    <Page
      title={cidr}
      note={
        <Group gap="xs">
          {[name, location && `${location.name}, ${location.country}`].filter(Boolean).join(' · ')}
          <CopyIcon text={cidr} label="Copy prefix" />
        </Group>
      }
    >
      {has('lighthouse') && <Events prefix={answer.data} />}
      {has('ipam') && <Announcements prefix={answer.data} />}
    </Page>
  )
}

/** Shows only the latest events; the list has the others. */
const shownEvents = 5

function Events({ prefix: { cidr } }: { prefix: Prefix }) {
  const query = { affected_network: cidr, ordering: '-start', limit: shownEvents }
  const answer = useAnswer(listRelatedEventsRoute, { query })
  return (
    <Section
      title="Latest security events"
      actions={
        <TextLink to="/events" search={{ affected_network: cidr }} size="sm">
          {answer.data && answer.data.count > shownEvents ? `View all ${answer.data.count}` : 'View as list'}
        </TextLink>
      }
    >
      <Stack gap={6}>
        {answer.isPending && <Skeleton height={40} />}
        {answer.error && !answer.data && <Problem error={answer.error} />}
        {answer.data?.results.map(({ id, affected_network, affected_bps, start, status }) => (
          <Group key={id} gap="sm">
            <TextLink to="/events/$id" params={{ id }} size="sm" ff="monospace">
              {affected_network}
            </TextLink>
            <Text size="sm">{formatRate(affected_bps, 'bps')}</Text>
            <Time at={start} />
            {status.map((one) => (
              <EventStatusBadge key={one} status={one} />
            ))}
          </Group>
        ))}
        {answer.data?.count === 0 && <None>No security events on this prefix yet.</None>}
      </Stack>
    </Section>
  )
}

function Announcements({ prefix: { cidr } }: { prefix: Prefix }) {
  const answer = useAnswer(listAnnouncementsRoute, { query: { cidr: [cidr], ordering: 'cidr' } })
  return (
    <Section title="Announcements">
      <Stack gap={6}>
        {answer.isPending && <Skeleton height={40} />}
        {answer.error && !answer.data && <Problem error={answer.error} />}
        {answer.data?.results.map(({ id, cidr: announced, status }) => (
          <Group key={id} gap="sm">
            <TextLink to="/announcements/$id" params={{ id: String(id) }} size="sm" ff="monospace">
              {announced}
            </TextLink>
            <AnnouncementStatusBadge status={status} />
          </Group>
        ))}
        {answer.data?.count === 0 && <None>No announcements overlap this prefix.</None>}
      </Stack>
    </Section>
  )
}

const None = ({ children }: { children: string }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
)
