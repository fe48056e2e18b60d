// One prefix that the provider has assigned to the team, with its latest events and its announcements. Links of events lead here.
import { Group, Skeleton, Table } from '@mantine/core'
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { getPrefixRoute, type Prefix } from '@pharos/contract/inventory/prefix'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useSeenModules } from '../api/use-grant.ts'
import { Dimmed, OrDash } from '../ui/cells.tsx'
import { LazyTrafficCard } from '../traffic/lazy-traffic-card.tsx'
import { CopyIcon } from '../ui/copy.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { Columns, Page } from '../ui/page.tsx'
import { PendingPage } from '../ui/pending-page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { AnnouncementStatusBadge, EventStatusBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words as texts } from './words.ts'

export function PrefixPage() {
  const { id } = useParams({ from: '/frame/prefixes/$id' })
  const has = useSeenModules()
  const answer = useAnswer(getPrefixRoute, { params: { prefix_id: Number(id) } })
  if (!answer.data) return <PendingPage title={texts.title} answer={answer} />
  const { cidr, name, location, created } = answer.data
  return (
    <Page
      title={cidr}
      mono
      state={<CopyIcon text={cidr} label={texts.copy} />}
      {...(name === '' ? {} : { note: name })}
    >
      <Columns
        rail={
          <Section title={texts.facts}>
            <Facts
              facts={[
                [texts.name, <OrDash key="name">{name}</OrDash>],
                [texts.location, location && `${location.name}, ${location.country}`],
                [texts.version, cidr.includes(':') ? 'IPv6' : 'IPv4'],
                [texts.assigned, <Time key="created" at={created} />],
                [texts.id, id],
              ]}
            />
          </Section>
        }
      >
        <LazyTrafficCard filters={[{ key: 'local_address', op: 'within', values: [cidr] }]} name={cidr} />
        {has('ipam') && <Announcements prefix={answer.data} />}
        {has('lighthouse') && <Events prefix={answer.data} />}
      </Columns>
    </Page>
  )
}

/** Shows only the latest events; the list has the others. */
const shownEvents = 5

function Events({ prefix: { cidr } }: { prefix: Prefix }) {
  const query = { affected_network: cidr, ordering: '-start', limit: shownEvents }
  const answer = useAnswer(listIncidentsRoute, { query })
  return (
    <Related
      title={texts.events}
      answer={answer}
      none={texts.noEvents}
      heads={[texts.network, texts.status, texts.peak, texts.started]}
      actions={
        <TextLink to="/events" search={{ affected_network: cidr }} size="sm">
          {answer.data && answer.data.count > shownEvents ? texts.viewAll(answer.data.count) : texts.viewList}
        </TextLink>
      }
    >
      {answer.data?.results.map(({ id, network, affected_bps, start, status }) => (
        <Table.Tr key={id}>
          <Table.Td>
            <TextLink to="/events/$id" params={{ id }} size="sm" ff="monospace">
              {network}
            </TextLink>
          </Table.Td>
          <Table.Td>
            <Group gap={4} wrap="nowrap">
              {status.map((one) => (
                <EventStatusBadge key={one} status={one} />
              ))}
            </Group>
          </Table.Td>
          <Table.Td>{formatRate(affected_bps, 'bps')}</Table.Td>
          <Table.Td>
            <Time at={start} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Related>
  )
}

function Announcements({ prefix: { cidr } }: { prefix: Prefix }) {
  const answer = useAnswer(listAnnouncementsRoute, { query: { cidr: [cidr], ordering: 'cidr' } })
  return (
    <Related
      title={texts.announcements}
      answer={answer}
      none={texts.noAnnouncements}
      heads={[texts.prefix, texts.status, texts.origin]}
    >
      {answer.data?.results.map(({ id, cidr: announced, status, origin_asn }) => (
        <Table.Tr key={id}>
          <Table.Td>
            <TextLink to="/announcements/$id" params={{ id: String(id) }} size="sm" ff="monospace">
              {announced}
            </TextLink>
          </Table.Td>
          <Table.Td>
            <AnnouncementStatusBadge status={status} />
          </Table.Td>
          <Table.Td>AS{origin_asn}</Table.Td>
        </Table.Tr>
      ))}
    </Related>
  )
}

type RelatedProps = {
  readonly title: string
  readonly answer: {
    readonly isPending: boolean
    readonly error: unknown
    readonly data?: { readonly count: number } | undefined
    readonly refetch: () => unknown
  }
  readonly none: string
  readonly heads: readonly string[]
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A table of what concerns the prefix. */
const Related = ({ title, answer, none, heads, actions, children }: RelatedProps) => (
  <Section title={title} {...(actions === undefined ? {} : { actions })}>
    {answer.isPending && <Skeleton height={40} />}
    {Boolean(answer.error) && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
    {answer.data?.count === 0 && <Dimmed>{none}</Dimmed>}
    {answer.data !== undefined && answer.data.count > 0 && (
      <Table.ScrollContainer minWidth={440}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              {heads.map((head) => (
                <Table.Th key={head}>{head}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{children}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    )}
  </Section>
)
