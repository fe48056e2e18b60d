// How many prefixes are announced, and those whose routers differ from what the team enabled. Counts are requested, not
// rows: there may be thousands.
import { Skeleton, Text } from '@mantine/core'
import { announcementStatuses, listAnnouncementsRoute, type Announcement } from '@pharos/contract/byoip'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAnswer } from '../api/queries.ts'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { AnnouncementStatusBadge } from '../ui/status.tsx'
import { Remark, Row, Rows, SummaryCard } from './summary-card.tsx'
import classes from './overview.module.css'

const shownRows = 6
const refetch = { refetchInterval: 10_000 }
const notAnnounced = announcementStatuses.filter((status) => status !== 'announced')
const onRouters = ['announcing', 'announced', 'partially_announced', 'withdrawing', 'error'] as const

export function AnnouncementSummary() {
  const all = useAnswer(listAnnouncementsRoute, { query: { limit: 1 } }, refetch)
  const announced = useAnswer(
    listAnnouncementsRoute,
    { query: { status: ['announced'], enabled: true, limit: 1 } },
    refetch,
  )
  const missing = useAnswer(
    listAnnouncementsRoute,
    { query: { enabled: true, status: notAnnounced, include: 'state_messages', limit: shownRows } },
    refetch,
  )
  const left = useAnswer(
    listAnnouncementsRoute,
    { query: { enabled: false, status: [...onRouters], include: 'state_messages', limit: shownRows } },
    refetch,
  )
  const answers = [all, announced, missing, left]
  const error = answers.find((answer) => answer.error && !answer.data)?.error
  const missingCount = missing.data?.count ?? 0
  const outOfSync = missingCount + (left.data?.count ?? 0)
  const rows = [...(missing.data?.results ?? []), ...(left.data?.results ?? [])].slice(0, shownRows)
  const isReady = answers.every(({ data }) => data !== undefined)
  return (
    <SummaryCard
      title="Announcements"
      link={
        <TextLink to="/announcements" size="sm">
          View all
        </TextLink>
      }
    >
      {error && <Problem error={error} />}
      {!isReady && !error && <Skeleton height={96} />}
      {isReady && (
        <>
          <div className={classes['figures']}>
            <Link to="/announcements" search={{ status: ['announced'] }} className={classes['figure']!}>
              <Figure name="Announced" value={announced.data!.count} />
            </Link>
            <Link
              to="/announcements"
              // No filter of the list names both kinds: it opens those that are missing, or else those that are left.
              search={
                missingCount > 0 || outOfSync === 0
                  ? { enabled: true, status: notAnnounced }
                  : { enabled: false, status: [...onRouters] }
              }
              className={classes['figure']!}
            >
              <Figure name="Out of sync" value={outOfSync} />
            </Link>
            <Link to="/announcements" className={classes['figure']!}>
              <Figure name="Total" value={all.data!.count} />
            </Link>
          </div>
          {all.data!.count === 0 ? (
            <Remark>
              <TextLink to="/announcements/new" size="sm">
                Add your first prefix
              </TextLink>
            </Remark>
          ) : (
            outOfSync === 0 && <Remark>All prefixes are in the state you asked for.</Remark>
          )}
          <Rows>
            {rows.map((row) => (
              <OutOfSync key={row.id} announcement={row} />
            ))}
          </Rows>
        </>
      )}
    </SummaryCard>
  )
}

const Figure = ({ name, value }: { name: string; value: number }): ReactNode => (
  <>
    <Text size="xs" c="dimmed">
      {name}
    </Text>
    <Text size="xl" fw={600} className={classes['value']!}>
      {value.toLocaleString('en')}
    </Text>
  </>
)

const OutOfSync = ({
  announcement: { id, cidr, status, enabled, state_messages: messages = [] },
}: {
  announcement: Announcement
}) => (
  <Row
    link={
      <TextLink to="/announcements/$id" params={{ id: String(id) }} ff="monospace" size="sm">
        {cidr}
      </TextLink>
    }
  >
    <AnnouncementStatusBadge status={status} />
    <Text span size="xs" c="dimmed" className={classes['rest']!}>
      {messages[0]?.message ?? (enabled ? 'Enabled' : 'Disabled')}
    </Text>
  </Row>
)
